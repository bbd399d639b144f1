#include "stoker/api/onnx/types/value_types.hpp"

namespace stoker::onnx {

bool declares_other(const ValueType& declared, ElementType type) noexcept {
  return declared.kind == ValueKind::tensor && declared.element != ElementType::undefined &&
         type != ElementType::undefined && declared.element != type;
}

ValueTypes::ValueTypes(const Graph& graph, const ValueTypes* outer) : outer_{outer} {
  for (const ValueInfo& input : graph.inputs)
    types_.insert_or_assign(input.name, input.type.kind == ValueKind::tensor
                                            ? input.type.element
                                            : ElementType::undefined);
  for (const Initializer& constant : graph.initializers)
    types_.insert_or_assign(constant.name, constant.tensor.type);
}

ElementType ValueTypes::of(std::string_view name) const noexcept {
  for (const ValueTypes* scope = this; scope != nullptr; scope = scope->outer_)
    if (const auto found = scope->types_.find(name); found != scope->types_.end())
      return found->second;
  return ElementType::undefined;
}

std::vector<ElementType> ValueTypes::of_operands(const Node& node) const {
  std::vector<ElementType> types;
  types.reserve(node.inputs.size());
  for (const std::string& name : node.inputs)
    types.push_back(name.empty() ? ElementType::undefined : of(name));
  return types;
}

std::vector<ElementType> ValueTypes::of_outputs(const Graph& graph) const {
  std::vector<ElementType> types;
  types.reserve(graph.outputs.size());
  for (const ValueInfo& output : graph.outputs) types.push_back(of(output.name));
  return types;
}

void ValueTypes::add_results(const Node& node, const TypeRule& rule,
                             std::span<const ElementType> operands,
                             std::span<const std::vector<ElementType>> bodies) {
  for (std::size_t i = 0; i < node.outputs.size(); ++i)
    if (node.has_output(i))
      types_.insert_or_assign(node.outputs[i], type_of_result(rule, i, node, operands, bodies));
}

}  // namespace stoker::onnx
