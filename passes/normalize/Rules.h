//===- Rules.h - older spellings of operators to the newest -----*- C++ -*-===//

#ifndef TILEWRIGHT_PASSES_NORMALIZE_RULES_H
#define TILEWRIGHT_PASSES_NORMALIZE_RULES_H

#include "passes/normalize/NodeEditor.h"

#include <functional>

namespace tilewright::normalize {

enum class Outcome {
  Done,  ///< the node (if it still exists) means what its canonical version means
  Later, ///< types or shapes that are not known yet are needed; the node was left as it is
};

/// Looks at a node of any version of one ai.onnx operator. Must be idempotent.
using Rule = std::function<Outcome(NodeEditor &)>;
using Rules = std::map<std::string, Rule, std::less<>>;

void addAttributeRules(Rules &rules);
void addSemanticRules(Rules &rules);
void addWindowRules(Rules &rules);
void addResizeRules(Rules &rules);

} // namespace tilewright::normalize

#endif
