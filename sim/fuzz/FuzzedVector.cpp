//===- FuzzedVector.cpp - random vector jobs ------------------------------===//

#include "sim/fuzz/Fuzzer.h"

namespace tilewright::sim {

void Fuzzer::vector() {
  const LiveMap *found = anyMap(false);
  if (!found)
    return load();
  const LiveMap in = *found;
  ++layer;
  Vector job;
  Window &w = job.window;
  job.op = VectorOp(below(3));
  bool add = job.op == VectorOp::Add;
  w.kernelHeight = add ? 1 : between(1, 5);
  w.kernelWidth = add ? 1 : between(1, 5);
  w.strideHeight = add ? 1 : between(1, 3);
  w.strideWidth = add ? 1 : between(1, 3);
  w.dilationHeight = add || oneIn(2) ? 1 : between(1, 2);
  w.dilationWidth = add || oneIn(2) ? 1 : between(1, 2);
  w.padTop = add ? 0 : between(-1, w.kernelHeight);
  w.padLeft = add ? 0 : between(-1, w.kernelWidth);
  job.inHeight = in.height;
  job.inWidth = in.width;
  job.padValue = oneIn(2) ? -128 : between(-128, 127);
  job.samples = between(1, in.samples);
  job.channels = between(1, in.planes() * 16);
  if (!chooseRows(in, w, job.outRowStart, job.outRowCount, 8))
    return;
  if (add && job.outRowStart + job.outRowCount > in.height)
    return;
  int64_t outWidth = add ? in.width : std::max<int64_t>(1, (in.width + w.padLeft) / w.strideWidth);
  job.outColumnStart = oneIn(2) ? 0 : below(outWidth);
  job.outColumnCount = between(1, outWidth - job.outColumnStart);
  Range rows = inputRows(job);
  job.in = in.at(rows.size() ? rows.begin : 0);
  const LiveMap *second = nullptr;
  LiveMap secondCopy;
  if (add) {
    for (const LiveMap &live : maps)
      if (!live.packedChannels && live.width >= in.width && live.channels >= job.channels &&
          live.samples >= job.samples && live.rows.begin <= rows.begin && live.rows.end >= rows.end)
        second = &live;
    if (!second)
      return;
    secondCopy = *second;
    second = &secondCopy;
    job.second = secondCopy.at(rows.begin);
  }
  job.outChannelOffset = oneIn(3) ? below(16) : 0;
  LiveMap out;
  out.width = job.outColumnStart + job.outColumnCount;
  out.channels = job.channels;
  out.samples = job.samples;
  bool inPlace = add && oneIn(4);
  if (inPlace) {
    job.outChannelOffset = 0;
    out = in;
    took("vector in place");
  } else if (!chooseOutput(out, job.outChannelOffset, {&in, second},
                           {job.outRowStart, job.outRowStart + job.outRowCount})) {
    return;
  }
  job.out = out.at(job.outRowStart);
  int64_t taps = w.kernelHeight * w.kernelWidth;
  job.bias = oneIn(2) ? 0 : between(-2000, 2000);
  job.scale = uniform(0.5f, 2.0f) / float(taps);
  if (add) {
    // Half of the sums are multiples of a quarter, so that many of them are ties.
    bool ties = oneIn(2);
    job.scale = ties ? float(between(1, 6)) / 4 : uniform(0.05f, 1.5f);
    job.scaleB = ties ? float(between(1, 6)) / 4 : uniform(0.05f, 1.5f);
    job.fix = ties ? float(between(-400, 400)) / 4 : uniform(-100.0f, 100.0f);
  }
  job.unsignedAdd = add && oneIn(2);
  job.outZeroPoint = job.op != VectorOp::Max && oneIn(2) ? between(-128, 127) : 0;
  job.clampMin = oneIn(2) ? -128 : between(-128, 127);
  job.clampMax = oneIn(2) ? 127 : between(job.clampMin, 127);
  job.table = oneIn(3) ? between(1, config.tableSlots) : 0;
  took(add ? "vector add" : job.op == VectorOp::Max ? "vector max" : "vector sum");
  if (add && job.outZeroPoint)
    took("vector add zero point");
  if (job.table)
    took("vector table");
  if (job.outChannelOffset)
    took("vector channel offset");
  issue(job);
  if (!inPlace)
    enlist(out);
}

} // namespace tilewright::sim
