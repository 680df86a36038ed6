//===- VectorUnit.cpp - vector jobs in the model --------------------------===//

#include "sim/model/VectorUnit.h"
#include "backends/systolic/isa/JobGeometry.h"

namespace tilewright::sim::model {

using namespace isa;

namespace {
constexpr size_t queue = size_t(Opcode::Vector) - 1;
constexpr Time setupCycles = 4;  ///< take to the first set of reads
constexpr Time setToWritten = 9; ///< an output's last set to its write

/// Sets of reads for one output of 16 channels.
int64_t setsPerOutput(const Vector &job) {
  if (job.op == VectorOp::Add) // both operands at once if they lie in different banks
    return (job.in.base - job.second.base) % 4 == 0 ? 2 : 1;
  int64_t dilation = job.window.dilationWidth;
  int64_t atOnce = dilation % 2 ? 4 : dilation % 4 ? 2 : 1;
  return job.window.kernelHeight * ceilDiv(job.window.kernelWidth, atOnce);
}
} // namespace

Time VectorUnit::next() {
  Time offer = machine.offered(queue, lastTake);
  return offer == never ? never : std::max(offer, free);
}

void VectorUnit::act(Time now) {
  uint32_t descriptor = machine.queues[queue].front().descriptor;
  const Vector &job = std::get<Vector>(machine.program[descriptor]);
  machine.queues[queue].pop_front();
  machine.taken[queue].push_back(now + 1);
  lastTake = now;
  int64_t outputs = job.samples * ceilDiv(job.channels, 16) * job.outRowCount * job.outColumnCount;
  // An output that straddles two words is written twice.
  int64_t cyclesEach = std::max<int64_t>(setsPerOutput(job), job.outChannelOffset ? 2 : 1);
  Time begin = now + setupCycles;
  Time end = begin + machine.stretched(begin, outputs * cyclesEach) + setToWritten;
  free = end;
  machine.complete(queue, descriptor, now + 1, end, end + 2);
}

} // namespace tilewright::sim::model
