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

/// Of a graph and those below it, in the order of the file. Pointers lead into the graph.
[[nodiscard]] std::vector<RefusedNode> refused_nodes(const Graph& graph,
                                                     const OperatorTable& operators);

/// For a file that is wrong otherwise, too: then the error of the reading lists these nodes behind the rest.
/// `operators` outlives the reading.
[[nodiscard]] ReadOptions listing_refused_nodes(const OperatorTable& operators);

}  // namespace stoker::onnx
