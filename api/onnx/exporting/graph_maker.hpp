// An ONNX graph while it is made: nodes with fresh names, constants that are shared, graphs within graphs.
//
// Constants, and what the size of an open batch decides, stand in the outermost graph, where all can read them.
//
// Threads: one. A value of its caller's.
#pragma once

#include <deque>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "stoker/api/onnx/exporting/extent.hpp"
#include "stoker/pipeline/onnx/graph/graph.hpp"

namespace stoker::onnx {

/// An attribute of a node that is made.
using NodeAttribute = std::pair<const char*, AttributeValue>;
using Names = std::vector<std::string>;

/// A value of that element type; an extent that grows with the batch gets `symbol` if it is the batch, else is open.
[[nodiscard]] ValueInfo value_info(std::string name, DType dtype, const ExtentList& extents,
                                   const std::string& symbol);

class GraphMaker {
 public:
  /// `reserved` are names of inputs and outputs, which nothing else may get. `batch` names the extent in proportion to
  /// which extents grow.
  GraphMaker(int opset, std::set<std::string, std::less<>> reserved, std::string batch);

  [[nodiscard]] int opset() const noexcept { return opset_; }

  /// An input of the outermost graph.
  void add_input(ValueInfo input);
  /// A constant under that name, or one like it.
  [[nodiscard]] std::string weights(std::string_view name, TensorData tensor);

  /// The outputs of a new node of the graph that is being made.
  [[nodiscard]] Names nodes(const std::string& op, const Names& inputs,
                            const std::vector<NodeAttribute>& attributes, std::size_t outputs);
  /// The same for one output.
  [[nodiscard]] std::string node(const std::string& op, const Names& inputs,
                                 const std::vector<NodeAttribute>& attributes = {}) {
    return nodes(op, inputs, attributes, 1).front();
  }

  /// s64 [n].
  [[nodiscard]] std::string integers(const std::vector<std::int64_t>& values);
  /// A scalar whose first bytes are those of `bits`.
  [[nodiscard]] std::string scalar_bits(std::uint64_t bits, DType dtype);
  [[nodiscard]] std::string scalar(double number, DType dtype);
  /// s64 [n], computed from an input where the extents grow.
  [[nodiscard]] std::string dims(const ExtentList& extents);

  /// The elements in another dtype; truth values that were cast to u8 are found again.
  [[nodiscard]] std::string cast(const std::string& x, DType from, DType to);

  /// Graphs within: what is made between these calls belongs to them.
  void begin_graph();
  [[nodiscard]] std::string graph_input(DType dtype, const ExtentList& extents);
  /// Outputs that no node of the graph gave, or that come twice, pass through one more node.
  [[nodiscard]] GraphPtr end_graph(const Names& outputs, std::span<const DType> dtypes);

  /// The outermost graph, with these values as its outputs under the names that `outputs` give them.
  [[nodiscard]] Graph finish(const Names& results, std::vector<ValueInfo> outputs) &&;

 private:
  std::string fresh(std::string_view base);
  std::string batch();
  std::string constant(std::string_view base, const std::string& key, TensorData tensor);
  /// The names, each given by a node of the graph and no two alike.
  Names distinct(const Names& names);
  std::string node_in(Graph& graph, const std::string& op, const Names& inputs,
                      const std::vector<NodeAttribute>& attributes);

  const int opset_;
  const std::string batch_symbol_;
  std::set<std::string, std::less<>> names_;
  std::map<std::string, std::size_t, std::less<>> numbers_;  // that names of a base end with
  std::deque<Graph> graphs_;                                 // the outermost first
  std::map<std::string, std::string> constants_;             // by what they hold
  std::map<std::string, std::string> truths_;                // of u8 values, the bool ones
  std::map<std::string, std::string> dims_;                  // by their text
  std::string batch_;                                        // s64 [1]; empty: not asked for yet
};

}  // namespace stoker::onnx
