//===- GraphSorter.cpp - nodes in topological order -----------------------===//
//
// ONNX asks for sorted nodes; not every exporter obeys. The order of the file is kept wherever it is legal, so that a
// sorted model comes out as it went in.
//
//===----------------------------------------------------------------------===//

#include "frontend/GraphSorter.h"

#include "common/Error.h"

#include <queue>
#include <set>
#include <unordered_map>

using namespace tilewright;
using namespace tilewright::onnxfile;

std::string onnxfile::describe(const Node &node) {
  std::string op = (node.domain.empty() ? "" : std::string(node.domain) + "::") + std::string(node.opType);
  if (!node.name.empty())
    return "node '" + std::string(node.name) + "' (" + op + ")";
  for (std::string_view output : node.outputs)
    if (!output.empty())
      return "the " + op + " node that gives '" + std::string(output) + "'";
  return "a " + op + " node";
}

/// All names that `node` reads; those a subgraph defines itself are harmless extras, as only names defined by sibling
/// nodes matter.
static void collectReads(const Node &node, std::set<std::string_view> &reads) {
  for (std::string_view input : node.inputs)
    if (!input.empty())
      reads.insert(input);
  for (const Attribute &attribute : node.attributes)
    if (attribute.graph) {
      std::set<std::string_view> inner, own;
      for (const ValueInfo &input : attribute.graph->inputs)
        own.insert(input.name);
      for (const Tensor &tensor : attribute.graph->initializers)
        own.insert(tensor.name);
      for (const Node &child : attribute.graph->nodes) {
        collectReads(child, inner);
        own.insert(child.outputs.begin(), child.outputs.end());
      }
      for (const ValueInfo &output : attribute.graph->outputs)
        inner.insert(output.name);
      for (std::string_view name : inner)
        if (!own.count(name))
          reads.insert(name);
    }
}

std::vector<const Node *> onnxfile::sortNodes(const std::vector<Node> &nodes, const std::string &file) {
  std::unordered_map<std::string_view, size_t> producers;
  for (size_t i = 0; i < nodes.size(); ++i)
    for (std::string_view output : nodes[i].outputs)
      if (!output.empty() && !producers.emplace(output, i).second)
        throw Error(file + ": value '" + std::string(output) + "' is defined twice, the second time by " +
                    describe(nodes[i]));
  std::vector<std::vector<size_t>> readers(nodes.size()), producersOf(nodes.size());
  std::vector<size_t> missing(nodes.size(), 0);
  for (size_t i = 0; i < nodes.size(); ++i) {
    std::set<std::string_view> reads;
    collectReads(nodes[i], reads);
    for (std::string_view name : reads)
      if (auto producer = producers.find(name); producer != producers.end()) {
        readers[producer->second].push_back(i);
        producersOf[i].push_back(producer->second);
        ++missing[i];
      }
  }
  std::priority_queue<size_t, std::vector<size_t>, std::greater<>> ready;
  for (size_t i = 0; i < nodes.size(); ++i)
    if (missing[i] == 0)
      ready.push(i);
  std::vector<const Node *> order;
  while (!ready.empty()) {
    size_t i = ready.top();
    ready.pop();
    order.push_back(&nodes[i]);
    for (size_t reader : readers[i])
      if (--missing[reader] == 0)
        ready.push(reader);
  }
  if (order.size() == nodes.size())
    return order;
  // Every node left waits for another one left: walking backwards must come round.
  size_t at = 0;
  while (missing[at] == 0)
    ++at;
  std::vector<size_t> path;
  std::vector<bool> seen(nodes.size());
  while (!seen[at]) {
    seen[at] = true;
    path.push_back(at);
    for (size_t producer : producersOf[at])
      if (missing[producer]) {
        at = producer;
        break;
      }
  }
  std::string text = describe(nodes[at]);
  size_t shown = 0;
  for (size_t i = path.size(); i-- > 0 && path[i] != at && shown < 6; ++shown)
    text += ", " + describe(nodes[path[i]]);
  throw Error(file + ": the graph has a cycle through " + text);
}
