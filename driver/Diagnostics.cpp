//===- Diagnostics.cpp ----------------------------------------------------===//

#include "driver/Diagnostics.h"

#include "common/Error.h"

#include "mlir/IR/Location.h"

#include <algorithm>

namespace tilewright {

/// The node's name, where the message does not say it already.
static std::string place(mlir::Location location, const std::string &message) {
  auto name = location->findInstanceOf<mlir::NameLoc>();
  if (!name || name.getName().empty() || message.find(name.getName().str()) != std::string::npos)
    return "";
  return "node '" + name.getName().str() + "': ";
}

DiagnosticCollector::DiagnosticCollector(mlir::MLIRContext &context, std::string file)
    : file(std::move(file)), handler(&context, [this](mlir::Diagnostic &diagnostic) {
        if (diagnostic.getSeverity() != mlir::DiagnosticSeverity::Error)
          return;
        std::string message = diagnostic.str();
        message = place(diagnostic.getLocation(), message) + message;
        for (mlir::Diagnostic &note : diagnostic.getNotes())
          // A whole function in print helps no user.
          if (std::string text = note.str(); text.rfind("see current operation", 0) != 0)
            message += "; " + text;
        if (std::find(errors.begin(), errors.end(), message) == errors.end())
          errors.push_back(std::move(message));
      }) {}

void DiagnosticCollector::raise(const std::string &stage) const {
  if (errors.empty())
    throw Error(file + ": " + stage + " failed without saying why (a mistake in the compiler)");
  if (errors.size() == 1)
    throw Error(file + ": " + errors.front());
  std::string text = file + ": " + std::to_string(errors.size()) + " problems:";
  for (const std::string &error : errors)
    text += "\n  " + error;
  throw Error(text);
}

} // namespace tilewright
