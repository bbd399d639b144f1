// A model's graphs with the definition of each node, which is looked up once when the model is
// loaded.
//
// Immutable after prepare(); any thread. Pointers refer to the file, which this object keeps alive.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "stoker/api/onnx/optimize/plan_choices.hpp"
#include "stoker/api/onnx/run/refused_nodes.hpp"
#include "stoker/pipeline/onnx/graph/model_file.hpp"

namespace stoker::onnx {

struct PreparedNode {
  const Node* node = nullptr;
  std::shared_ptr<const Operator> definition;
  int version = 0;
  /// Names that no node reads after this one; their values are dropped.
  std::vector<std::string_view> last_uses = {};
  /// Names of the surrounding graphs that the node's subgraphs read.
  std::vector<std::string_view> captured = {};
};

class Prepared {
 public:
  /// Throws unsupported, with every node that cannot be computed and why.
  Prepared(std::shared_ptr<const ModelFile> file, const OperatorTable& operators,
           PlanChoices choices = {});

  [[nodiscard]] const ModelFile& file() const noexcept { return *file_; }
  [[nodiscard]] const Graph& graph() const noexcept { return file_->graph; }
  [[nodiscard]] const PlanChoices& choices() const noexcept { return choices_; }
  /// The nodes of the graph itself or of a subgraph.
  [[nodiscard]] const std::vector<PreparedNode>& nodes(const Graph& graph) const {
    return graphs_.at(&graph);
  }
  /// Whether the elements of this input of the graph, or of a subgraph, decide about shapes.
  [[nodiscard]] bool decides(std::string_view input) const { return deciding_.contains(input); }
  /// Whether the graph has an initializer of that name.
  [[nodiscard]] bool has_initializer(std::string_view name) const {
    return initializers_.contains(name);
  }
  /// Whether a node draws random numbers without a seed of its own.
  [[nodiscard]] bool draws() const noexcept { return draws_; }

 private:
  void add(const Graph& graph, const OperatorTable& operators);
  PreparedNode prepared(const Node& node, const OperatorTable& operators);
  void find_last_uses(const Graph& graph);
  void find_deciding(const Graph& graph);

  std::shared_ptr<const ModelFile> file_;
  PlanChoices choices_;
  std::unordered_map<const Graph*, std::vector<PreparedNode>> graphs_;
  std::unordered_set<std::string_view> initializers_;
  std::unordered_set<std::string_view> deciding_;
  bool draws_ = false;
};

}  // namespace stoker::onnx
