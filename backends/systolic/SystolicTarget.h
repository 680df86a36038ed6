//===- SystolicTarget.h - the array as tiling and fusion see it -*- C++ -*-===//

#ifndef TILEWRIGHT_BACKENDS_SYSTOLIC_SYSTOLICTARGET_H
#define TILEWRIGHT_BACKENDS_SYSTOLIC_SYSTOLICTARGET_H

#include "config/ArrayConfig.h"
#include "passes/TargetDescription.h"

namespace tilewright::systolic {

/// The description of the array with the given parameters.
std::unique_ptr<TargetDescription> createSystolicTarget(const ArrayConfig &config);
/// Registers "systolic[:NAME|FILE]"; without a configuration it is the default one.
void registerSystolicTarget();

} // namespace tilewright::systolic

#endif
