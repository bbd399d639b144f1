// Reductions over axes, places of extremes, running sums, sorting, softmax.
#include <algorithm>
#include <numeric>

#include "stoker/api/onnx/core/host_rules.hpp"
#include "stoker/api/tensor/core/constants.hpp"
#include "stoker/api/tensor/core/creation.hpp"
#include "stoker/api/tensor/math/elementwise.hpp"
#include "stoker/api/tensor/math/ordering.hpp"
#include "stoker/api/tensor/math/reductions.hpp"
#include "stoker/api/tensor/views/manipulation.hpp"

namespace stoker::onnx::operators::reductions {
namespace {

using Reduction = Tensor (*)(const Tensor& x, const Reduce& over);

/// Which axes, or nothing if the operand passes unchanged.
std::optional<Axes> axes_of(Call& call) {
  const auto given = call.integers(1, "axes");
  if (given && !given->empty()) {
    Axes axes = axes_in(*given, call.rank());
    std::ranges::sort(axes);
    return axes;
  }
  if (call.node().flag("noop_with_empty_axes", false)) return {};
  Axes all(call.shape().rank());
  std::iota(all.begin(), all.end(), 0);
  return all;
}

Shape reduced_shape(const Shape& shape, const Axes& axes, bool keep) {
  Axes extents;
  for (std::size_t i = 0; i < shape.rank(); ++i) {
    const bool goes = std::ranges::find(axes, static_cast<std::int64_t>(i)) != axes.end();
    if (!goes) extents.push_back(shape[i]);
    if (goes && keep) extents.push_back(1);
  }
  return shape_of(extents);
}

struct Rule {
  Reduction reduce;
  /// Of nothing; null: the reduction has it.
  Tensor (*empty)(DType dtype) = nullptr;
  /// What remains to be done with a single element.
  Tensor (*alone)(const Tensor& x) = nullptr;
};

void add_reduction(OperatorTable& table, const char* name, std::vector<int> since, Rule rule,
                   TypeSet types = sum_types) {
  table.add({.name = name,
             .since = std::move(since),
             .most_inputs = 2,
             .types = indexed(types),
             .attributes = {"axes", "keepdims", "noop_with_empty_axes"},
             .decides = {1},
             .lower = [rule](Call& call) -> Values {
               const auto axes = axes_of(call);
               if (!axes) return {call.like(rule.alone ? rule.alone(call.x()) : call.x())};
               const Reduce over{.axes = *axes, .keepdims = call.node().flag("keepdims", true)};
               const Shape shape = reduced_shape(call.shape(), *axes, over.keepdims);
               if (rule.empty && call.shape().elements() == 0)
                 return {call.like(broadcast(rule.empty(call.x().dtype()), shape))};
               if (axes->empty()) return {call.like(rule.alone ? rule.alone(call.x()) : call.x())};
               return {call.like(rule.reduce(call.x(), over))};
             }});
}

void define_reductions(OperatorTable& table) {
  const std::vector<int> since{1, 11, 13, 18};
  constexpr TypeSet extreme_types = number_types | ElementType::boolean;
  add_reduction(table, "ReduceSum", {1, 11, 13}, {&sum});
  add_reduction(table, "ReduceMean", since, {&mean});
  add_reduction(table, "ReduceProd", since, {&product});
  add_reduction(table, "ReduceMax", {1, 11, 12, 13, 18, 20}, {&reduce_max, &constants::min},
                extreme_types);
  add_reduction(table, "ReduceMin", {1, 11, 12, 13, 18, 20}, {&reduce_min, &constants::max},
                extreme_types);
  add_reduction(table, "ReduceL1", since,
                {[](const Tensor& x, const Reduce& over) { return sum(abs(x), over); }, nullptr,
                 [](const Tensor& x) { return abs(x); }});
  add_reduction(table, "ReduceL2", since,
                {[](const Tensor& x, const Reduce& over) { return sqrt(sum(x * x, over)); },
                 nullptr, [](const Tensor& x) { return abs(x); }});
  add_reduction(table, "ReduceLogSum", since,
                {[](const Tensor& x, const Reduce& over) { return log(sum(x, over)); }, nullptr,
                 [](const Tensor& x) { return log(x); }});
  add_reduction(table, "ReduceLogSumExp", since,
                {[](const Tensor& x, const Reduce& over) { return logsumexp(x, over); },
                 [](DType dtype) { return constants::neg_infinity(dtype); }});
  add_reduction(table, "ReduceSumSquare", since,
                {[](const Tensor& x, const Reduce& over) { return sum(x * x, over); }, nullptr,
                 [](const Tensor& x) { return x * x; }});
}

void add_arg(OperatorTable& table, const char* name, Tensor (*f)(const Tensor&, const Arg&)) {
  table.add({.name = name,
             .since = {1, 11, 12, 13},
             .types = {.operands = {number_types}, .results = {ElementType::s64}},
             .attributes = {"axis", "keepdims", "select_last_index"},
             .lower = [f](Call& call) {
               const Arg over{.axis = axis_in(call.node().integer("axis", 0), call.rank()),
                              .keepdims = call.node().flag("keepdims", true),
                              .ties = call.node().flag("select_last_index", false) ? TieBreak::high
                                                                                   : TieBreak::low};
               return Values{Value{as_type(f(call.x(), over), DType::s64)}};
             }});
}

Values cumulative(Call& call, Tensor (*f)(const Tensor&, std::int64_t, bool), double neutral) {
  const std::int64_t axis = axis_in(call.integer(1), call.rank());
  const bool reverse = call.node().flag("reverse", false);
  Tensor x = call.x();
  if (call.node().flag("exclusive", false)) {
    // Each sum begins one element later, with nothing.
    std::vector<Padding> shift(call.shape().rank());
    shift[static_cast<std::size_t>(axis)] =
        reverse ? Padding{.low = -1, .high = 1} : Padding{.low = 1, .high = -1};
    x = pad(x, full(Shape{}, neutral, x.dtype()), shift);
  }
  return {call.like(f(x, axis, reverse))};
}

/// The first k in order along an axis.
Values top_k_rule(Call& call) {
  const std::int64_t axis = axis_in(call.node().integer("axis", -1), call.rank());
  const std::int64_t k = call.version() < 10 ? call.node().integer("k") : call.integer(1);
  const std::int64_t extent = call.shape()[static_cast<std::size_t>(axis)];
  if (k < 0 || k > extent)
    call.refuse(ErrorCode::invalid_parameter,
                "k is " + std::to_string(k) + " of " + std::to_string(extent) + " elements");
  const bool largest = call.node().flag("largest", true);
  const bool is_last = axis + 1 == call.rank();
  if (largest && is_last && k > 0 && k < extent) {
    const TopK top = top_k(call.x(), k);
    return {call.like(top.values), Value{as_type(top.indices, DType::s64)}};
  }
  const Direction direction = largest ? Direction::descending : Direction::ascending;
  const auto first = [&](const Tensor& all) {
    const Shape shape = call.shape().with(static_cast<std::size_t>(axis), k);
    return k == 0 ? zeros(shape, all.dtype()) : slice_along_axis(all, 0, k, axis);
  };
  return {call.like(first(sort(call.x(), axis, direction))),
          Value{as_type(first(argsort(call.x(), axis, direction)), DType::s64)}};
}

/// Before version 13 the axes from `axis` on count as one.
Values along_axis(Call& call, Tensor (*f)(const Tensor&, std::int64_t)) {
  if (call.version() >= 13)
    return {call.like(f(call.x(), axis_in(call.node().integer("axis", -1), call.rank())))};
  std::int64_t axis = call.node().integer("axis", 1);
  if (axis < 0) axis += call.rank();
  if (axis < 0 || axis > call.rank())
    call.refuse(ErrorCode::invalid_parameter, "axis out of range");
  std::int64_t rows = 1;
  for (std::int64_t i = 0; i < axis; ++i) rows *= call.shape()[static_cast<std::size_t>(i)];
  const std::int64_t all = call.shape().elements();
  const Tensor flat = reshape(call.x(), {rows, rows == 0 ? 0 : all / rows});
  return {call.like(reshape(f(flat, 1), call.shape()))};
}

Tensor hardmax(const Tensor& x, std::int64_t axis) {
  const Tensor first = argmax(x, {.axis = axis, .keepdims = true});
  return as_type(equal(iota_along(x.shape(), axis), first), x.dtype());
}

void add_along_axis(OperatorTable& table, const char* name,
                    Tensor (*f)(const Tensor&, std::int64_t)) {
  table.add({.name = name,
             .since = {1, 11, 13},
             .types = alike(float_types),
             .attributes = {"axis"},
             .lower = [f](Call& call) { return along_axis(call, f); }});
}

}  // namespace

void define(OperatorTable& table) {
  define_reductions(table);
  add_arg(table, "ArgMax", &argmax);
  add_arg(table, "ArgMin", &argmin);
  table.add({.name = "CumSum",
             .since = {11, 14},
             .least_inputs = 2,
             .most_inputs = 2,
             .types = indexed(sum_types),
             .attributes = {"exclusive", "reverse"},
             .decides = {1},
             .lower = [](Call& call) { return cumulative(call, &cumulative_sum, 0); }});
  table.add({.name = "CumProd",
             .since = {26},
             .least_inputs = 2,
             .most_inputs = 2,
             .types = indexed(sum_types),
             .attributes = {"exclusive", "reverse"},
             .decides = {1},
             .lower = [](Call& call) { return cumulative(call, &cumulative_product, 1); }});
  table.add(
      {.name = "TopK",
       .since = {1, 10, 11, 24},
       .most_inputs = 2,
       .most_outputs = 2,
       .types = {.operands = {number_types, index_types}, .results = {like(0), ElementType::s64}},
       .attributes = {"axis", "k", "largest", "sorted"},
       .decides = {1},
       .lower = &top_k_rule});
  add_along_axis(table, "Softmax", &softmax);
  add_along_axis(table, "LogSoftmax", &log_softmax);
  add_along_axis(table, "Hardmax", &hardmax);
}

}  // namespace stoker::onnx::operators::reductions
