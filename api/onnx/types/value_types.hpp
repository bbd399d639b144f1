// The element types of a graph's values, as far as they are certain before a run: from inputs, whose types each run
// checks, from constants, and from nodes whose operators say what they give. What a file says about values in between
// may be wrong, and is not asked.
//
// Threads: one at a time. Keeps views of names; the graph outlives it.
#pragma once

#include <span>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "stoker/api/onnx/types/type_rule.hpp"
#include "stoker/pipeline/onnx/graph/graph.hpp"

namespace stoker::onnx {

/// Whether a file says that a value is a tensor of another type. Undefined is no other.
[[nodiscard]] bool declares_other(const ValueType& declared, ElementType type) noexcept;

class ValueTypes {
 public:
  /// Of the inputs of a function, nothing is known.
  ValueTypes() = default;
  /// Of what a graph has before its first node. `outer`: of the graph around; outlives this.
  explicit ValueTypes(const Graph& graph, const ValueTypes* outer = nullptr);

  /// Undefined if it is not known, or if the value is no tensor.
  [[nodiscard]] ElementType of(std::string_view name) const noexcept;
  [[nodiscard]] std::vector<ElementType> of_operands(const Node& node) const;
  [[nodiscard]] std::vector<ElementType> of_outputs(const Graph& graph) const;
  /// `operands`: of the node; `bodies`: of the outputs of each of its graphs.
  void add_results(const Node& node, const TypeRule& rule, std::span<const ElementType> operands,
                   std::span<const std::vector<ElementType>> bodies);

 private:
  std::unordered_map<std::string_view, ElementType> types_;
  const ValueTypes* outer_ = nullptr;
};

}  // namespace stoker::onnx
