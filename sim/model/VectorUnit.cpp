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

/// Taps of all windows along one axis that lie within the map.
int64_t tapsInside(int64_t first, int64_t count, int64_t kernel, int64_t stride, int64_t dilation, int64_t pad,
                   int64_t limit) {
  int64_t taps = 0;
  for (int64_t window = first; window < first + count; ++window)
    for (int64_t tap = 0; tap < kernel; ++tap) {
      int64_t at = window * stride - pad + tap * dilation;
      taps += at >= 0 && at < limit;
    }
  return taps;
}

/// Words that a job reads.
int64_t wordsRead(const Vector &job) {
  int64_t planes = job.samples * ceilDiv(job.channels, 16);
  const Window &w = job.window;
  if (job.op == VectorOp::Add)
    return planes * 2 * job.outRowCount * job.outColumnCount;
  return planes *
         tapsInside(job.outRowStart, job.outRowCount, w.kernelHeight, w.strideHeight, w.dilationHeight, w.padTop,
                    job.inHeight) *
         tapsInside(job.outColumnStart, job.outColumnCount, w.kernelWidth, w.strideWidth, w.dilationWidth, w.padLeft,
                    job.inWidth);
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
  int64_t pixels = job.samples * job.outRowCount * job.outColumnCount, cycles = 0;
  for (int64_t channel = 0; channel < job.channels; channel += 16) {
    // An output that reaches from one word into the next is written twice.
    bool twice = job.outChannelOffset + std::min<int64_t>(16, job.channels - channel) > 16;
    cycles += pixels * std::max<int64_t>(setsPerOutput(job), twice ? 2 : 1);
  }
  Time begin = now + setupCycles;
  const PortCalendar *others[] = {&machine.operandReads};
  Time read = begin + PortCalendar::stretched(begin, cycles, others), end = read + setToWritten;
  int64_t perBank = wordsRead(job) / 4;
  machine.vectorReads.add(begin, read, {perBank, perBank, perBank, perBank});
  free = end;
  machine.complete(queue, descriptor, now + 1, end, end + 2);
}

} // namespace tilewright::sim::model
