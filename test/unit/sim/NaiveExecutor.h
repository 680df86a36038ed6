//===- NaiveExecutor.h - docs/accelerator.md, word for word -----*- C++ -*-===//
//
// A second functional executor that shares nothing with golden but the decoder:
// it evaluates the page's formulas element by element, brick by brick, lane by lane,
// and rounds by exact arithmetic. Slow; only to check golden.
//
//===----------------------------------------------------------------------===//

#ifndef TILEWRIGHT_TEST_UNIT_NAIVEEXECUTOR_H
#define TILEWRIGHT_TEST_UNIT_NAIVEEXECUTOR_H

#include "sim/Executor.h"
#include <memory>

namespace tilewright::sim {
std::unique_ptr<Executor> makeNaiveExecutor();
}

#endif
