#include "stoker/api/onnx/types/type_rule.hpp"

#include <algorithm>
#include <optional>

namespace stoker::onnx {
namespace {

template <class T> const T& entry(const std::vector<T>& entries, std::size_t i) {
  return entries[std::min(i, entries.size() - 1)];
}

ElementType type_at(std::span<const ElementType> types, std::size_t i) {
  return i < types.size() ? types[i] : ElementType::undefined;
}

std::string named(std::size_t operand, ElementType type) {
  return "operand " + std::to_string(operand) + " is " + std::string{to_string(type)};
}

ElementType type_of_elements(const TensorData& tensor) { return tensor.type; }
ElementType type_of_elements(std::int64_t /*number*/) { return ElementType::s64; }
ElementType type_of_elements(float /*number*/) { return ElementType::f32; }
ElementType type_of_elements(const std::string& /*text*/) { return ElementType::string; }
/// Of what is no tensor.
ElementType type_of_elements(const std::monostate& /*none*/) { return ElementType::undefined; }
ElementType type_of_elements(const GraphPtr& /*graph*/) { return ElementType::undefined; }
ElementType type_of_elements(const ValueType& /*type*/) { return ElementType::undefined; }
template <class T> ElementType type_of_elements(const std::vector<T>& /*list*/) {
  return type_of_elements(T{});
}

/// What says the type of a result: nothing if it is not there.
struct Asked {
  std::size_t result;
  const Node& node;
  std::span<const ElementType> operands;
  std::span<const std::vector<ElementType>> bodies;

  std::optional<ElementType> operator()(ElementType type) const { return type; }
  std::optional<ElementType> operator()(Like like) const {
    if (!node.has_input(like.operand)) return {};
    return type_at(operands, like.operand);
  }
  std::optional<ElementType> operator()(const NamedBy& by) const {
    const Attribute* const found = node.find(by.attribute);
    if (found == nullptr) return {};
    const auto* const number = std::get_if<std::int64_t>(&found->value);
    if (number == nullptr) return ElementType::undefined;
    if (*number == 0) return {};
    return element_type(static_cast<std::uint64_t>(*number)).value_or(ElementType::undefined);
  }
  std::optional<ElementType> operator()(const ValueOf& of) const {
    const Attribute* const found = node.find(of.attribute);
    if (found == nullptr) return {};
    return std::visit([](const auto& value) { return type_of_elements(value); }, found->value);
  }
  std::optional<ElementType> operator()(OfBody of) const {
    std::optional<ElementType> found;
    for (const std::vector<ElementType>& body : bodies) {
      const ElementType type = type_at(body, of.first + result);
      if (found && *found != type) return ElementType::undefined;
      found = type;
    }
    return found;
  }
};

}  // namespace

bool is_sound(const TypeRule& rule) noexcept {
  for (std::size_t i = 0; i < rule.operands.size(); ++i)
    if (const Like* const other = std::get_if<Like>(&rule.operands[i]))
      if (other->operand >= i || !std::holds_alternative<TypeSet>(rule.operands[other->operand]))
        return false;
  return true;
}

std::string wrong_operand(const TypeRule& rule, std::span<const ElementType> types) {
  if (rule.operands.empty()) return {};
  for (std::size_t i = 0; i < types.size(); ++i) {
    if (types[i] == ElementType::undefined) continue;
    const OperandType* expected = &entry(rule.operands, i);
    if (const Like* const other = std::get_if<Like>(expected)) {
      const ElementType type = type_at(types, other->operand);
      if (type != ElementType::undefined && type != types[i])
        return named(i, types[i]) + " and " + named(other->operand, type) +
               ", but they must be of one type";
      expected = &rule.operands[other->operand];
    }
    const TypeSet set = std::get<TypeSet>(*expected);
    if (!set.contains(types[i]))
      return named(i, types[i]) + ", which is none of the types that it takes: " + set.to_string();
  }
  return {};
}

std::optional<std::size_t> operand_of_type(const TypeRule& rule, std::size_t result,
                                           const Node& node) {
  if (rule.results.empty()) return {};
  for (const TypeSource& source : entry(rule.results, result).sources) {
    if (const Like* const other = std::get_if<Like>(&source)) {
      if (node.has_input(other->operand)) return other->operand;
    } else if (std::visit(Asked{result, node, {}, {}}, source)) {
      return {};
    }
  }
  return {};
}

ElementType type_of_result(const TypeRule& rule, std::size_t result, const Node& node,
                           std::span<const ElementType> operands,
                           std::span<const std::vector<ElementType>> bodies) {
  if (rule.results.empty()) return ElementType::undefined;
  for (const TypeSource& source : entry(rule.results, result).sources)
    if (const auto type = std::visit(Asked{result, node, operands, bodies}, source)) return *type;
  return ElementType::undefined;
}

}  // namespace stoker::onnx
