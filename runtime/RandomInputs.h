//===- RandomInputs.h - inputs for runs that only measure -------*- C++ -*-===//

#ifndef TILEWRIGHT_RUNTIME_RANDOMINPUTS_H
#define TILEWRIGHT_RUNTIME_RANDOMINPUTS_H

#include "runtime/Model.h"

namespace tilewright::runtime {

/// One tensor per input, of exampleShapes(). Floats lie in [-1, 1), 8-bit integers take all values, wider ones 0 or 1
/// (they are indices more often than not), bools both. The same seed gives the same numbers everywhere.
std::map<std::string, Tensor> randomInputs(const Model &model, uint64_t seed);

} // namespace tilewright::runtime

#endif
