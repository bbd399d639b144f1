// Which node of a model made which nodes of the graph of tensors, by the order in which these were made.
//
// Threads: one, that of the walk. Lifetime: the nodes must outlive what it returns.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "stoker/pipeline/onnx/graph/node.hpp"
#include "stoker/pipeline/tensor/program/extraction.hpp"

namespace stoker::onnx {

class NodeMarks {
 public:
  /// A node's rule is called from here on, until ends(). Nodes of bodies begin and end within the node that has the
  /// body.
  void begins(const Node& node);
  void ends();
  /// Forgets which nodes made what was made so far.
  void forget() noexcept { made_.clear(); }
  /// The nodes that made what a kernel computes, each once, in the order of `origins`
  /// (expr::LoweredProgram::Step::origins).
  [[nodiscard]] std::vector<const Node*> nodes_of(const expr::Extracted& extracted,
                                                  std::span<const std::uint32_t> origins) const;

 private:
  /// Nodes of the graph of tensors with serial numbers up to `serial`, and above that of the previous entry,
  /// belong to `node`.
  struct Made {
    std::uint64_t serial;
    const Node* node;
  };
  void mark();

  std::vector<const Node*> open_;  // the innermost last
  std::vector<Made> made_;         // ascending
};

/// The nodes as descriptions name them: Node::place().
[[nodiscard]] std::vector<std::string> places_of(std::span<const Node* const> nodes);

}  // namespace stoker::onnx
