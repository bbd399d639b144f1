// Parts of a graph that are applied several times with one set of parameters.
//
//     const Block residual{[](const Node& x) { return dense(dense(x, 8), 4) + x; }};
//     Node y = residual(residual(x));     // two dense layers in all
//
// The function is called once, when the block is made, with placeholder nodes; every application
// applies the same layers to other inputs. Every use of a block shares its layers' variables, so
// their shapes must agree at each use; Network throws otherwise.
//
// Values; any thread. Errors are thrown: those of the function; invalid_argument if it returns no
// results, or if they depend on network inputs that it was not given; arity_mismatch for the number
// of inputs.
#pragma once

#include <functional>
#include <span>
#include <vector>

#include "stoker/api/nn/graph/node.hpp"

namespace stoker::nn {

class Block {
 public:
  /// A block of one input, or of `inputs` inputs.
  explicit Block(const std::function<Node(const Node& x)>& build);
  Block(std::size_t inputs,
        const std::function<std::vector<Node>(std::span<const Node> inputs)>& build);

  /// Applies the block: operator() returns the first result, outputs() all.
  [[nodiscard]] Node operator()(const Node& x) const;
  [[nodiscard]] Node operator()(std::span<const Node> inputs) const;
  [[nodiscard]] std::vector<Node> outputs(std::span<const Node> inputs) const;

 private:
  std::vector<Node> inputs_;   // placeholders for the inputs
  std::vector<Node> outputs_;  // the results for these placeholders
};

}  // namespace stoker::nn
