//===- Recurrent.cpp - shapes of RNN, LSTM and GRU ------------------------===//

#include "passes/shapes/ShapeTable.h"

using namespace mlir;
using namespace tilewright;
using namespace tilewright::shapes;

/// X [sequence, batch, input] gives Y [sequence, directions, batch, hidden] and the last states [directions, batch,
/// hidden]; with layout 1 the batch comes first everywhere.
static LogicalResult recurrent(ShapeContext &context) {
  auto x = context.shape(0), weights = context.shape(2);
  if (!x)
    return success();
  if (x->size() != 3)
    return context.error() << "input " << context.spell(*x) << " must have rank 3";
  bool batchFirst = context.node.intAttr("layout", 0) != 0;
  Dim sequence = (*x)[batchFirst ? 1 : 0], batch = (*x)[batchFirst ? 0 : 1];
  Dim directions = context.constant(context.node.stringAttr("direction", "forward") == "bidirectional" ? 2 : 1);
  Dim hidden = context.node.attr("hidden_size")  ? context.constant(context.node.intAttr("hidden_size", 0))
               : weights && weights->size() == 3 ? weights->back()
                                                 : context.fresh();
  if (context.results() > 0)
    context.set(0, batchFirst ? Dims{batch, sequence, directions, hidden} : Dims{sequence, directions, batch, hidden});
  for (unsigned i = 1; i < context.results(); ++i)
    context.set(i, batchFirst ? Dims{batch, directions, hidden} : Dims{directions, batch, hidden});
  return success();
}

void shapes::addRecurrentRules(ShapeTable &table) {
  for (const char *op : {"RNN", "LSTM", "GRU"})
    table.add(op, recurrent);
}
