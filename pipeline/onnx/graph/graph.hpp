// A graph of nodes, as a model, a branch or the body of a loop has one.
//
// Plain values; immutable once read. A graph that the reader gives is in order: a node reads
// inputs, initializers and outputs of nodes before it, or names of the graphs around it, and every
// name is written once. A graph within another may use a name of the outer one for a value of its
// own, which then is the one that is meant.
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
  /// An input with an initializer of the same name may be left out by the caller.
  std::vector<ValueInfo> inputs;
  std::vector<ValueInfo> outputs;
  std::vector<Initializer> initializers;  ///< sparse ones, too, made dense
  std::vector<ValueInfo> values;          ///< what the file says about values in between

  /// Null if there is none of that name. Linear; keep a table where many are asked for.
  [[nodiscard]] const Initializer* initializer(std::string_view name) const noexcept;
};

/// The graphs among a node's attributes.
[[nodiscard]] std::vector<const Graph*> graphs_of(const Node& node);

/// Key and value, in the file's order.
using Metadata = std::vector<std::pair<std::string, std::string>>;

}  // namespace stoker::onnx
