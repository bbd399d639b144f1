// Constants, and what is known of a value without looking at its elements.
#include <cmath>

#include "stoker/api/onnx/core/host_rules.hpp"
#include "stoker/api/tensor/core/creation.hpp"
#include "stoker/api/tensor/math/elementwise.hpp"
#include "stoker/api/tensor/views/manipulation.hpp"

namespace stoker::onnx::operators::leaves {
namespace {

/// Filled tensors that are larger stay one number in the program.
constexpr std::int64_t most_known = 1024;

Values constant(Call& call) {
  const Node& node = call.node();
  if (node.has("value")) return {call.walker().constant(node.tensor("value"))};
  if (node.has("sparse_value")) return {call.walker().constant(node.tensor("sparse_value"))};
  if (node.has("value_int")) return {Known::integer(node.integer("value_int"))};
  if (node.has("value_float")) {
    const double number = node.real("value_float");
    return {Known::reals({&number, 1}, Shape{})};
  }
  if (node.has("value_string")) return {Value{Texts{Shape{}, {node.text("value_string")}}}};
  if (const auto* all = node.integers("value_ints")) return {Known::integers(*all)};
  if (const auto* all = node.reals("value_floats")) {
    const std::vector<double> numbers{all->begin(), all->end()};
    return {Known::reals(numbers, Shape{static_cast<std::int64_t>(numbers.size())})};
  }
  if (const auto* all = node.texts("value_strings"))
    return {Value{Texts{Shape{static_cast<std::int64_t>(all->size())}, *all}}};
  call.refuse(ErrorCode::invalid_argument, "it has no value");
}

Value filled(const Shape& shape, const Known& number) {
  if (shape.elements() <= most_known) {
    const std::vector<std::int64_t> first(static_cast<std::size_t>(shape.elements()), 0);
    return number.taken(first, shape);
  }
  return {broadcast(number.reshaped(Shape{}).tensor(), shape), number.type()};
}

Values constant_of_shape(Call& call) {
  const Shape shape = shape_of(call.integers(0));
  const double zero = 0;
  const Known number = call.node().has("value")
                           ? call.walker().constant(call.node().tensor("value")).known()
                           : Known::reals({&zero, 1}, Shape{});
  if (number.elements() != 1)
    call.refuse(ErrorCode::shape_mismatch,
                "value must be one element, got " + Value{number}.to_string());
  return {filled(shape, number)};
}

Values shape_rule(Call& call) {
  const Axes extents = extents_of(call.shape());
  const auto rank = static_cast<std::int64_t>(extents.size());
  const auto within = [&](std::int64_t at) {
    return std::clamp<std::int64_t>(at < 0 ? at + rank : at, 0, rank);
  };
  const std::int64_t start = within(call.node().integer("start", 0));
  const std::int64_t end = std::max(start, within(call.node().integer("end", rank)));
  return {Known::integers(std::span{extents}.subspan(static_cast<std::size_t>(start),
                                                     static_cast<std::size_t>(end - start)))};
}

/// How many steps lead from `first` up to, or down to, `last`. The distance needs all 64 bits.
std::int64_t count_of(const Call& call, std::int64_t first, std::int64_t last, std::int64_t step) {
  if (step > 0 ? first >= last : first <= last) return 0;
  const auto bits = [](std::int64_t number) { return static_cast<std::uint64_t>(number); };
  const std::uint64_t distance = step > 0 ? bits(last) - bits(first) : bits(first) - bits(last);
  const std::uint64_t each = step > 0 ? bits(step) : 0 - bits(step);
  const std::uint64_t count = (distance - 1) / each + 1;
  if (count > std::uint64_t{1} << 40)
    call.refuse(ErrorCode::limit_exceeded, "a range of " + std::to_string(count) + " numbers");
  return static_cast<std::int64_t>(count);
}

Values range(Call& call) {
  const Known start = call.known(0);
  const Known limit = call.known(1);
  const Known delta = call.known(2);
  if (start.elements() != 1 || limit.elements() != 1 || delta.elements() != 1)
    call.refuse(ErrorCode::shape_mismatch, "start, limit and delta must be numbers");
  if (start.holds_integers()) {
    const std::int64_t first = start.to_integers()[0];
    const std::int64_t last = limit.to_integers()[0];
    const std::int64_t step = delta.to_integers()[0];
    if (step == 0) call.refuse(ErrorCode::invalid_argument, "delta is 0");
    const std::int64_t count = count_of(call, first, last, step);
    if (count > most_known) return {call.like(iota(Shape{count}, DType::s64) * step + first)};
    std::vector<std::int64_t> numbers;
    for (std::int64_t i = 0, at = first; i < count; ++i) {
      numbers.push_back(at);
      if (i + 1 < count) at += step;
    }
    return {Known::integers(numbers, Shape{count}, start.type())};
  }
  const double first = start.to_reals()[0];
  const double step = delta.to_reals()[0];
  const double count = std::max(0.0, std::ceil((limit.to_reals()[0] - first) / step));
  if (!(count <= static_cast<double>(std::int64_t{1} << 40)))
    call.refuse(ErrorCode::invalid_argument, "the range has no end");
  const auto n = static_cast<std::int64_t>(count);
  const DType computed = start.spec().dtype == DType::f64 ? DType::f64 : DType::f32;
  if (n > most_known) return {call.like(iota(Shape{n}, computed) * step + first)};
  std::vector<double> numbers;
  for (std::int64_t i = 0; i < n; ++i) numbers.push_back(first + static_cast<double>(i) * step);
  return {Known::reals(numbers, Shape{n}, start.type())};
}

Values eye_like(Call& call) {
  const Shape& shape = call.shape();
  if (shape.rank() != 2) call.refuse(ErrorCode::shape_mismatch, "expected a matrix");
  const ElementType type = call.node().element_type("dtype", call.type());
  const auto dtype = carrier_of(type);
  if (!dtype) call.refuse(ErrorCode::unsupported, "the type " + std::string{to_string(type)});
  const Tensor ones =
      equal(iota_along(shape, 0) + call.node().integer("k", 0), iota_along(shape, 1));
  return {Value{as_type(ones, *dtype), type}};
}

}  // namespace

void define(OperatorTable& table) {
  table.add({.name = "Constant",
             .since = {1, 9, 11, 12, 13, 19, 21, 23, 24, 25},
             .least_inputs = 0,
             .most_inputs = 0,
             .types = {.results = {first_of(ValueOf{"value"}, ValueOf{"sparse_value"},
                                            ValueOf{"value_int"}, ValueOf{"value_ints"},
                                            ValueOf{"value_float"}, ValueOf{"value_floats"},
                                            ValueOf{"value_string"}, ValueOf{"value_strings"})}},
             .attributes = {"value", "sparse_value", "value_int", "value_ints", "value_float",
                            "value_floats", "value_string", "value_strings"},
             .lower = &constant});
  table.add({.name = "ConstantOfShape",
             .since = {9, 20, 21, 23, 24, 25},
             .types = {.operands = {index_types},
                       .results = {first_of(ValueOf{"value"}, ElementType::f32)}},
             .attributes = {"value"},
             .decides = {0},
             .lower = &constant_of_shape});
  table.add({.name = "Identity",
             .since = {1, 13, 14, 16, 19, 21, 23, 24, 25},
             .types = alike(any_type),
             .host = [](Call& call) -> std::optional<Values> { return Values{call.input(0)}; },
             .lower = [](Call& call) { return Values{call.input(0)}; }});
  table.add({.name = "Shape",
             .since = {1, 13, 15, 19, 21, 23, 24, 25},
             .types = {.operands = {any_type}, .results = {ElementType::s64}},
             .attributes = {"start", "end"},
             .lower = &shape_rule});
  table.add({.name = "Size",
             .since = {1, 13, 19, 21, 23, 24, 25},
             .types = {.operands = {any_type}, .results = {ElementType::s64}},
             .lower = [](Call& call) { return Values{Known::integer(call.shape().elements())}; }});
  table.add({.name = "Range",
             .since = {11, 27},
             .least_inputs = 3,
             .most_inputs = 3,
             .types = alike(float_types | ElementType::s16 | index_types),
             .attributes = {"stash_type"},
             .decides = {0, 1, 2},
             .lower = &range});
  table.add({.name = "EyeLike",
             .since = {9, 22},
             .types = {.operands = {number_types | ElementType::boolean},
                       .results = {first_of(NamedBy{"dtype"}, like(0))}},
             .attributes = {"dtype", "k"},
             .lower = &eye_like});
}

}  // namespace stoker::onnx::operators::leaves
