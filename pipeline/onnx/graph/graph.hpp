// A graph of nodes: of a model, a branch or the body of a loop.
//
// Plain values, which any thread may read. The reader returns graphs in order: a node reads only inputs,
// initializers, outputs of earlier nodes, or names of the graphs around it, and every name is
// written once. An inner graph may reuse a name of an outer one; within the inner graph the name
// then means the inner value.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "stoker/pipeline/onnx/graph/node.hpp"

namespace stoker::onnx {

/// A constant of a graph.
struct Initializer {
  std::string name;
  TensorData tensor;
};

struct Graph {
  std::string name;
  std::string doc;
  std::vector<Node> nodes;
  /// The caller may omit an input that has an initializer of the same name.
  std::vector<ValueInfo> inputs;
  std::vector<ValueInfo> outputs;
  std::vector<Initializer> initializers;  ///< sparse ones are made dense
  std::vector<ValueInfo> values;          ///< the file's information on intermediate values

  /// Null if there is none of that name. Linear search: for many look-ups build a table.
  [[nodiscard]] const Initializer* initializer(std::string_view name) const noexcept;
};

/// The graphs among a node's attributes.
[[nodiscard]] std::vector<const Graph*> graphs_of(const Node& node);
/// The nodes of a graph and of all graphs below it.
[[nodiscard]] std::size_t count_nodes(const Graph& graph);

/// Key and value, in the file's order.
using Metadata = std::vector<std::pair<std::string, std::string>>;

}  // namespace stoker::onnx
