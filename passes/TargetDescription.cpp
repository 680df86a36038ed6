//===- TargetDescription.cpp - the targets by name ------------------------===//

#include "passes/TargetDescription.h"

#include "common/Error.h"

#include <map>

using namespace tilewright;

static std::map<std::string, TargetFactory> &targets() {
  static std::map<std::string, TargetFactory> all;
  return all;
}

void tilewright::registerTarget(llvm::StringRef name, TargetFactory factory) {
  targets()[name.str()] = std::move(factory);
}

std::unique_ptr<TargetDescription> tilewright::createTarget(llvm::StringRef spec) {
  auto [name, configuration] = spec.split(':');
  auto found = targets().find(name.str());
  if (found != targets().end())
    return found->second(configuration);
  std::string known;
  for (auto &[other, factory] : targets())
    known += (known.empty() ? "" : ", ") + other;
  throw Error("unknown target '" + name.str() + "'; known: " + (known.empty() ? "none" : known));
}

mlir::LogicalResult tilewright::withTarget(mlir::func::FuncOp function, llvm::StringRef spec,
                                           llvm::function_ref<mlir::LogicalResult(const TargetDescription &)> work) {
  if (function.isExternal() || !function.getBody().hasOneBlock())
    return mlir::success();
  std::unique_ptr<TargetDescription> target;
  try {
    target = createTarget(spec);
  } catch (const Error &error) {
    return function.emitError(error.what());
  }
  return work(*target);
}
