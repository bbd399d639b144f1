// Elements by index.
#include "stoker/api/tensor/views/indexing.hpp"
#include <algorithm>

#include "stoker/api/onnx/core/host_rules.hpp"
#include "stoker/api/tensor/core/creation.hpp"
#include "stoker/api/tensor/math/elementwise.hpp"
#include "stoker/api/tensor/views/manipulation.hpp"

namespace stoker::onnx::operators::indexing {
namespace {

/// Negative indices count from the end.
Tensor from_front(const Tensor& indices, std::int64_t extent) {
  return select(less(indices, 0), indices + full_like(indices, extent), indices);
}

std::int64_t extent_of(const Call& call, std::int64_t axis, std::size_t i = 0) {
  return call.shape(i)[static_cast<std::size_t>(axis)];
}

/// The device takes the nearest element for an index out of range; where it is known, it is an error.
void check_range(const Call& call, const Value& indices, std::int64_t extent) {
  if (!indices.is_known() || indices.known().elements() > 4096) return;
  for (const std::int64_t index : indices.known().to_integers())
    if (index < -extent || index >= extent)
      call.refuse(ErrorCode::invalid_argument,
                  "index " + std::to_string(index) + " of " + std::to_string(extent) + " elements");
}

/// Indices for elements along an axis have the operand's axes, and are no more along the others.
void check_lines(const Call& call, std::int64_t axis) {
  if (call.rank(1) != call.rank())
    call.refuse(
        ErrorCode::shape_mismatch,
        call.input(1).to_string() + " does not have the axes of " + call.input(0).to_string());
  for (std::int64_t i = 0; i < call.rank(); ++i)
    if (i != axis && extent_of(call, i, 1) > extent_of(call, i))
      call.refuse(ErrorCode::shape_mismatch,
                  call.input(1).to_string() + " is larger than " + call.input(0).to_string());
  if (extent_of(call, axis) == 0 && call.shape(1).elements() > 0)
    call.refuse(ErrorCode::invalid_argument, "an index of an empty axis");
  check_range(call, call.input(1), extent_of(call, axis));
}

Values gather_rule(Call& call) {
  const std::int64_t axis = axis_in(call.node().integer("axis", 0), call.rank());
  const std::int64_t extent = extent_of(call, axis);
  check_range(call, call.input(1), extent);
  return {call.like(take(call.x(), from_front(call.x(1), extent), axis))};
}

std::optional<Values> gather_on_host(Call& call) {
  const std::int64_t axis = axis_in(call.node().integer("axis", 0), call.rank());
  const Known x = call.input(0).known();
  const Known indices = call.input(1).known();
  const std::int64_t extent = extent_of(call, axis);
  check_range(call, call.input(1), extent);
  std::int64_t before = 1;
  std::int64_t behind = 1;
  Axes extents;
  for (std::int64_t i = 0; i < call.rank(); ++i) {
    if (i < axis) before *= extent_of(call, i);
    if (i > axis) behind *= extent_of(call, i);
    if (i != axis)
      extents.push_back(extent_of(call, i));
    else
      extents.insert(extents.end(), indices.shape().begin(), indices.shape().end());
  }
  const Shape shape = shape_of(extents);
  if (!is_small(shape)) return {};
  std::vector<std::int64_t> positions;
  for (std::int64_t outer = 0; outer < before; ++outer)
    for (const std::int64_t index : indices.to_integers())
      for (std::int64_t inner = 0; inner < behind; ++inner)
        positions.push_back((outer * extent + (index < 0 ? index + extent : index)) * behind +
                            inner);
  return Values{x.taken(positions, shape)};
}

Values gather_elements(Call& call) {
  const std::int64_t axis = axis_in(call.node().integer("axis", 0), call.rank());
  check_lines(call, axis);
  const Tensor indices = from_front(call.x(1), extent_of(call, axis));
  Tensor x = call.x();
  // The indices may be fewer along the other axes: then only these lines are read.
  for (std::int64_t i = 0; i < call.rank(); ++i)
    if (i != axis && extent_of(call, i, 1) != extent_of(call, i))
      x = slice_along_axis(x, 0, extent_of(call, i, 1), i);
  return {call.like(take_along_axis(x, indices, axis))};
}

/// As check_range, for each coordinate along the last axis.
void check_coordinates(const Call& call, const Axes& extents) {
  if (call.shape(1).elements() > 0 && std::ranges::find(extents, 0) != extents.end())
    call.refuse(ErrorCode::invalid_argument, "an index of an empty axis");
  const Value& indices = call.input(1);
  if (!indices.is_known() || indices.known().elements() > 4096) return;
  const auto all = indices.known().to_integers();
  for (std::size_t i = 0; i < all.size(); ++i) {
    const std::int64_t extent = extents[i % extents.size()];
    if (all[i] < -extent || all[i] >= extent)
      call.refuse(ErrorCode::invalid_argument, "index " + std::to_string(all[i]) + " of " +
                                                   std::to_string(extent) + " elements");
  }
}

/// Coordinates in the last axis, from `first` on: those below 0 count from the ends of the axes.
Tensor coordinates_from_front(const Call& call, std::int64_t batch) {
  const Shape& shape = call.shape();
  if (call.rank(1) == 0 || batch < 0 || batch >= call.rank(1) || batch > call.rank() ||
      call.shape(1)[call.shape(1).rank() - 1] > call.rank() - batch)
    call.refuse(ErrorCode::shape_mismatch,
                "coordinates " + call.input(1).to_string() + " for " + call.input(0).to_string());
  const auto first = static_cast<std::size_t>(batch);
  const Tensor indices = call.x(1);
  std::vector<std::int64_t> extents;
  const auto n = static_cast<std::size_t>(indices.shape()[indices.rank() - 1]);
  for (std::size_t i = 0; i < n; ++i) extents.push_back(shape[first + i]);
  check_coordinates(call, extents);
  const Tensor ends = as_type(Known::integers(extents).tensor(), indices.dtype());
  return select(less(indices, 0), indices + ends, indices);
}

Values gather_nd(Call& call) {
  const std::int64_t batch = call.node().integer("batch_dims", 0);
  Tensor indices = coordinates_from_front(call, batch);
  // The place in the batch becomes further coordinates.
  Axes extents = extents_of(indices.shape());
  extents.back() = 1;
  std::vector<Tensor> all;
  for (std::int64_t i = 0; i < batch; ++i)
    all.push_back(iota_along(shape_of(extents), i, indices.dtype()));
  all.push_back(indices);
  if (all.size() > 1) indices = concatenate(all, -1);
  return {call.like(gather(call.x(), indices))};
}

enum class Reduction { none, add, multiply, maximum, minimum };
Reduction reduction_of(const Call& call) {
  const std::string name = call.node().text("reduction", "none");
  if (name == "none") return Reduction::none;
  if (name == "add") return Reduction::add;
  if (name == "mul") return Reduction::multiply;
  if (name == "max") return Reduction::maximum;
  if (name == "min") return Reduction::minimum;
  call.refuse(ErrorCode::invalid_parameter, "reduction '" + name + "'");
}
Tensor scattered(const Call& call, const Tensor& target, const Tensor& indices,
                 const Tensor& updates) {
  Reduction reduction = reduction_of(call);
  // Truths are 0 and 1; a sum of them is true if any is, as in NumPy.
  if (reduction == Reduction::add && call.input(0).type() == ElementType::boolean)
    reduction = Reduction::maximum;
  switch (reduction) {
    case Reduction::add: return indexed_add(target, indices, updates);
    case Reduction::multiply: return indexed_multiply(target, indices, updates);
    case Reduction::maximum: return indexed_max(target, indices, updates);
    case Reduction::minimum: return indexed_min(target, indices, updates);
    case Reduction::none: break;
  }
  return indexed_put(target, indices, updates);
}

Values scatter_elements(Call& call) {
  const std::int64_t axis = axis_in(call.node().integer("axis", 0), call.rank());
  const Shape& shape = call.shape(1);
  check_lines(call, axis);
  const Tensor indices = from_front(call.x(1), extent_of(call, axis));
  if (shape.elements() == 0) return {call.input(0)};
  std::vector<Tensor> coordinates;
  for (std::int64_t i = 0; i < call.rank(); ++i)
    coordinates.push_back(
        new_axis(i == axis ? indices : iota_along(shape, i, indices.dtype()), -1));
  const Tensor flat = reshape(concatenate(coordinates, -1), {shape.elements(), call.rank()});
  return {call.like(scattered(call, call.x(), flat, reshape(call.x(2), {shape.elements()})))};
}

Values scatter_nd(Call& call) {
  const Tensor indices = coordinates_from_front(call, 0);
  const Shape& shape = indices.shape();
  const std::int64_t n = shape[shape.rank() - 1];
  const std::int64_t count = n == 0 ? 1 : shape.elements() / n;
  if (call.shape(2).elements() == 0) return {call.input(0)};
  Axes extents{count};
  for (std::int64_t i = n; i < call.rank(); ++i) extents.push_back(extent_of(call, i));
  return {call.like(
      scattered(call, call.x(), reshape(indices, {count, n}), reshape(call.x(2), extents)))};
}

Values one_hot(Call& call) {
  const double wanted = call.real(1);
  if (!(wanted >= 0 && wanted <= 9.0e15))
    call.refuse(ErrorCode::invalid_argument, "depth must be one number, 0 or more");
  const auto depth = static_cast<std::int64_t>(wanted);
  const std::int64_t rank = call.rank() + 1;
  const std::int64_t axis = axis_in(call.node().integer("axis", -1), rank);
  const Tensor given = new_axis(as_type(call.x(0), DType::s64), axis);
  const Tensor indices = from_front(given, depth);
  Axes extents(static_cast<std::size_t>(rank), 1);
  extents[static_cast<std::size_t>(axis)] = depth;
  const Tensor hot = equal(indices, iota_along(shape_of(extents), axis, DType::s64));
  const Tensor values = call.x(2);
  if (values.size() != 2)
    call.refuse(ErrorCode::shape_mismatch,
                "values must be [off, on], got " + call.input(2).to_string());
  const Tensor off = reshape(slice_along_axis(values, 0, 1), Shape{});
  const Tensor on = reshape(slice_along_axis(values, 1, 1), Shape{});
  return {call.like(select(hot, on, off), 2)};
}

/// The first `lengths` elements of each line come backwards.
Values reverse_sequence(Call& call) {
  const std::int64_t batch_axis = axis_in(call.node().integer("batch_axis", 1), call.rank());
  const std::int64_t time_axis = axis_in(call.node().integer("time_axis", 0), call.rank());
  Axes extents(call.shape().rank(), 1);
  extents[static_cast<std::size_t>(batch_axis)] = extent_of(call, batch_axis);
  const Tensor lengths = reshape(as_type(call.x(1), DType::s32), extents);
  const Tensor time = iota_along(call.shape(), time_axis, DType::s32);
  const Tensor from = select(less(time, lengths), lengths - 1 - time, time);
  return {call.like(take_along_axis(call.x(), from, time_axis))};
}

Values tensor_scatter(Call& call) {
  const std::int64_t axis = axis_in(call.node().integer("axis", -2), call.rank());
  const Shape& shape = call.shape(1);
  bool fits = call.rank(1) == call.rank();
  for (std::int64_t i = 0; fits && i < call.rank(); ++i)
    fits = i == axis ? extent_of(call, i) >= shape[static_cast<std::size_t>(i)]
                     : extent_of(call, i) == shape[static_cast<std::size_t>(i)];
  if (!fits)
    call.refuse(ErrorCode::shape_mismatch,
                "updates " + call.input(1).to_string() + " for " + call.input(0).to_string());
  const std::int64_t extent = extent_of(call, axis);
  const std::string mode = call.node().text("mode", "linear");
  Axes extents(shape.rank(), 1);
  extents[0] = shape[0];
  Tensor at = iota_along(shape, axis, DType::s64);
  if (call.has(2)) at = at + reshape(as_type(call.x(2), DType::s64), extents);
  if (mode == "circular")
    at = remainder(at, full_like(at, extent));
  else if (mode != "linear")
    call.refuse(ErrorCode::invalid_parameter, "mode '" + mode + "'");
  std::vector<Tensor> coordinates;
  for (std::int64_t i = 0; i < call.rank(); ++i)
    coordinates.push_back(new_axis(i == axis ? at : iota_along(shape, i, DType::s64), -1));
  const Tensor flat = reshape(concatenate(coordinates, -1), {shape.elements(), call.rank()});
  return {call.like(indexed_put(call.x(), flat, reshape(call.x(1), {shape.elements()})))};
}

}  // namespace

void define(OperatorTable& table) {
  table.add({.name = "Gather",
             .since = {1, 11, 13},
             .least_inputs = 2,
             .most_inputs = 2,
             .types = indexed(any_type),
             .attributes = {"axis"},
             .host = &gather_on_host,
             .lower = &gather_rule,
             .moves = true});
  table.add({.name = "GatherElements",
             .since = {11, 13},
             .least_inputs = 2,
             .most_inputs = 2,
             .types = indexed(any_type),
             .attributes = {"axis"},
             .lower = &gather_elements,
             .moves = true});
  table.add({.name = "GatherND",
             .since = {11, 12, 13},
             .least_inputs = 2,
             .most_inputs = 2,
             .types = indexed(any_type),
             .attributes = {"batch_dims"},
             .lower = &gather_nd,
             .moves = true});
  for (const char* name : {"Scatter", "ScatterElements"})
    table.add({.name = name,
               .since = {9, 11, 13, 16, 18},
               .least_inputs = 3,
               .most_inputs = 3,
               .types = {.operands = {wide_types, index_types, like(0)}, .results = {like(0)}},
               .attributes = {"axis", "reduction"},
               .lower = &scatter_elements});
  table.add({.name = "ScatterND",
             .since = {11, 13, 16, 18},
             .least_inputs = 3,
             .most_inputs = 3,
             .types = {.operands = {wide_types, index_types, like(0)}, .results = {like(0)}},
             .attributes = {"reduction"},
             .lower = &scatter_nd});
  table.add({.name = "OneHot",
             .since = {9, 11},
             .least_inputs = 3,
             .most_inputs = 3,
             .types = {.operands = {number_types, number_types, wide_types}, .results = {like(2)}},
             .attributes = {"axis"},
             .decides = {1},
             .lower = &one_hot});
  table.add({.name = "ReverseSequence",
             .since = {10},
             .least_inputs = 2,
             .most_inputs = 2,
             .types = indexed(any_type),
             .attributes = {"batch_axis", "time_axis"},
             .lower = &reverse_sequence,
             .moves = true});
  table.add({.name = "TensorScatter",
             .since = {24},
             .least_inputs = 2,
             .most_inputs = 3,
             .types = {.operands = {any_type, like(0), index_types}, .results = {like(0)}},
             .attributes = {"axis", "mode"},
             .lower = &tensor_scatter});
}

}  // namespace stoker::onnx::operators::indexing
