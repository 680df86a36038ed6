//===- VectorUnit.h - vector jobs in the model ------------------*- C++ -*-===//
//
// vector_unit.sv: one set of taps (neighbours in different banks) per cycle that the
// operand reader leaves.
//
//===----------------------------------------------------------------------===//

#ifndef TILEWRIGHT_SIM_MODEL_VECTORUNIT_H
#define TILEWRIGHT_SIM_MODEL_VECTORUNIT_H

#include "sim/model/Machine.h"

namespace tilewright::sim::model {

class VectorUnit final : public Unit {
public:
  explicit VectorUnit(Machine &machine) : machine(machine) {}
  Time next() override;
  void act(Time now) override;

private:
  Machine &machine;
  Time free = 0, lastTake = 0;
};

} // namespace tilewright::sim::model

#endif
