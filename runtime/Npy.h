//===- Npy.h - numpy's .npy files -------------------------------*- C++ -*-===//

#ifndef TILEWRIGHT_RUNTIME_NPY_H
#define TILEWRIGHT_RUNTIME_NPY_H

#include "runtime/Tensor.h"

#include <string>

namespace tilewright::runtime {

/// Reads versions 1 to 3, little-endian or single-byte elements, row-major or Fortran order. Throws Error.
Tensor readNpy(const std::string &path);
/// bfloat16, which numpy does not know, is written as uint16.
void writeNpy(const std::string &path, const TensorView &tensor);

} // namespace tilewright::runtime

#endif
