// The element types that an operator takes and gives, as its definition says them: ONNX's type constraints.
//
//     .types = alike(float_types)                                                      // Exp, Conv: T, … → T
//     .types = indexed(any_type)                                                       // Gather: T, int64 → T
//     .types = {.operands = {number_types, like(0)}, .results = {ElementType::boolean}}        // Less: T, T → bool
//     .types = {.operands = {ElementType::boolean, any_type, like(1)}, .results = {like(1)}}   // Where: bool, T, T → T
//
// The last entry also stands for all operands, or results, behind it. Later versions of an operator take more types
// than earlier ones; a rule has those of the newest version, for all of them.
//
// Plain values and pure functions; any thread.
#pragma once

#include <concepts>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "stoker/api/onnx/types/type_set.hpp"
#include "stoker/pipeline/onnx/graph/node.hpp"

namespace stoker::onnx {

/// The type of an operand.
struct Like {
  std::size_t operand = 0;
};
/// The type whose number an attribute is, such as Cast's `to`.
struct NamedBy {
  std::string attribute;
};
/// The type of an attribute's elements, such as Constant's `value`.
struct ValueOf {
  std::string attribute;
};
/// The type that the node's graphs give: for result i that of their output i + first.
struct OfBody {
  std::size_t first = 0;
};

using OperandType = std::variant<TypeSet, Like>;
/// ElementType::undefined: what only a run knows.
using TypeSource = std::variant<ElementType, Like, NamedBy, ValueOf, OfBody>;

struct ResultType {
  template <class S>
  requires std::constructible_from<TypeSource, S> ResultType(S source)
      : sources{std::move(source)} {}  // NOLINT(google-explicit-constructor)
  explicit ResultType(std::vector<TypeSource> all) : sources{std::move(all)} {}

  /// The first that is there says the type: an operand or attribute may not be given.
  std::vector<TypeSource> sources;
};

struct TypeRule {
  std::vector<OperandType> operands = {};
  std::vector<ResultType> results = {};
};

[[nodiscard]] constexpr Like like(std::size_t operand) noexcept { return {operand}; }
template <class... S> [[nodiscard]] ResultType first_of(S... sources) {
  return ResultType{std::vector<TypeSource>{std::move(sources)...}};
}
/// Operands and results of one type, which is one of these.
[[nodiscard]] inline TypeRule alike(TypeSet types) {
  return {.operands = {types, like(0)}, .results = {like(0)}};
}
/// A first operand of one of these types, which results have, and integers behind it: axes, extents or places.
[[nodiscard]] inline TypeRule indexed(TypeSet types) {
  return {.operands = {types, index_types}, .results = {like(0)}};
}

/// Whether an operand that is like another one is so only to one before it that says its types.
[[nodiscard]] bool is_sound(const TypeRule& rule) noexcept;
/// What is wrong with operands of these types; empty if nothing is. ElementType::undefined: one that is not given, that
/// is no tensor, or whose type is not known. A rule that says nothing takes all. Precondition: the rule is sound.
[[nodiscard]] std::string wrong_operand(const TypeRule& rule, std::span<const ElementType> types);
/// The position of the operand whose type a result has; nothing if something else says its type.
[[nodiscard]] std::optional<std::size_t> operand_of_type(const TypeRule& rule, std::size_t result,
                                                         const Node& node);
/// `bodies`: of the outputs of each of the node's graphs. Undefined if it is not known.
[[nodiscard]] ElementType type_of_result(const TypeRule& rule, std::size_t result, const Node& node,
                                         std::span<const ElementType> operands,
                                         std::span<const std::vector<ElementType>> bodies);

}  // namespace stoker::onnx
