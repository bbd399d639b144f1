// A graph that passes change: the writer and the readers of each name, and the constants.
//
// The editor keeps these: the names of outputs and of values that subgraphs read, inputs, initializers that
// are inputs, and the order of nodes; a replacement takes the place of its node.
//
// Lifetime: one pass over one graph. References to nodes, also to removed ones, stay valid that long. Its arguments
// must outlive it. Threads: one. Errors: none of its own; getters of attributes throw invalid_argument.
#pragma once

#include <deque>
#include <functional>
#include <list>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "stoker/api/onnx/core/operator.hpp"
#include "stoker/device/device_info.hpp"
#include "stoker/pipeline/onnx/graph/graph.hpp"

namespace stoker::onnx {

/// Computes a node for constant operands, and returns one result for each output. Nothing if this fails, if a
/// result is known only in a run, or if a result has more than the given number of bytes.
using Evaluate = std::function<std::optional<std::vector<TensorData>>(
    const Node& node, std::span<const Initializer> operands, std::size_t most_bytes)>;

/// The state of one model, for all of its passes and graphs.
struct Optimization {
  const OperatorTable* operators = nullptr;
  Evaluate evaluate;
  DeviceType device = DeviceType::cpu;            ///< the kind of device that the model runs on
  std::set<std::string, std::less<>> names = {};  ///< all names in the model's graphs
  std::size_t weight_bytes = 0;                   ///< bytes of the initializers as they were read
  std::size_t added_bytes = 0;                    ///< to them
  bool changed = false;                           ///< whether a pass has changed anything
  std::set<std::string, std::less<>> kept =
      {};  ///< results that are not folded, and not tried again

  /// By base: the number at which the search for a name starts.
  std::map<std::string, std::size_t, std::less<>> numbers = {};

  /// An unused name: `base` and a number.
  [[nodiscard]] std::string fresh(std::string_view base);
};

class GraphEditor {
 public:
  /// `outer`: the editor of the surrounding graph; null for the model's graph.
  GraphEditor(Graph& graph, const GraphEditor* outer, Optimization& model);
  GraphEditor(const GraphEditor&) = delete;
  GraphEditor& operator=(const GraphEditor&) = delete;
  /// Writes the changes into the graph.
  void finish();

  // Reading ---------------------------------------------------------------------------------------
  [[nodiscard]] bool is_body() const noexcept { return outer_ != nullptr; }
  [[nodiscard]] Optimization& model() const noexcept { return model_; }
  [[nodiscard]] const Graph& graph() const noexcept { return graph_; }
  /// The node that writes the name; null if no node of this graph does.
  [[nodiscard]] Node* writer(std::string_view name) const;
  /// The same if the node is of this operator of ONNX's own domain.
  [[nodiscard]] Node* writer(std::string_view name, std::string_view op) const;
  /// The nodes of this graph that read the name, each once, in no particular order.
  [[nodiscard]] std::vector<Node*> readers(std::string_view name) const;
  /// Whether exactly one operand of one node reads it.
  [[nodiscard]] bool is_read_once(std::string_view name) const;
  [[nodiscard]] bool is_read(std::string_view name) const;
  /// Whether it is an output or a subgraph reads it.
  [[nodiscard]] bool is_pinned(std::string_view name) const;
  /// The constant tensor of that name: an initializer or the tensor of a Constant node, in this graph or a
  /// surrounding one. Null if there is none.
  [[nodiscard]] const TensorData* constant(std::string_view name) const;
  /// Names of the initializers of this graph that are not inputs.
  [[nodiscard]] std::vector<std::string> own_constants() const;
  /// Whether the node may be computed once for equal operands: it is not random and has no subgraphs.
  [[nodiscard]] bool is_pure(const Node& node) const;
  /// The rank, an extent and the element type of a value, if they are certain for all inputs.
  [[nodiscard]] std::optional<std::size_t> rank_of(std::string_view name) const;
  /// An axis below 0 counts from the end: -1 is the last.
  [[nodiscard]] std::optional<std::int64_t> extent_of(std::string_view name,
                                                      std::int64_t axis) const;
  [[nodiscard]] ElementType type_of(std::string_view name) const { return type_of(name, {}); }
  /// The same if some types are known already; the search stops at these.
  [[nodiscard]] ElementType type_of(
      std::string_view name, const std::map<std::string, ElementType, std::less<>>& certain) const;

  // Changing --------------------------------------------------------------------------------------
  /// Calls rule(node) for each node in order, except for nodes that are removed or added meanwhile.
  template <class Rule> void each(Rule&& rule) {
    std::vector<Node*> all;
    all.reserve(nodes_.size());
    for (Node& node : nodes_) all.push_back(&node);
    for (Node* const node : all)
      if (places_.contains(node)) rule(*node);
  }
  void set_input(Node& node, std::size_t index, std::string_view name);
  /// Lets all nodes of this graph that read `from` read `to`.
  void move_reads(std::string_view from, std::string_view to);
  void set_attribute(Node& node, std::string_view name, AttributeValue value);
  void drop_attribute(Node& node, std::string_view name);
  /// Inserts a node before another. Its outputs must be fresh names or those of a removed node.
  Node& insert(Node node, const Node& before);
  void remove(Node& node);
  /// Replaces `old` by `made`, which gets the outputs of `old` unless it has its own.
  Node& replace(Node& old, Node made);
  /// Replaces the only result of `node` by `other` and removes the node. Returns false and changes nothing if both
  /// names must be kept.
  bool forward(Node& node, std::string_view other);
  /// The same for all results, by those of `other` at the same positions.
  bool forward_all(Node& node, Node& other);
  /// A name that is unused in all graphs of the model.
  [[nodiscard]] std::string fresh(std::string_view base) { return model_.fresh(base); }
  /// Adds an initializer with a name made from `base`, and returns the name.
  std::string add_constant(std::string_view base, TensorData tensor);
  /// The same with a name that no node writes any more.
  void set_constant(std::string name, TensorData tensor);
  /// Removes initializers that no node reads and that are not inputs.
  void remove_unread_constants();
  /// Whether weights may take `bytes` more if they replace the constants `replaced`; a replaced constant is dropped if
  /// it belongs to this graph and has no other reader. The total must stay below 1.5 times the original size. If so,
  /// the bytes are counted.
  [[nodiscard]] bool affords(std::size_t bytes, std::span<const std::string> replaced);

 private:
  struct Entry {
    Node* writer = nullptr;
    /// The readers, and the operands at which each reads it. A name may have a million readers.
    std::unordered_map<Node*, std::vector<std::size_t>> readers = {};  ///< operand positions
    const TensorData* constant = nullptr;
    std::size_t pins = 0;
    const ValueInfo* input = nullptr;  ///< of this graph
    bool is_own = false;               ///< initializer of this graph
  };
  using Places = std::unordered_map<const Node*, std::list<Node>::iterator>;

  [[nodiscard]] const Entry* entry(std::string_view name) const;
  [[nodiscard]] Entry& entry_of(std::string_view name);
  void index(Node& node);
  void pin_captured(const Graph& inner);
  void find_constant(const Node& node);
  [[nodiscard]] std::optional<std::size_t> rank_of(std::string_view name, int& steps) const;
  [[nodiscard]] std::optional<std::int64_t> extent_of(std::string_view name, std::int64_t axis,
                                                      int& steps) const;
  [[nodiscard]] const ValueInfo* checked_input(std::string_view name) const;
  [[nodiscard]] bool can_forward(std::string_view from, std::string_view to) const;
  void rename(std::string_view from, std::string_view to);
  void touch() { model_.changed = true; }

  Graph& graph_;
  const GraphEditor* outer_;
  Optimization& model_;
  std::list<Node> nodes_;
  std::list<Node> removed_;
  std::list<Initializer> initializers_;
  std::deque<TensorData> numbers_;  ///< of Constant nodes with plain numbers
  Places places_;
  std::map<std::string, Entry, std::less<>> entries_;
};

/// Whether the node is of this operator of ONNX's own domain.
[[nodiscard]] bool is(const Node& node, std::string_view op) noexcept;
/// A node of ONNX's own domain.
[[nodiscard]] Node make_node(std::string op, std::int64_t opset, std::vector<std::string> inputs,
                             std::vector<Attribute> attributes = {});
[[nodiscard]] Attribute attribute(std::string name, AttributeValue value);

}  // namespace stoker::onnx
