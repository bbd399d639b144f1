// Parts of a graph that are applied again and again with one set of parameters.
//
//     const Block residual{[](const Node& x) { return dense(dense(x, 8), 4) + x; }};
//     Node y = residual(residual(x));     // two dense layers in all
//
// The function is called once, when the block is made, with nodes that stand for its inputs; every
// application has the same layers at other inputs. Every use of a block shares its layers' variables, so
// their shapes must agree at each use; Network throws otherwise.
//
// Values; any thread. Errors are thrown: what the function throws; invalid_argument if its results
// have inputs of a network that it was not given, or are none; arity_mismatch for the number of
// inputs.
#pragma once

#include <functional>
#include <span>
#include <vector>

#include "stoker/api/nn/graph/node.hpp"

namespace stoker::nn {

class Block {
 public:
  /// Of one node, or of so many.
  explicit Block(const std::function<Node(const Node& x)>& build);
  Block(std::size_t inputs,
        const std::function<std::vector<Node>(std::span<const Node> inputs)>& build);

  /// The first result, or all.
  [[nodiscard]] Node operator()(const Node& x) const;
  [[nodiscard]] Node operator()(std::span<const Node> inputs) const;
  [[nodiscard]] std::vector<Node> outputs(std::span<const Node> inputs) const;

 private:
  std::vector<Node> inputs_;   // what stands for inputs
  std::vector<Node> outputs_;  // what comes of them
};

}  // namespace stoker::nn
