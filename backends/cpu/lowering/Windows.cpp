//===- Windows.cpp - kernel, stride, pad and dilation of a node -----------===//

#include "backends/cpu/lowering/Windows.h"

using namespace mlir;
using namespace tilewright::onnx;

namespace tilewright::cpu {

static Shape intsOr(NodeOp node, StringRef name, size_t rank, int64_t byDefault) {
  Shape values(node.intsAttr(name));
  if (values.empty())
    values.assign(rank, byDefault);
  if (values.size() != rank)
    throw Unsupported(name.str() + " has " + std::to_string(values.size()) + " numbers for " + std::to_string(rank) +
                      " spatial dimensions");
  return values;
}

bool Window::isPadded() const {
  auto nonZero = [](int64_t pad) { return pad != 0; };
  return llvm::any_of(padsBegin, nonZero) || llvm::any_of(padsEnd, nonZero);
}

static Window commonWindow(NodeOp node, ArrayRef<int64_t> kernel) {
  size_t rank = kernel.size();
  requireRank(node.input(0), 3);
  if (rank == 0 || shapeOf(node->getResult(0)).size() != rank + 2 || shapeOf(node.input(0)).size() != rank + 2)
    throw Unsupported("the kernel has " + std::to_string(rank) + " dimensions, the image " +
                      std::to_string(shapeOf(node.input(0)).size() - 2));
  Window window;
  window.kernel = Shape(kernel);
  window.strides = intsOr(node, "strides", rank, 1);
  window.dilations = intsOr(node, "dilations", rank, 1);
  for (ArrayRef<int64_t> numbers : {ArrayRef(window.kernel), ArrayRef(window.strides), ArrayRef(window.dilations)})
    for (int64_t number : numbers)
      if (number < 1)
        throw Unsupported("kernel_shape, strides and dilations must be positive");
  window.output = Shape(ArrayRef(shapeOf(node->getResult(0))).drop_front(2));
  return window;
}

Window windowOf(NodeOp node, ArrayRef<int64_t> kernel) {
  Window window = commonWindow(node, kernel);
  size_t rank = kernel.size();
  Shape image(ArrayRef(shapeOf(node.input(0))).drop_front(2));
  StringRef automatic = node.stringAttr("auto_pad", "NOTSET");
  if (automatic == "NOTSET") {
    Shape pads = node.intsAttr("pads");
    if (pads.empty())
      pads.assign(2 * rank, 0);
    if (pads.size() != 2 * rank)
      throw Unsupported("pads needs two numbers per spatial dimension");
    window.padsBegin = Shape(ArrayRef(pads).take_front(rank));
    window.padsEnd = Shape(ArrayRef(pads).drop_front(rank));
    return window;
  }
  window.padsBegin.assign(rank, 0);
  window.padsEnd.assign(rank, 0);
  if (automatic == "VALID")
    return window;
  for (size_t d = 0; d < rank; ++d) {
    int64_t extent = (window.kernel[d] - 1) * window.dilations[d] + 1;
    int64_t total = std::max<int64_t>((window.output[d] - 1) * window.strides[d] + extent - image[d], 0);
    int64_t less = total / 2;
    window.padsBegin[d] = automatic == "SAME_LOWER" ? total - less : less;
    window.padsEnd[d] = total - window.padsBegin[d];
  }
  return window;
}

Window transposedWindowOf(NodeOp node, ArrayRef<int64_t> kernel) {
  Window window = commonWindow(node, kernel);
  size_t rank = kernel.size();
  Shape image(ArrayRef(shapeOf(node.input(0))).drop_front(2));
  Shape outputPadding = intsOr(node, "output_padding", rank, 0);
  StringRef automatic = node.stringAttr("auto_pad", "NOTSET");
  Shape pads = node.intsAttr("pads");
  bool computed = automatic == "SAME_UPPER" || automatic == "SAME_LOWER" || node.attr("output_shape");
  if (pads.empty() || automatic != "NOTSET")
    pads.assign(2 * rank, 0);
  window.padsBegin = Shape(ArrayRef(pads).take_front(rank));
  window.padsEnd = Shape(ArrayRef(pads).drop_front(rank));
  if (!computed)
    return window;
  for (size_t d = 0; d < rank; ++d) {
    int64_t extent = (window.kernel[d] - 1) * window.dilations[d] + 1;
    int64_t total = window.strides[d] * (image[d] - 1) + outputPadding[d] + extent - window.output[d];
    total = std::max<int64_t>(total, 0);
    window.padsBegin[d] = automatic == "SAME_UPPER" ? total / 2 : total - total / 2;
    window.padsEnd[d] = total - window.padsBegin[d];
  }
  return window;
}

Buffer padImage(KernelBuilder &k, Buffer image, Window &window, Num padding) {
  // The last window of a pool with ceil_mode may begin inside and end outside of the padded image.
  Shape padded = image.shape, begin(image.shape.size(), 0);
  bool grows = false;
  for (size_t d = 0; d < window.rank(); ++d) {
    int64_t needed = (window.output[d] - 1) * window.strides[d] + (window.kernel[d] - 1) * window.dilations[d] + 1;
    padded[2 + d] = std::max(needed, window.padsBegin[d] + image.shape[2 + d]);
    begin[2 + d] = window.padsBegin[d];
    grows |= padded[2 + d] != image.shape[2 + d] || begin[2 + d] != 0;
  }
  if (!grows)
    return image;
  Buffer bordered = k.scratch(padded, image.type);
  // Negative pads cut.
  Access from = k.whole(image), to = k.whole(bordered);
  Shape count = image.shape;
  for (size_t d = 2; d < padded.size(); ++d) {
    int64_t cut = std::max<int64_t>(-begin[d], 0);
    from.offset += cut * from.strides[d];
    to.offset += std::max<int64_t>(begin[d], 0) * to.strides[d];
    count[d] = std::clamp<int64_t>(padded[d] - std::max<int64_t>(begin[d], 0), 0, image.shape[d] - cut);
  }
  k.fill(bordered, padding);
  k.copy(count, from, to);
  std::fill(window.padsBegin.begin(), window.padsBegin.end(), 0);
  std::fill(window.padsEnd.begin(), window.padsEnd.end(), 0);
  return bordered;
}

} // namespace tilewright::cpu
