//===- GraphSorter.h - nodes in topological order ---------------*- C++ -*-===//

#ifndef TILEWRIGHT_FRONTEND_GRAPHSORTER_H
#define TILEWRIGHT_FRONTEND_GRAPHSORTER_H

#include "frontend/OnnxModel.h"

namespace tilewright::onnxfile {

/// "node 'conv1' (Conv)", or "the Conv node that gives 'y'" when it has no name.
std::string describe(const Node &node);

/// `nodes` so that each comes after those whose values it (or a subgraph of it) reads. Throws Error, with `file` first,
/// when a value is defined twice or there is a cycle.
std::vector<const Node *> sortNodes(const std::vector<Node> &nodes, const std::string &file);

} // namespace tilewright::onnxfile

#endif
