// A graph that passes change: who writes and who reads each name, and the constants among them.
//
// What must not change, does not: outputs keep their names, as do values that subgraphs read; inputs stay, and
// initializers that are inputs. Nodes stay in order: what replaces a node stands in its place.
//
// Lifetime: of one pass over one graph; references to nodes stay valid as long, also of removed ones. What it refers
// to outlives it. Threads: one. Errors: none of its own; getters of attributes throw invalid_argument.
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

/// What a node gives for these constant operands, one for each of its outputs. Nothing if it fails or is not known
/// before the run, or if a result has more bytes than that.
using Evaluate = std::function<std::optional<std::vector<TensorData>>(
    const Node& node, std::span<const Initializer> operands, std::size_t most_bytes)>;

/// Of one model, for all of its passes and graphs.
struct Optimization {
  const OperatorTable* operators = nullptr;
  Evaluate evaluate;
  DeviceType device = DeviceType::cpu;            ///< where the model runs
  std::set<std::string, std::less<>> names = {};  ///< in any graph of the model
  std::size_t weight_bytes = 0;                   ///< of initializers as they were read
  std::size_t added_bytes = 0;                    ///< to them
  bool changed = false;                           ///< by some pass
  std::set<std::string, std::less<>> kept =
      {};  ///< results that are not folded, and not tried again

  std::map<std::string, std::size_t, std::less<>> numbers = {};  ///< that names of a base end with

  /// A name that none has: `base` and a number.
  [[nodiscard]] std::string fresh(std::string_view base);
};

class GraphEditor {
 public:
  /// `outer`: of the graph around; null: it is the model's.
  GraphEditor(Graph& graph, const GraphEditor* outer, Optimization& model);
  GraphEditor(const GraphEditor&) = delete;
  GraphEditor& operator=(const GraphEditor&) = delete;
  /// Writes the changes into the graph.
  void finish();

  // Reading ---------------------------------------------------------------------------------------
  [[nodiscard]] bool is_body() const noexcept { return outer_ != nullptr; }
  [[nodiscard]] Optimization& model() const noexcept { return model_; }
  [[nodiscard]] const Graph& graph() const noexcept { return graph_; }
  /// Null if it is no result of a node of this graph.
  [[nodiscard]] Node* writer(std::string_view name) const;
  /// The same if the node is of this operator of ONNX's own domain.
  [[nodiscard]] Node* writer(std::string_view name, std::string_view op) const;
  /// Nodes of this graph, each once, in no order.
  [[nodiscard]] std::vector<Node*> readers(std::string_view name) const;
  /// Whether nothing but one place of one node reads it.
  [[nodiscard]] bool is_read_once(std::string_view name) const;
  [[nodiscard]] bool is_read(std::string_view name) const;
  /// Whether outputs or subgraphs mean it.
  [[nodiscard]] bool is_pinned(std::string_view name) const;
  /// Null if it is no constant tensor: an initializer, or of a Constant node; of this graph or one around it.
  [[nodiscard]] const TensorData* constant(std::string_view name) const;
  /// Names of initializers of this graph that are no inputs.
  [[nodiscard]] std::vector<std::string> own_constants() const;
  /// Whether the node may be computed once for equal operands: it is not random and has no subgraphs.
  [[nodiscard]] bool is_pure(const Node& node) const;
  /// What is certain about the rank, an extent and the element type of a value, whatever the inputs are.
  [[nodiscard]] std::optional<std::size_t> rank_of(std::string_view name) const;
  /// An axis below 0 counts from the end: -1 is the last.
  [[nodiscard]] std::optional<std::int64_t> extent_of(std::string_view name,
                                                      std::int64_t axis) const;
  [[nodiscard]] ElementType type_of(std::string_view name) const { return type_of(name, {}); }
  /// The same where some types are certain already: it looks no further than these.
  [[nodiscard]] ElementType type_of(
      std::string_view name, const std::map<std::string, ElementType, std::less<>>& certain) const;

  // Changing --------------------------------------------------------------------------------------
  /// Calls rule(node) for each node in order; passes over those that are removed meanwhile and those that are new.
  template <class Rule> void each(Rule&& rule) {
    std::vector<Node*> all;
    all.reserve(nodes_.size());
    for (Node& node : nodes_) all.push_back(&node);
    for (Node* const node : all)
      if (places_.contains(node)) rule(*node);
  }
  void set_input(Node& node, std::size_t index, std::string_view name);
  /// Nodes of this graph that read `from` read `to`.
  void move_reads(std::string_view from, std::string_view to);
  void set_attribute(Node& node, std::string_view name, AttributeValue value);
  void drop_attribute(Node& node, std::string_view name);
  /// Its outputs must be fresh, or those of a node that was removed.
  Node& insert(Node node, const Node& before);
  void remove(Node& node);
  /// `made` takes the place and, unless it has some, the outputs of `old`.
  Node& replace(Node& old, Node made);
  /// From now on `name`, the only result of `node`, is `other`, and the node is gone. False, and nothing has changed,
  /// where both names must stay.
  bool forward(Node& node, std::string_view other);
  /// The same for all results: those of `other` at the same positions.
  bool forward_all(Node& node, Node& other);
  /// A name that none has in any graph of the model.
  [[nodiscard]] std::string fresh(std::string_view base) { return model_.fresh(base); }
  /// A new initializer, called after `base`.
  std::string add_constant(std::string_view base, TensorData tensor);
  /// The same under a name that nothing writes any more.
  void set_constant(std::string name, TensorData tensor);
  /// Initializers that nothing reads and that are no inputs.
  void remove_unread_constants();
  /// Whether weights may take so many bytes more in the place of `replaced`, each of which is no longer needed if it is
  /// of this graph and nothing else reads it: all of them stay below 1.5 times what they were. If so, they are counted.
  [[nodiscard]] bool affords(std::size_t bytes, std::span<const std::string> replaced);

 private:
  struct Entry {
    Node* writer = nullptr;
    /// And how often each reads it. A name may have a million.
    std::unordered_map<Node*, std::vector<std::size_t>> readers = {};  ///< at which places
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

/// Whether it is this operator of ONNX's own domain.
[[nodiscard]] bool is(const Node& node, std::string_view op) noexcept;
/// A node of ONNX's own domain.
[[nodiscard]] Node make_node(std::string op, std::int64_t opset, std::vector<std::string> inputs,
                             std::vector<Attribute> attributes = {});
[[nodiscard]] Attribute attribute(std::string name, AttributeValue value);

}  // namespace stoker::onnx
