// The nodes of a model that cannot be computed, with the reasons.
//
// Pure functions; any thread.
#pragma once

#include <string>
#include <vector>

#include "stoker/api/onnx/core/operator.hpp"
#include "stoker/pipeline/onnx/reading/read_options.hpp"

namespace stoker::onnx {

struct RefusedNode {
  const Node* node = nullptr;
  std::string why;

  /// "node 'a' (Foo), domain 'ai.onnx', opset 17: there is no such operator".
  [[nodiscard]] std::string to_string() const;
};

/// The refused nodes of a graph and its subgraphs, in the order of the file. Pointers refer to the
/// graph.
[[nodiscard]] std::vector<RefusedNode> refused_nodes(const Graph& graph,
                                                     const OperatorTable& operators);

/// Options for reading a file: if the file has other errors, too, the error lists these nodes after the
/// others. `operators` must outlive the reading.
[[nodiscard]] ReadOptions listing_refused_nodes(const OperatorTable& operators);

}  // namespace stoker::onnx
