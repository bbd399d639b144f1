// Builds an ONNX graph: nodes with fresh names, shared constants, graphs within graphs.
//
// Constants, and values that depend on the size of an open batch, are in the outermost graph, where all graphs
// can read them.
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

/// An attribute of a new node.
using NodeAttribute = std::pair<const char*, AttributeValue>;
using Names = std::vector<std::string>;

/// A value of that element type. An extent that equals the batch gets `symbol`; other extents that grow with the
/// batch are open.
[[nodiscard]] ValueInfo value_info(std::string name, DType dtype, const ExtentList& extents,
                                   const std::string& symbol);

class GraphMaker {
 public:
  /// `reserved`: names of inputs and outputs, which no other value may get. `batch`: the name of the open extent.
  GraphMaker(int opset, std::set<std::string, std::less<>> reserved, std::string batch);

  [[nodiscard]] int opset() const noexcept { return opset_; }

  /// An input of the outermost graph.
  void add_input(ValueInfo input);
  /// A constant with that name, or a similar one if the name is taken.
  [[nodiscard]] std::string weights(std::string_view name, TensorData tensor);

  /// Adds a node to the current graph and returns its outputs.
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

  /// The elements in another dtype. If truth values were cast to u8 before, the original values are
  /// used.
  [[nodiscard]] std::string cast(const std::string& x, DType from, DType to);

  /// Begins and ends an inner graph: nodes that are added between these calls belong to it.
  void begin_graph();
  [[nodiscard]] std::string graph_input(DType dtype, const ExtentList& extents);
  /// An output that is not the result of a node of this graph, or that occurs twice, gets an
  /// additional node.
  [[nodiscard]] GraphPtr end_graph(const Names& outputs, std::span<const DType> dtypes);

  /// The outermost graph, with these values as its outputs under the names that `outputs` give them.
  [[nodiscard]] Graph finish(const Names& results, std::vector<ValueInfo> outputs) &&;

 private:
  std::string fresh(std::string_view base);
  std::string batch();
  std::string constant(std::string_view base, const std::string& key, TensorData tensor);
  /// The names, each the result of a node of the graph and all different.
  Names distinct(const Names& names);
  std::string node_in(Graph& graph, const std::string& op, const Names& inputs,
                      const std::vector<NodeAttribute>& attributes);

  const int opset_;
  const std::string batch_symbol_;
  std::set<std::string, std::less<>> names_;
  // By base: the number at which the search for a name starts.
  std::map<std::string, std::size_t, std::less<>> numbers_;
  std::deque<Graph> graphs_;                      // the outermost first
  std::map<std::string, std::string> constants_;  // by contents
  std::map<std::string, std::string> truths_;     // of u8 values, the bool ones
  std::map<std::string, std::string> dims_;       // by their text
  std::string batch_;                             // s64 [1]; empty: not needed yet
};

}  // namespace stoker::onnx
