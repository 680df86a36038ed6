//===- AverageWindow.cpp - windows of average pools -----------------------===//

#include "backends/cpu/AverageWindow.h"

#include "backends/cpu/Constants.h"
#include "backends/cpu/KernelBuilder.h"

using namespace mlir;
using namespace tilewright;
using namespace tilewright::cpu;

std::optional<AverageWindow> AverageWindow::of(onnx::NodeOp op) {
  Shape in = shapeOf(op.input(0)), out = shapeOf(op->getResult(0));
  if (in.size() < 3 || out.size() != in.size())
    return std::nullopt;
  size_t spatial = in.size() - 2;
  AverageWindow window;
  auto valuesOr = [&](StringRef name, int64_t value) {
    SmallVector<int64_t> values = op.intsAttr(name);
    return values.empty() ? SmallVector<int64_t>(spatial, value) : values;
  };
  if (op.is("ReduceMean")) {
    std::optional<SmallVector<int64_t>> axes =
        op.input(1) ? constantInts(op.input(1)) : std::optional(op.intsAttr("axes"));
    if (!axes || axes->size() != spatial || op.intAttr("keepdims", 1) == 0)
      return std::nullopt;
    for (int64_t axis : *axes)
      if ((axis < 0 ? axis + static_cast<int64_t>(in.size()) : axis) < 2)
        return std::nullopt;
  }
  bool isPool = op.is("AveragePool");
  window.kernel = isPool ? op.intsAttr("kernel_shape") : SmallVector<int64_t>(ArrayRef(in).drop_front(2));
  window.strides = valuesOr("strides", 1);
  window.dilations = valuesOr("dilations", 1);
  SmallVector<int64_t> declared = op.intsAttr("pads");
  if (declared.empty())
    declared.assign(2 * spatial, 0);
  if (window.kernel.size() != spatial || window.strides.size() != spatial || window.dilations.size() != spatial ||
      declared.size() != 2 * spatial || llvm::any_of(declared, [](int64_t pad) { return pad < 0; }))
    return std::nullopt;
  StringRef autoPad = op.stringAttr("auto_pad", "NOTSET");
  window.pads.assign(2 * spatial, 0);
  window.counts = {1};
  for (size_t d = 0; d < spatial; ++d) {
    int64_t size = in[d + 2], positions = out[d + 2];
    int64_t reach = (positions - 1) * window.strides[d] + window.dilations[d] * (window.kernel[d] - 1) + 1 - size;
    int64_t before = declared[d], after = declared[spatial + d];
    if (autoPad.starts_with("SAME")) {
      int64_t all = std::max<int64_t>(reach, 0);
      before = autoPad == "SAME_UPPER" ? all / 2 : all - all / 2;
      after = all - before;
    } else if (autoPad == "VALID") {
      before = after = 0;
    }
    window.pads[d] = before;
    window.pads[spatial + d] = std::max<int64_t>(reach - before, 0);
    bool counted = op.intAttr("count_include_pad", 0) != 0;
    int64_t first = counted ? -before : 0, end = counted ? size + after : size;
    SmallVector<int64_t> counts;
    for (int64_t outer : window.counts)
      for (int64_t position = 0; position < positions; ++position) {
        int64_t taps = 0;
        for (int64_t tap = 0; tap < window.kernel[d]; ++tap) {
          int64_t at = position * window.strides[d] - before + tap * window.dilations[d];
          taps += at >= first && at < end;
        }
        counts.push_back(outer * taps);
      }
    window.counts = std::move(counts);
  }
  if (llvm::is_contained(window.counts, 0) || product(window.kernel) > INT32_MAX / 256)
    return std::nullopt;
  return window;
}
