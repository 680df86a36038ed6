//===- HostGroups.cpp - which nodes become one kernel ---------------------===//
//
// Elementwise nodes join the node that makes their input when nobody else sees what lies between: the value never goes
// to memory. A candidate set grows from its root along users; it is taken when a single value leaves it (x * sigmoid(x)
// needs a step beyond the first user).
//
//===----------------------------------------------------------------------===//

#include "backends/cpu/CpuBackend.h"
#include "backends/cpu/Operators.h"

using namespace mlir;
using namespace tilewright::onnx;

namespace tilewright::cpu {

namespace {
/// Steps to look ahead for a set that closes, and nodes in one kernel.
constexpr unsigned kLookahead = 4, kMostNodes = 24, kMostInEpilogue = 10;

struct Grouper {
  const llvm::DenseSet<Value> &keep;
  llvm::DenseMap<Operation *, unsigned> position;
  llvm::DenseSet<Operation *> taken;

  bool mayJoin(NodeOp node, ArrayRef<NodeOp> group, const Operator &rootEntry) {
    const Operator *entry = findOperator(node);
    if (!position.count(node) || taken.contains(node) || !entry || !entry->formula || !whyNotLowered(node).empty())
      return false;
    NodeOp root = group.front();
    if (shapeOf(node->getResult(0)) != shapeOf(root->getResult(0)))
      return false;
    if (!rootEntry.formula && (entry->scalarOnly || group.size() > kMostInEpilogue))
      return false;
    try {
      return operandsFit(node, group, rootEntry);
    } catch (const Unsupported &) {
      return false;
    }
  }

  /// Throws Unsupported when the node cannot be lowered at all.
  bool operandsFit(NodeOp node, ArrayRef<NodeOp> group, const Operator &rootEntry) {
    NodeOp root = group.front();
    for (unsigned i = 0; i < node.getInputs().size(); ++i) {
      Value value = node.input(i);
      if (!value || i >= findOperator(node)->operandsRead)
        continue;
      bool inside = llvm::any_of(group, [&](NodeOp member) { return member->getResult(0) == value; });
      if (!inside && operandShapeOf(node, i).size() > shapeOf(root->getResult(0)).size())
        return false;
      if (!inside && !rootEntry.formula && !rootEntry.takesEpilogueOperand(root, operandShapeOf(node, i)))
        return false;
    }
    return true;
  }

  /// True when only the last node's result is seen outside of `group`.
  bool closed(ArrayRef<NodeOp> group) {
    for (NodeOp node : group.drop_back()) {
      Value value = node->getResult(0);
      if (keep.contains(value))
        return false;
      for (Operation *user : value.getUsers())
        if (llvm::none_of(group, [&](NodeOp member) { return member.getOperation() == user; }))
          return false;
    }
    return true;
  }

  SmallVector<NodeOp> grow(NodeOp root) {
    SmallVector<NodeOp> group{root};
    const Operator *entry = findOperator(root);
    if (!entry || !(entry->formula || entry->takesEpilogueOperand) || root->getNumResults() != 1 ||
        !whyNotLowered(root).empty())
      return group;
    SmallVector<NodeOp> candidate = group;
    while (candidate.size() < group.size() + kLookahead && candidate.size() < kMostNodes) {
      // The first user, in execution order, of anything in the set.
      NodeOp next;
      for (NodeOp node : candidate) {
        if (keep.contains(node->getResult(0)))
          return group;
        for (Operation *user : node->getResult(0).getUsers()) {
          auto userNode = dyn_cast<NodeOp>(user);
          if (!userNode)
            return group;
          if (llvm::is_contained(candidate, userNode))
            continue;
          if (!position.count(user))
            return group;
          if (!next || position[user] < position[next])
            next = userNode;
        }
      }
      if (!next || !mayJoin(next, candidate, *entry))
        return group;
      candidate.push_back(next);
      if (closed(candidate))
        group = candidate;
    }
    return group;
  }
};
} // namespace

std::vector<HostGroup> formHostGroups(ArrayRef<NodeOp> nodes, const llvm::DenseSet<Value> &keep) {
  Grouper grouper{keep, llvm::DenseMap<Operation *, unsigned>(), llvm::DenseSet<Operation *>()};
  for (auto [i, node] : llvm::enumerate(nodes))
    grouper.position[node] = i;
  // A group runs where its last node stood: everything it reads has been computed by then.
  std::vector<std::pair<unsigned, HostGroup>> groups;
  for (NodeOp node : nodes) {
    if (grouper.taken.contains(node))
      continue;
    HostGroup group;
    group.nodes = grouper.grow(node);
    for (NodeOp member : group.nodes)
      grouper.taken.insert(member);
    groups.emplace_back(grouper.position[group.nodes.back()], std::move(group));
  }
  llvm::sort(groups, [](auto &a, auto &b) { return a.first < b.first; });
  std::vector<HostGroup> ordered;
  for (auto &entry : groups)
    ordered.push_back(std::move(entry.second));
  return ordered;
}

std::vector<HostGroup> formHostGroups(func::FuncOp function, const llvm::DenseSet<Value> &keep) {
  SmallVector<NodeOp> nodes;
  for (Operation &op : function.getBody().front())
    if (auto node = dyn_cast<NodeOp>(op))
      nodes.push_back(node);
  return formHostGroups(nodes, keep);
}

} // namespace tilewright::cpu
