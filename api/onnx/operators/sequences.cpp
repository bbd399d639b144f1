// Lists of values and optional values, which the walk holds.
#include "stoker/api/onnx/core/operator.hpp"
#include "stoker/api/tensor/core/creation.hpp"
#include "stoker/api/tensor/views/manipulation.hpp"

namespace stoker::onnx::operators::sequences {
namespace {

/// Each is a tensor of its own.
constexpr std::int64_t most_parts = std::int64_t{1} << 20;

/// A position of a list, from one that may count from the end; `count` itself may be allowed.
std::size_t position(const Call& call, std::size_t i, std::size_t count, bool end = false) {
  const auto n = static_cast<std::int64_t>(count);
  std::int64_t at = call.integer(i);
  if (at < 0) at += n;
  if (at < 0 || at > n || (at == n && !end))
    call.refuse(ErrorCode::invalid_argument, "position " + std::to_string(call.integer(i)) +
                                                 " of " + std::to_string(n) + " elements");
  return static_cast<std::size_t>(at);
}

Values insert(Call& call) {
  Values list = call.input(0).elements();
  const std::size_t at = call.has(2) ? position(call, 2, list.size(), true) : list.size();
  list.insert(list.begin() + static_cast<std::ptrdiff_t>(at), call.input(1));
  return {Value::sequence(std::move(list))};
}

Values erase(Call& call) {
  Values list = call.input(0).elements();
  if (list.empty()) call.refuse(ErrorCode::invalid_argument, "the sequence is empty");
  const std::size_t at = call.has(1) ? position(call, 1, list.size()) : list.size() - 1;
  list.erase(list.begin() + static_cast<std::ptrdiff_t>(at));
  return {Value::sequence(std::move(list))};
}

Values split_to_sequence(Call& call) {
  const std::int64_t axis = axis_in(call.node().integer("axis", 0), call.rank());
  const std::int64_t extent = call.shape()[static_cast<std::size_t>(axis)];
  Axes sizes;
  const auto check_parts = [&](std::int64_t parts) {
    if (parts > most_parts)
      call.refuse(ErrorCode::limit_exceeded, std::to_string(parts) + " parts");
  };
  if (!call.has(1)) {
    check_parts(extent);
    sizes.assign(static_cast<std::size_t>(extent), 1);
  } else if (call.rank(1) == 0) {
    const std::int64_t each = call.integer(1);
    if (each <= 0) call.refuse(ErrorCode::invalid_parameter, "parts must have elements");
    check_parts(extent / each);
    for (std::int64_t at = 0; at < extent; at += each) sizes.push_back(std::min(each, extent - at));
  } else {
    sizes = call.integers(1);
  }
  const bool keeps = call.has(1) || call.node().flag("keepdims", true);
  Values parts;
  std::int64_t start = 0;
  for (const std::int64_t size : sizes) {
    if (size < 0 || start + size > extent)
      call.refuse(ErrorCode::shape_mismatch, "the parts are not the elements of the axis");
    const Shape shape = call.shape().with(static_cast<std::size_t>(axis), size);
    const Tensor part =
        size == 0 ? zeros(shape, call.x().dtype()) : slice_along_axis(call.x(), start, size, axis);
    parts.push_back(call.like(keeps ? part : squeeze(part, Axes{axis})));
    start += size;
  }
  if (start != extent)
    call.refuse(ErrorCode::shape_mismatch, "the parts are not the elements of the axis");
  return {Value::sequence(std::move(parts))};
}

Values concat_from_sequence(Call& call) {
  const Values& list = call.input(0).elements();
  if (list.empty()) call.refuse(ErrorCode::invalid_argument, "the sequence is empty");
  std::vector<Tensor> tensors;
  for (const Value& one : list) tensors.push_back(one.tensor());
  const std::int64_t axis = call.node().integer("axis");
  const Tensor y =
      call.node().flag("new_axis", false) ? stack(tensors, axis) : concatenate(tensors, axis);
  return {Value{y, list[0].type()}};
}

/// The body for each element of the first sequence; tensors are the same for all, other sequences go along.
Values sequence_map(Call& call) {
  const Graph& body = call.node().graph("body");
  const std::size_t count = call.input(0).elements().size();
  std::vector<Values> made(body.outputs.size());
  for (std::size_t at = 0; at < count; ++at) {
    Values inputs;
    for (std::size_t i = 0; i < call.count(); ++i) {
      const Value& input = call.input(i);
      if (input.is_sequence() && at >= input.elements().size())
        call.refuse(ErrorCode::invalid_argument, "the sequences differ in length");
      inputs.push_back(input.is_sequence() ? input.elements()[at] : input);
    }
    Values results = call.walker().run(body, inputs);
    for (std::size_t i = 0; i < results.size(); ++i)
      made[i].push_back(call.keep(std::move(results[i])));
  }
  Values sequences;
  for (Values& list : made) sequences.push_back(Value::sequence(std::move(list)));
  return sequences;
}

Values has_element(Call& call) {
  const bool has =
      call.has(0) && (!call.input(0).is_optional() || call.input(0).element() != nullptr);
  return {Known::integer(has ? 1 : 0, ElementType::boolean)};
}

Values get_element(Call& call) {
  const Value& input = call.input(0);
  if (!input.is_optional()) return {input};
  if (input.element() == nullptr)
    call.refuse(ErrorCode::invalid_argument, "the optional has no value");
  return {*input.element()};
}

}  // namespace

void define(OperatorTable& table) {
  table.add({.name = "SequenceEmpty",
             .since = {11},
             .least_inputs = 0,
             .most_inputs = 0,
             .attributes = {"dtype"},
             .lower = [](Call&) { return Values{Value::sequence({})}; }});
  table.add({.name = "SequenceConstruct",
             .since = {11},
             .most_inputs = Operator::any_number,
             .types = {.operands = {any_type, like(0)}},
             .lower = [](Call& call) {
               Values list;
               for (std::size_t i = 0; i < call.count(); ++i) list.push_back(call.input(i));
               return Values{Value::sequence(std::move(list))};
             }});
  table.add({.name = "SequenceAt",
             .since = {11},
             .least_inputs = 2,
             .most_inputs = 2,
             .types = {.operands = {any_type, index_types}},
             .decides = {1},
             .lower = [](Call& call) {
               const Values& list = call.input(0).elements();
               return Values{list[position(call, 1, list.size())]};
             }});
  table.add({.name = "SequenceInsert",
             .since = {11},
             .least_inputs = 2,
             .most_inputs = 3,
             .types = {.operands = {any_type, any_type, index_types}},
             .decides = {2},
             .lower = &insert});
  table.add({.name = "SequenceErase",
             .since = {11},
             .most_inputs = 2,
             .types = {.operands = {any_type, index_types}},
             .decides = {1},
             .lower = &erase});
  table.add({.name = "SequenceLength",
             .since = {11},
             .types = {.results = {ElementType::s64}},
             .lower = [](Call& call) {
               return Values{
                   Known::integer(static_cast<std::int64_t>(call.input(0).elements().size()))};
             }});
  table.add({.name = "SplitToSequence",
             .since = {11, 24},
             .most_inputs = 2,
             .types = {.operands = {any_type, index_types}},
             .attributes = {"axis", "keepdims"},
             .decides = {1},
             .lower = &split_to_sequence});
  table.add({.name = "ConcatFromSequence",
             .since = {11},
             .attributes = {"axis", "new_axis"},
             .lower = &concat_from_sequence});
  table.add({.name = "SequenceMap",
             .since = {17},
             .most_inputs = Operator::any_number,
             .most_outputs = Operator::any_number,
             .attributes = {"body"},
             .lower = &sequence_map});
  table.add({.name = "Optional",
             .since = {15},
             .least_inputs = 0,
             .attributes = {"type"},
             .lower = [](Call& call) {
               return Values{call.has(0) ? Value::optional(call.input(0)) : Value::no_element()};
             }});
  table.add({.name = "OptionalHasElement",
             .since = {15, 18},
             .least_inputs = 0,
             .types = {.results = {ElementType::boolean}},
             .lower = &has_element});
  table.add({.name = "OptionalGetElement", .since = {15, 18}, .lower = &get_element});
}

}  // namespace stoker::onnx::operators::sequences
