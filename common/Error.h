//===- Error.h - an error the user is told about ----------------*- C++ -*-===//

#ifndef TILEWRIGHT_COMMON_ERROR_H
#define TILEWRIGHT_COMMON_ERROR_H

#include <stdexcept>

namespace tilewright {

/// A mistake in what the user gave (model, package, configuration, arguments). `what()` is the whole message: what is
/// wrong, where (file, node, operator(version), attribute or value), and what is supported instead. The command-line
/// tools print it and exit with 1; the Python module raises it.
class Error : public std::runtime_error {
public:
  using std::runtime_error::runtime_error;
};

} // namespace tilewright

#endif
