//===- CudaTarget.h - a GPU as tiling and fusion see it ---------*- C++ -*-===//
//
// The description alone: it is what the tests of tiling and fusion use as their second target. Code generation is not
// there yet.
//
//===----------------------------------------------------------------------===//

#ifndef TILEWRIGHT_BACKENDS_CUDA_CUDATARGET_H
#define TILEWRIGHT_BACKENDS_CUDA_CUDATARGET_H

#include "passes/TargetDescription.h"

namespace tilewright::cuda {

/// Registers "cuda[:h200]".
void registerCudaTarget();

} // namespace tilewright::cuda

#endif
