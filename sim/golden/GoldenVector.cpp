//===- GoldenVector.cpp - vector jobs -------------------------------------===//

#include "backends/systolic/isa/JobGeometry.h"
#include "sim/Requantize.h"
#include "sim/golden/GoldenMachine.h"

namespace tilewright::sim {

using namespace isa;

void GoldenMachine::run(const Vector &job) {
  const Window &w = job.window;
  const int8_t *lookup = table(job.table);
  int8_t padding[16];
  std::fill_n(padding, 16, int8_t(job.padValue));
  int32_t zeroPoint = int32_t(job.outZeroPoint), lowest = int32_t(job.clampMin), highest = int32_t(job.clampMax);

  auto position = [&](int64_t n, int64_t plane, int64_t y, int64_t x) {
    auto inWords = [&](int64_t ky, int64_t kx) {
      int64_t iy = y * w.strideHeight - w.padTop + ky * w.dilationHeight;
      int64_t ix = x * w.strideWidth - w.padLeft + kx * w.dilationWidth;
      bool inside = iy >= 0 && iy < job.inHeight && ix >= 0 && ix < job.inWidth;
      return inside ? reinterpret_cast<const int8_t *>(read(rowAddress(job.in, n, plane, iy) + ix)) : padding;
    };
    int32_t q[16];
    if (job.op == VectorOp::Add) {
      const int8_t *a = inWords(0, 0);
      const int8_t *b = reinterpret_cast<const int8_t *>(read(rowAddress(job.second, n, plane, y) + x));
      for (unsigned k = 0; k < 16; ++k)
        q[k] = residualAdd(a[k], b[k], job.scale, job.scaleB, job.fix, zeroPoint, job.unsignedAdd, lowest, highest);
    } else {
      bool isMax = job.op == VectorOp::Max;
      std::fill_n(q, 16, isMax ? INT8_MIN : int32_t(job.bias));
      for (int64_t ky = 0; ky < w.kernelHeight; ++ky)
        for (int64_t kx = 0; kx < w.kernelWidth; ++kx) {
          const int8_t *tap = inWords(ky, kx);
          for (unsigned k = 0; k < 16; ++k)
            q[k] = isMax ? std::max<int32_t>(q[k], tap[k]) : wrappingAdd(q[k], tap[k]);
        }
      if (!isMax)
        for (unsigned k = 0; k < 16; ++k)
          q[k] = clampAndRound(float(q[k]) * job.scale, zeroPoint, lowest, highest);
    }
    int8_t out[16];
    for (unsigned k = 0; k < 16; ++k)
      out[k] = lookup ? lookup[uint8_t(q[k] + 128)] : int8_t(q[k]);
    writeChannels(rowAddress(job.out, n, 0, y) + x, job.out, plane * 16,
                  std::min<int64_t>(16, job.channels - plane * 16), job.outChannelOffset, out);
  };

  for (int64_t n = 0; n < job.samples; ++n)
    for (int64_t plane = 0; plane < ceilDiv(job.channels, 16); ++plane)
      for (int64_t r = 0; r < job.outRowCount; ++r)
        for (int64_t c = 0; c < job.outColumnCount; ++c)
          position(n, plane, job.outRowStart + r, job.outColumnStart + c);
}

} // namespace tilewright::sim
