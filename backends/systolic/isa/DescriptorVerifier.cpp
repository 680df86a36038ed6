//===- DescriptorVerifier.cpp - rules of a single descriptor --------------===//

#include "backends/systolic/isa/JobGeometry.h"
#include "backends/systolic/isa/ProgramVerifier.h"
#include <cmath>
#include <sstream>

namespace tilewright::isa {
namespace {

template <typename... Parts> [[noreturn]] void refuse(Parts &&...parts) {
  std::ostringstream message;
  (message << ... << parts);
  throw Error(message.str());
}

void range(const char *field, int64_t value, int64_t lowest, int64_t highest) {
  if (value < lowest || value > highest)
    refuse(field, " = ", value, " is not in the range ", lowest, " to ", highest);
}
void atLeastOne(const char *field, int64_t value) {
  if (value < 1)
    refuse(field, " = ", value, " must be at least 1");
}
void aligned(const char *field, int64_t value, int64_t unit) {
  if (value % unit)
    refuse(field, " = ", value, " is not a multiple of ", unit);
}
void finite(const char *field, float value) {
  if (!std::isfinite(value))
    refuse(field, " = ", value, " is not finite");
}

/// Rows, words of a row, channel words and samples of `map` that a job touches lie within one ring turn and the
/// scratchpad.
void verifyMap(const char *name, const Map &map, Range rows, Range words, int64_t planes, int64_t samples,
               const ArrayConfig &config) {
  if (map.ringRows < 1)
    refuse(name, "_ring_rows = 0 must be at least 1");
  if (rows.size() == 0 || words.size() == 0)
    return; // only padding is read
  if (rows.size() > map.ringRows)
    refuse(name, ": rows ", rows.begin, " to ", rows.end - 1, " are more than the ", map.ringRows,
           " rows of the ring (", name, "_ring_rows)");
  if (map.ringStart % map.ringRows || map.ringStart > rows.begin || rows.begin - map.ringStart >= map.ringRows)
    refuse(name, "_ring_start = ", map.ringStart, " is not the multiple of ", name, "_ring_rows = ", map.ringRows,
           " at or below the first row touched, ", rows.begin);
  bool wraps = rows.end - map.ringStart > map.ringRows;
  int64_t lastRow = wraps ? map.ringRows - 1 : rows.end - 1 - map.ringStart;
  int64_t last =
      map.base + (samples - 1) * map.samplePitch + (planes - 1) * map.planePitch + lastRow * map.pitch + words.end - 1;
  if (last >= config.scratchpadWords())
    refuse(name, ": its last word, ", last, ", lies outside the scratchpad of ", config.scratchpadWords(), " words");
}

/// Bytes [address + lowest, address + highest) over rows, planes and samples lie in DRAM.
void verifyDram(int64_t address, int64_t rowStride, int64_t rows, int64_t planeStride, int64_t planes,
                int64_t sampleStride, int64_t samples, int64_t rowBytes, uint64_t memoryBytes) {
  int64_t lowest = address, highest = address + rowBytes;
  auto extend = [&](int64_t stride, int64_t count) {
    int64_t reach = stride * (count - 1);
    (reach < 0 ? lowest : highest) += reach;
  };
  extend(rowStride, rows);
  extend(planeStride, planes);
  extend(sampleStride, samples);
  if (lowest < 0 || uint64_t(highest) > memoryBytes)
    refuse("dram_address: bytes ", lowest, " to ", highest - 1, " are not all in the memory of ", memoryBytes,
           " bytes");
}

void verifyTable(const char *field, int64_t table, const ArrayConfig &config) {
  if (table > config.tableSlots)
    refuse(field, " = ", table, ": the array has ", config.tableSlots, " table slots");
}

void verifyWindow(const Window &window) {
  atLeastOne("window_kernel_height", window.kernelHeight);
  atLeastOne("window_kernel_width", window.kernelWidth);
  atLeastOne("window_stride_height", window.strideHeight);
  atLeastOne("window_stride_width", window.strideWidth);
}

void verifyClamp(const char *name, int64_t lowest, int64_t highest) {
  if (lowest > highest)
    refuse(name, "_min = ", lowest, " is above ", name, "_max = ", highest);
}

void verify(const Load &job, const ArrayConfig &config, uint64_t memoryBytes) {
  atLeastOne("row_count", job.rowCount);
  atLeastOne("width", job.width);
  atLeastOne("planes", job.planes);
  atLeastOne("samples", job.samples);
  int64_t rowBytes = job.width, words = job.width, mapPlanes = 1;
  switch (job.mode) {
  case LoadMode::Words:
    rowBytes = 16 * job.width;
    mapPlanes = job.planes;
    break;
  case LoadMode::Bytes:
    if (job.planes != 1)
      refuse("planes = ", job.planes, ": mode bytes has 1");
    words = ceilDiv(job.width, 16);
    break;
  case LoadMode::Planar:
    range("planes", job.planes, 1, 4);
    words = ceilDiv(job.width * job.planes, 16);
    break;
  }
  verifyMap("out", job.out, {job.rowStart, job.rowStart + job.rowCount}, {0, words}, mapPlanes, job.samples, config);
  verifyDram(job.dramAddress, job.dramRowStride, job.rowCount, job.dramPlaneStride, job.planes, job.dramSampleStride,
             job.samples, rowBytes, memoryBytes);
}

void verify(const Weights &job, const ArrayConfig &config, uint64_t memoryBytes) {
  if (job.source != WeightsSource::Dram)
    refuse("source = scratchpad is reserved: this array takes weights from DRAM only");
  if (job.order != WeightsOrder::AsStored)
    refuse("order = ", job.order == WeightsOrder::TokenMajor ? "token_major" : "channel_major",
           " is reserved: this array takes weights as_stored only");
  aligned("dram_address", job.dramAddress, 16);
  atLeastOne("byte_count", job.byteCount);
  if (job.destination == WeightsDestination::Table) {
    if (job.byteCount != 256)
      refuse("byte_count = ", job.byteCount, ": a table has 256 bytes");
    if (job.table >= config.tableSlots)
      refuse("table = ", job.table, ": the array has ", config.tableSlots, " table slots");
  } else {
    aligned("byte_count", job.byteCount, config.ringWordBytes());
  }
  verifyDram(job.dramAddress, 0, 1, 0, 1, 0, 1, job.byteCount, memoryBytes);
}

void verifyMode(const Execute &job, const ArrayConfig &config) {
  const Window &window = job.window;
  if (job.mode != ExecuteMode::Packed && job.packedChannels != 0)
    refuse("packed_channels = ", job.packedChannels, ": 0 unless mode = packed");
  switch (job.mode) {
  case ExecuteMode::Dense:
    atLeastOne("channel_steps", job.channelSteps);
    return;
  case ExecuteMode::Depthwise:
    if (config.channels > 16)
      refuse("mode = depthwise: this array computes ", config.channels, " channels at once, the mode needs at most 16");
    if (window.kernelHeight > 7 || window.kernelWidth > 7)
      refuse("mode = depthwise: window_kernel ", window.kernelHeight, "x", window.kernelWidth, " is above 7x7");
    if (window.strideHeight > 2 || window.strideWidth > 2)
      refuse("mode = depthwise: window_stride ", window.strideHeight, "x", window.strideWidth, " is above 2x2");
    if (window.dilationHeight != 1 || window.dilationWidth != 1)
      refuse("mode = depthwise: window_dilation ", window.dilationHeight, "x", window.dilationWidth, " is not 1x1");
    break;
  case ExecuteMode::Packed:
    range("packed_channels", job.packedChannels, 1, 4);
    if (window.dilationWidth != 1)
      refuse("mode = packed: window_dilation_width = ", window.dilationWidth, " is not 1");
    if (window.kernelWidth * job.packedChannels + config.reduction > 128)
      refuse("mode = packed: a kernel row of ", window.kernelWidth, " x ", job.packedChannels, " bytes is above the ",
             128 - config.reduction, " bytes that this array buffers");
    break;
  }
  if (job.channelSteps != 1)
    refuse("channel_steps = ", job.channelSteps, ": 1 unless mode = dense");
}

void verifyRing(const Execute &job, const ArrayConfig &config) {
  int64_t groups = pixelGroups(job, config), blocks = channelBlocks(job, config), words = blockWords(job, config);
  if ((!job.accInit || !job.accFinish) && (groups != 1 || blocks != 1))
    refuse("acc_init = 0 or acc_finish = 0 needs a job of one brick, this one has ", groups, " pixel groups and ",
           blocks, " channel blocks");
  if (job.release != Release::Keep && job.ringOffset != 0)
    refuse("ring_offset = ", job.ringOffset, ": 0 unless release = keep");
  if (job.release == Release::Stream) {
    if (groups != 1)
      refuse("release = stream needs one pixel group, this job has ", groups);
  } else {
    int64_t held = job.release == Release::Keep ? job.ringOffset + blocks * words : words;
    if (held > config.ringWords())
      refuse("release = ", job.release == Release::Keep ? "keep" : "block", " holds ", held,
             " ring words, the weight ring has ", config.ringWords());
  }
}

void verify(const Execute &job, const ArrayConfig &config, uint64_t) {
  if (job.storeInt32)
    refuse("store_int32 is reserved: this array stores int8 results only");
  verifyWindow(job.window);
  atLeastOne("in_height", job.inHeight);
  atLeastOne("in_width", job.inWidth);
  atLeastOne("out_width", job.outWidth);
  atLeastOne("out_row_count", job.outRowCount);
  atLeastOne("samples", job.samples);
  atLeastOne("out_channels", job.outChannels);
  verifyMode(job, config);
  verifyRing(job, config);
  verifyClamp("clamp", job.clampMin, job.clampMax);
  verifyTable("table_1", job.table1, config);
  verifyTable("table_2", job.table2, config);

  Range columns = inputColumns(job);
  int64_t planes = 1;
  if (job.mode == ExecuteMode::Packed)
    columns = {columns.begin * job.packedChannels / 16, ceilDiv(columns.end * job.packedChannels, 16)};
  else
    planes = ceilDiv(job.mode == ExecuteMode::Dense ? job.channelSteps * config.reduction : job.outChannels, 16);
  verifyMap("in", job.in, inputRows(job), columns, planes, job.samples, config);
  Range rows{job.outRowStart, job.outRowStart + job.outRowCount};
  verifyMap("out", job.out, rows, {0, job.outWidth}, ceilDiv(job.outChannelOffset + job.outChannels, 16), job.samples,
            config);
  if (job.residual) {
    verifyMap("residual_map", job.residualMap, rows, {0, job.outWidth}, ceilDiv(job.outChannels, 16), job.samples,
              config);
    verifyClamp("residual_clamp", job.residualClampMin, job.residualClampMax);
    finite("residual_scale_a", job.residualScaleA);
    finite("residual_scale_b", job.residualScaleB);
    finite("residual_fix", job.residualFix);
  }
}

void verify(const Vector &job, const ArrayConfig &config, uint64_t) {
  verifyWindow(job.window);
  atLeastOne("in_height", job.inHeight);
  atLeastOne("in_width", job.inWidth);
  atLeastOne("out_row_count", job.outRowCount);
  atLeastOne("out_column_count", job.outColumnCount);
  atLeastOne("samples", job.samples);
  atLeastOne("channels", job.channels);
  if (job.op != VectorOp::Max)
    verifyClamp("clamp", job.clampMin, job.clampMax);
  verifyTable("table", job.table, config);
  if (job.op != VectorOp::Max)
    finite("scale", job.scale);
  int64_t planes = ceilDiv(job.channels, 16);
  verifyMap("in", job.in, inputRows(job), inputColumns(job), planes, job.samples, config);
  if (job.op == VectorOp::Add) {
    const Window &w = job.window;
    if (w.kernelHeight != 1 || w.kernelWidth != 1 || w.strideHeight != 1 || w.strideWidth != 1 || w.padTop != 0 ||
        w.padLeft != 0)
      refuse("op = add: the window is 1x1, stride 1, without padding");
    if (job.outRowStart + job.outRowCount > job.inHeight || job.outColumnStart + job.outColumnCount > job.inWidth)
      refuse("op = add: output rows and columns reach beyond the operands' ", job.inHeight, "x", job.inWidth);
    finite("scale_b", job.scaleB);
    finite("fix", job.fix);
    verifyMap("second", job.second, inputRows(job), inputColumns(job), planes, job.samples, config);
  }
  verifyMap("out", job.out, {job.outRowStart, job.outRowStart + job.outRowCount},
            {job.outColumnStart, job.outColumnStart + job.outColumnCount},
            ceilDiv(job.outChannelOffset + job.channels, 16), job.samples, config);
}

void verify(const Store &job, const ArrayConfig &config, uint64_t memoryBytes) {
  atLeastOne("row_count", job.rowCount);
  atLeastOne("width", job.width);
  atLeastOne("planes", job.planes);
  atLeastOne("samples", job.samples);
  aligned("dram_address", job.dramAddress, 16);
  aligned("dram_row_stride", job.dramRowStride, 16);
  aligned("dram_plane_stride", job.dramPlaneStride, 16);
  aligned("dram_sample_stride", job.dramSampleStride, 16);
  verifyMap("in", job.in, {job.rowStart, job.rowStart + job.rowCount}, {0, job.width}, job.planes, job.samples, config);
  verifyDram(job.dramAddress, job.dramRowStride, job.rowCount, job.dramPlaneStride, job.planes, job.dramSampleStride,
             job.samples, 16 * job.width, memoryBytes);
}

void verify(const Sync &, const ArrayConfig &, uint64_t) {}

} // namespace

void verifyDescriptor(const Descriptor &descriptor, const ArrayConfig &config, uint64_t memoryBytes) {
  std::visit([&](const auto &job) { verify(job, config, memoryBytes); }, descriptor);
}

} // namespace tilewright::isa
