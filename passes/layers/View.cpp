//===- View.cpp - tensors as strided readings of another tensor -----------===//

#include "passes/layers/View.h"

using namespace mlir;
using namespace tilewright;
using namespace tilewright::layers;

static void append(Axis &axis, Factor factor) {
  if (factor.extent == 1)
    return;
  if (!axis.empty() && axis.back().stride == factor.extent * factor.stride) {
    axis.back() = {axis.back().extent * factor.extent, factor.stride};
    return;
  }
  axis.push_back(factor);
}

View View::whole(ArrayRef<int64_t> shape) {
  View view;
  view.axes.resize(shape.size());
  int64_t stride = 1;
  for (int64_t i = shape.size() - 1; i >= 0; --i) {
    append(view.axes[i], {shape[i], stride});
    stride *= shape[i];
  }
  return view;
}

View View::whole(Value base) {
  View view = whole(cast<RankedTensorType>(base.getType()).getShape());
  view.base = base;
  return view;
}

void View::transpose(ArrayRef<int64_t> permutation) {
  SmallVector<Axis, 4> result;
  for (int64_t from : permutation)
    result.push_back(axes[from]);
  axes = std::move(result);
}

Axis View::flat() const {
  Axis all;
  for (const Axis &axis : axes)
    for (Factor factor : axis)
      append(all, factor);
  return all;
}

bool View::reshape(ArrayRef<int64_t> shape) {
  Axis rest = flat();
  std::reverse(rest.begin(), rest.end()); // innermost first
  SmallVector<Axis, 4> result(shape.size());
  size_t next = 0;
  for (int64_t i = shape.size() - 1; i >= 0; --i) {
    int64_t wanted = shape[i];
    Axis inner;
    while (wanted > 1) {
      if (next == rest.size())
        return false;
      Factor &factor = rest[next];
      if (wanted % factor.extent == 0) {
        inner.push_back(factor);
        wanted /= factor.extent;
        ++next;
      } else if (factor.extent % wanted == 0) {
        inner.push_back({wanted, factor.stride});
        factor = {factor.extent / wanted, factor.stride * wanted};
        wanted = 1;
      } else {
        return false;
      }
    }
    for (Factor factor : llvm::reverse(inner))
      append(result[i], factor);
  }
  if (next != rest.size())
    return false;
  axes = std::move(result);
  return true;
}

bool layers::isLayoutNode(onnx::NodeOp node) {
  return node.is("Transpose") || node.is("Reshape") || node.is("Flatten") || node.is("Squeeze") ||
         node.is("Unsqueeze") || node.is("Identity");
}

bool View::apply(onnx::NodeOp node) {
  auto type = dyn_cast<RankedTensorType>(node.getResult(0).getType());
  if (!type || !type.hasStaticShape())
    return false;
  if (!node.is("Transpose"))
    return reshape(type.getShape());
  SmallVector<int64_t> permutation = node.intsAttr("perm");
  if (permutation.empty())
    for (int64_t i = axes.size() - 1; i >= 0; --i)
      permutation.push_back(i);
  if (permutation.size() != axes.size() ||
      llvm::any_of(permutation, [&](int64_t from) { return from < 0 || from >= static_cast<int64_t>(axes.size()); }))
    return false;
  transpose(permutation);
  return true;
}

std::optional<Factor> View::single(unsigned i) const {
  if (axes[i].empty())
    return Factor{};
  if (axes[i].size() == 1)
    return axes[i][0];
  return std::nullopt;
}

std::optional<SmallVector<unsigned>> layers::asMapDims(const Axis &axis, ArrayRef<int64_t> shape,
                                                       ArrayRef<int64_t> strides) {
  SmallVector<unsigned> innermostFirst;
  for (Factor factor : llvm::reverse(axis))
    while (factor.extent > 1) {
      unsigned d = 0;
      while (d < shape.size() && !(shape[d] > 1 && strides[d] == factor.stride))
        ++d;
      if (d == shape.size() || factor.extent % shape[d] != 0)
        return std::nullopt;
      innermostFirst.push_back(d);
      factor = {factor.extent / shape[d], factor.stride * shape[d]};
    }
  return SmallVector<unsigned>(llvm::reverse(innermostFirst));
}
