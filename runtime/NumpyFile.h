//===- NumpyFile.h - arrays in .npy and .npz files --------------*- C++ -*-===//

#ifndef TILEWRIGHT_RUNTIME_NUMPYFILE_H
#define TILEWRIGHT_RUNTIME_NUMPYFILE_H

#include "runtime/Tensor.h"

#include <filesystem>
#include <map>

namespace tilewright::runtime {

/// Reads one array. Fortran order is turned into row-major. Throws Error, with the path, for what is no such file and
/// for element types that tensors do not have (complex, text, objects, big-endian).
Tensor readNpy(const std::filesystem::path &path);

/// All arrays of an archive by name (without ".npy"), stored or deflated, as numpy.savez and savez_compressed write
/// them.
std::map<std::string, Tensor> readNpz(const std::filesystem::path &path);

/// Writes one array, row-major. Throws Error when the file cannot be written.
void writeNpy(const std::filesystem::path &path, const TensorView &tensor);

} // namespace tilewright::runtime

#endif
