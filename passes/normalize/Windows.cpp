//===- Windows.cpp - convolutions and pools with everything spelled out ---===//
//
// Kernel, strides, dilations, pads and group become explicit, auto_pad becomes pads, and ceil_mode becomes pads where
// that is the same: in maximum pools, in average pools that do not count padding, and where nothing is rounded up.
//
//===----------------------------------------------------------------------===//

#include "passes/normalize/Rules.h"

using namespace mlir;
using namespace tilewright;
using namespace tilewright::normalize;

namespace {
struct Geometry {
  SmallVector<int64_t> kernel, strides, dilations, pads;
  int64_t extent(size_t i) const { return dilations[i] * (kernel[i] - 1) + 1; }
};
} // namespace

/// The window over `rank` spatial dimensions, with defaults filled in; nothing when it is not known or does not fit.
static std::optional<Geometry> geometry(NodeEditor &edit, size_t rank, ArrayRef<int64_t> weightKernel) {
  Geometry g;
  g.kernel = edit.node.intsAttr("kernel_shape");
  if (g.kernel.empty())
    g.kernel.assign(weightKernel.begin(), weightKernel.end());
  g.strides = edit.node.intsAttr("strides");
  g.dilations = edit.node.intsAttr("dilations");
  g.pads = edit.node.intsAttr("pads");
  if (g.strides.empty())
    g.strides.assign(rank, 1);
  if (g.dilations.empty())
    g.dilations.assign(rank, 1);
  if (g.pads.empty())
    g.pads.assign(2 * rank, 0);
  if (edit.node.stringAttr("auto_pad", "NOTSET") == "VALID")
    g.pads.assign(2 * rank, 0);
  bool fits =
      g.kernel.size() == rank && g.strides.size() == rank && g.dilations.size() == rank && g.pads.size() == 2 * rank;
  // Values that shape inference refuses.
  for (ArrayRef<int64_t> values : {ArrayRef(g.kernel), ArrayRef(g.strides), ArrayRef(g.dilations)})
    fits &= llvm::all_of(values, [](int64_t value) { return value >= 1 && value <= (1 << 30); });
  return fits ? std::optional(g) : std::nullopt;
}

static void spellOut(NodeEditor &edit, const Geometry &g) {
  edit.setInts("kernel_shape", g.kernel);
  edit.setInts("strides", g.strides);
  edit.setInts("dilations", g.dilations);
  edit.setInts("pads", g.pads);
  edit.removeAttr("auto_pad");
}

/// Resolves SAME_UPPER, SAME_LOWER and VALID for the spatial sizes `sizes`.
static bool resolveAutoPad(NodeEditor &edit, Geometry &g, ArrayRef<int64_t> sizes) {
  StringRef mode = edit.node.stringAttr("auto_pad", "NOTSET");
  if (!mode.starts_with("SAME"))
    return true;
  for (size_t i = 0; i < sizes.size(); ++i) {
    // With stride 1 the padding is the same for every size.
    if (ShapedType::isDynamic(sizes[i]) && g.strides[i] != 1)
      return false;
    int64_t size = ShapedType::isDynamic(sizes[i]) ? g.extent(i) : sizes[i];
    int64_t outputs = (size + g.strides[i] - 1) / g.strides[i];
    int64_t total = std::max<int64_t>(0, (outputs - 1) * g.strides[i] + g.extent(i) - size);
    int64_t less = total / 2, more = total - less;
    g.pads[i] = mode == "SAME_UPPER" ? less : more;
    g.pads[i + sizes.size()] = mode == "SAME_UPPER" ? more : less;
  }
  return true;
}

static Outcome convolution(NodeEditor &edit, unsigned weights) {
  RankedTensorType x = edit.inputType(0), w = edit.inputType(weights);
  if (!x || !w || x.getRank() < 3 || w.getRank() != x.getRank())
    return Outcome::Later;
  auto g = geometry(edit, x.getRank() - 2, w.getShape().drop_front(2));
  if (!g || !resolveAutoPad(edit, *g, x.getShape().drop_front(2)))
    return Outcome::Later;
  spellOut(edit, *g);
  edit.setInt("group", edit.node.intAttr("group", 1));
  return Outcome::Done;
}

/// Turns the rounding up of the output size into padding at the end.
static void resolveCeil(NodeEditor &edit, Geometry &g, ArrayRef<int64_t> sizes, bool paddingIsNeutral) {
  if (!edit.node.intAttr("ceil_mode", 0))
    return;
  if (edit.node.stringAttr("auto_pad", "NOTSET").starts_with("SAME")) { // which fixes the output size by itself
    edit.removeAttr("ceil_mode");
    return;
  }
  if (llvm::any_of(sizes, ShapedType::isDynamic))
    return;
  SmallVector<int64_t> pads = g.pads;
  for (size_t i = 0, rank = sizes.size(); i < rank; ++i) {
    int64_t room = sizes[i] + g.pads[i] + g.pads[i + rank] - g.extent(i);
    int64_t outputs = (room + g.strides[i] - 1) / g.strides[i] + 1;
    if ((outputs - 1) * g.strides[i] >= sizes[i] + g.pads[i])
      --outputs; // a window that would start in the padding at the end
    if (room >= 0 && room / g.strides[i] + 1 == outputs)
      continue;
    int64_t more = (outputs - 1) * g.strides[i] - room; // negative where a window in the end padding was left out
    if (more > 0 && !paddingIsNeutral)
      return;
    pads[i + rank] += more;
  }
  g.pads = pads;
  edit.removeAttr("ceil_mode");
}

static Outcome pool(NodeEditor &edit) {
  RankedTensorType x = edit.inputType(0);
  if (!x || x.getRank() < 3)
    return Outcome::Later;
  auto sizes = x.getShape().drop_front(2);
  auto g = geometry(edit, sizes.size(), {});
  if (!g)
    return Outcome::Later;
  bool average = edit.node.is("AveragePool");
  bool neutral = edit.node.is("MaxPool") || (average && !edit.node.intAttr("count_include_pad", 0));
  resolveCeil(edit, *g, sizes, neutral);
  if (!resolveAutoPad(edit, *g, sizes))
    return Outcome::Later;
  spellOut(edit, *g);
  return Outcome::Done;
}

static Outcome lpPool(NodeEditor &edit) {
  if (auto p = dyn_cast_if_present<FloatAttr>(edit.node.attr("p")))
    edit.setInt("p", static_cast<int64_t>(p.getValueAsDouble()));
  return pool(edit);
}

static Outcome convTranspose(NodeEditor &edit) {
  RankedTensorType x = edit.inputType(0), w = edit.inputType(1);
  if (!x || !w || x.getRank() < 3 || w.getRank() != x.getRank())
    return Outcome::Later;
  size_t rank = x.getRank() - 2;
  auto sizes = x.getShape().drop_front(2);
  auto g = geometry(edit, rank, w.getShape().drop_front(2));
  SmallVector<int64_t> extra = edit.node.intsAttr("output_padding"), given = edit.node.intsAttr("output_shape");
  if (given.size() == rank + 2)
    given.erase(given.begin(), given.begin() + 2);
  if (extra.empty())
    extra.assign(rank, 0);
  StringRef mode = edit.node.stringAttr("auto_pad", "NOTSET");
  bool same = mode.starts_with("SAME");
  if (!g || extra.size() != rank || (!given.empty() && given.size() != rank))
    return Outcome::Later;
  if ((same || !given.empty()) && llvm::any_of(sizes, ShapedType::isDynamic))
    return Outcome::Later;
  for (size_t i = 0; i < rank && (same || !given.empty()); ++i) {
    int64_t wanted = given.empty() ? sizes[i] * g->strides[i] : given[i];
    int64_t total = g->strides[i] * (sizes[i] - 1) + extra[i] + g->extent(i) - wanted;
    int64_t less = total < 0 ? 0 : total / 2, more = total < 0 ? 0 : total - less;
    // A wanted size beyond what the windows reach is padding of the output at the end.
    if (total < 0)
      extra[i] -= total;
    g->pads[i] = mode == "SAME_UPPER" ? less : more;
    g->pads[i + rank] = mode == "SAME_UPPER" ? more : less;
  }
  spellOut(edit, *g);
  edit.setInts("output_padding", extra);
  edit.removeAttr("output_shape");
  edit.setInt("group", edit.node.intAttr("group", 1));
  return Outcome::Done;
}

void normalize::addWindowRules(Rules &rules) {
  rules["Conv"] = [](NodeEditor &edit) { return convolution(edit, 1); };
  rules["ConvInteger"] = [](NodeEditor &edit) { return convolution(edit, 1); };
  rules["QLinearConv"] = [](NodeEditor &edit) { return convolution(edit, 3); };
  rules["ConvTranspose"] = convTranspose;
  rules["MaxPool"] = pool;
  rules["AveragePool"] = pool;
  rules["LpPool"] = lpPool;
}
