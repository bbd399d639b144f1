// Going through the graph below some values, inputs first.
//
// A pure template; any thread.
#pragma once

#include <memory>
#include <span>
#include <unordered_set>
#include <utility>
#include <vector>

#include "stoker/pipeline/tensor/graph/value.hpp"

namespace stoker::expr {

/// Calls `done(node, inputs)` for each node that the values stand on, inputs first. Below a node that
/// `stop` says yes to it does not look, and gives it no inputs.
template <class Stop, class Done>
void walk(std::span<const Value> roots, Stop&& stop, Done&& done) {
  struct Visit {
    std::shared_ptr<Node> node;
    Values inputs;
    std::size_t next = 0;
  };
  std::unordered_set<const Node*> seen;
  // By hand, because a chain may be longer than the stack is deep.
  std::vector<Visit> path;
  const auto enter = [&](const std::shared_ptr<Node>& node) {
    if (seen.insert(node.get()).second)
      path.push_back({node, stop(*node) ? Values{} : node->inputs(), 0});
  };
  for (const Value& root : roots) {
    enter(root.node());
    while (!path.empty()) {
      Visit& top = path.back();
      if (top.next < top.inputs.size()) {
        const std::shared_ptr<Node> input = top.inputs[top.next++].node();
        enter(input);
        continue;
      }
      const Visit visited = std::move(path.back());
      path.pop_back();
      done(visited.node, visited.inputs);
    }
  }
}

}  // namespace stoker::expr
