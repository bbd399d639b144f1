// An input read in another order: nothing is computed, so whoever uses a view reads through it.
#include <algorithm>

#include "stoker/pipeline/tensor/graph/batching.hpp"
#include "stoker/pipeline/tensor/graph/kernel_op.hpp"
#include "stoker/pipeline/tensor/graph/primitives.hpp"

namespace stoker::expr::ops::views {
namespace {

std::size_t at(std::int64_t axis) { return static_cast<std::size_t>(axis); }

Error refused(const char* op, ErrorCode code, std::string reason, const TensorSpec& input) {
  return Error{op, code, std::move(reason), {{"input", input.to_string()}}};
}

/// Each axis as it is.
View every_axis(const Shape& output) {
  View view;
  for (std::size_t axis = 0; axis < output.rank(); ++axis) {
    view.axes[axis] = static_cast<int>(axis);
    view.steps[axis] = 1;
  }
  return view;
}

// --- reshape -------------------------------------------------------------------------------------

Result<Specs> infer_reshape(const OpCall& call) {
  STOKER_ASSIGN(const Shape shape, Shape::try_make(call.attributes.integers("shape"), "reshape"));
  if (shape.elements() != call.input().shape.elements())
    return Error{"reshape",
                 ErrorCode::shape_mismatch,
                 "shape mismatch: " + call.input().shape.to_string() + " has " +
                     std::to_string(call.input().shape.elements()) + " elements, " +
                     shape.to_string() + " has " + std::to_string(shape.elements()),
                 {{"input", call.input().to_string()}, {"shape", shape.to_string()}}};
  return Specs{TensorSpec{call.input().dtype, shape}};
}

Values reshape_back(const Backward& b) { return {reshape(b.g(), b.x().shape())}; }

// --- broadcast -----------------------------------------------------------------------------------

Result<Specs> infer_broadcast(const OpCall& call) {
  STOKER_ASSIGN(const Shape shape, Shape::try_make(call.attributes.integers("shape"), "broadcast"));
  const auto& axes = call.attributes.integers("axes");
  const Shape& from = call.input().shape;
  bool fits = axes.size() == from.rank();
  for (std::size_t i = 0; fits && i < axes.size(); ++i)
    fits = axes[i] >= 0 && at(axes[i]) < shape.rank() && (i == 0 || axes[i] > axes[i - 1]) &&
           (from[i] == 1 || from[i] == shape[at(axes[i])]);
  if (!fits)
    return Error{
        "broadcast",
        ErrorCode::shape_mismatch,
        "shape mismatch: " + from.to_string() + " does not broadcast to " + shape.to_string(),
        {{"input", call.input().to_string()}, {"shape", shape.to_string()}}};
  return Specs{TensorSpec{call.input().dtype, shape}};
}

View view_broadcast(const OpCall& call, const Shape&) {
  View view;
  const auto& axes = call.attributes.integers("axes");
  for (std::size_t i = 0; i < axes.size(); ++i) {
    if (call.input().shape[i] == 1) continue;
    view.axes[at(axes[i])] = static_cast<int>(i);
    view.steps[at(axes[i])] = 1;
  }
  return view;
}

Values sum_back(const Backward& b) {
  const auto& axes = b.attributes.integers("axes");
  const Shape& from = b.x().shape();
  std::vector<std::int64_t> added;
  std::size_t next = 0;
  for (std::size_t axis = 0; axis < b.y().shape().rank(); ++axis) {
    const bool own = next < axes.size() && at(axes[next]) == axis;
    if (!own || (from[next] == 1 && b.y().shape()[axis] != 1))
      added.push_back(static_cast<std::int64_t>(axis));
    if (own) ++next;
  }
  return {reshape(added.empty() ? b.g() : sum(b.g(), added, false), from)};
}

// --- transpose -----------------------------------------------------------------------------------

Result<Specs> infer_transpose(const OpCall& call) {
  const auto& axes = call.attributes.integers("axes");
  const Shape& from = call.input().shape;
  std::vector<bool> seen(from.rank());
  std::vector<std::int64_t> extents;
  bool fits = axes.size() == from.rank();
  for (std::size_t i = 0; fits && i < axes.size(); ++i) {
    fits = axes[i] >= 0 && at(axes[i]) < from.rank() && !seen[at(axes[i])];
    if (!fits) break;
    seen[at(axes[i])] = true;
    extents.push_back(from[at(axes[i])]);
  }
  if (!fits)
    return refused("transpose", ErrorCode::invalid_parameter,
                   "axes names each axis of the input once", call.input());
  STOKER_ASSIGN(const Shape shape, Shape::try_make(extents, "transpose"));
  return Specs{TensorSpec{call.input().dtype, shape}};
}

View view_transpose(const OpCall& call, const Shape&) {
  View view;
  const auto& axes = call.attributes.integers("axes");
  for (std::size_t i = 0; i < axes.size(); ++i) {
    view.axes[i] = static_cast<int>(axes[i]);
    view.steps[i] = 1;
  }
  return view;
}

Values transpose_back(const Backward& b) {
  const auto& axes = b.attributes.integers("axes");
  std::vector<std::int64_t> inverse(axes.size());
  for (std::size_t i = 0; i < axes.size(); ++i) inverse[at(axes[i])] = static_cast<std::int64_t>(i);
  return {transpose(b.g(), inverse)};
}

// --- slice ---------------------------------------------------------------------------------------

/// `length` counts elements of the input that are spanned; every stride-th is taken.
Result<Specs> infer_slice(const OpCall& call) {
  const auto& starts = call.attributes.integers("starts");
  const auto& lengths = call.attributes.integers("lengths");
  const auto& strides = call.attributes.integers("strides");
  const Shape& from = call.input().shape;
  if (starts.size() != from.rank() || lengths.size() != from.rank() ||
      strides.size() != from.rank())
    return refused("slice", ErrorCode::invalid_parameter,
                   "starts, lengths and strides have one entry for each axis", call.input());
  std::vector<std::int64_t> extents;
  for (std::size_t axis = 0; axis < from.rank(); ++axis) {
    if (strides[axis] < 1 || lengths[axis] < 0 || starts[axis] < 0 || lengths[axis] > from[axis] ||
        starts[axis] > from[axis] - lengths[axis])
      return Error{"slice",
                   ErrorCode::invalid_parameter,
                   "axis " + std::to_string(axis) + " has " + std::to_string(from[axis]) +
                       " elements; asked for " + std::to_string(lengths[axis]) + " from " +
                       std::to_string(starts[axis]) + " on, stride " +
                       std::to_string(strides[axis]),
                   {{"input", call.input().to_string()}, {"axis", std::to_string(axis)}}};
    extents.push_back(lengths[axis] == 0 ? 0 : (lengths[axis] - 1) / strides[axis] + 1);
  }
  STOKER_ASSIGN(const Shape shape, Shape::try_make(extents, "slice"));
  return Specs{TensorSpec{call.input().dtype, shape}};
}

View view_slice(const OpCall& call, const Shape& output) {
  View view = every_axis(output);
  const auto& starts = call.attributes.integers("starts");
  const auto& steps = call.attributes.integers("strides");
  std::ranges::copy(starts, view.starts.begin());
  // What is not stepped over has no step; the others are shorter than their axes.
  for (std::size_t axis = 0; axis < output.rank(); ++axis)
    view.steps[axis] = output[axis] > 1 ? steps[axis] : 1;
  return view;
}

Values pad_back(const Backward& b) {
  const auto& starts = b.attributes.integers("starts");
  const auto& strides = b.attributes.integers("strides");
  const Shape& from = b.x().shape();
  std::vector<std::int64_t> high(from.rank());
  std::vector<std::int64_t> interior(from.rank());
  for (std::size_t axis = 0; axis < from.rank(); ++axis) {
    const std::int64_t taken = b.g().shape()[axis];
    interior[axis] = taken > 1 ? strides[axis] - 1 : 0;
    const std::int64_t spanned = taken == 0 ? 0 : (taken - 1) * strides[axis] + 1;
    high[axis] = from[axis] - starts[axis] - spanned;
  }
  return {pad(b.g(), constant(0, b.g().dtype()), starts, high, interior)};
}

// --- reverse -------------------------------------------------------------------------------------

Result<Specs> infer_reverse(const OpCall& call) {
  for (const std::int64_t axis : call.attributes.integers("axes"))
    if (axis < 0 || at(axis) >= call.input().shape.rank())
      return refused("reverse", ErrorCode::invalid_parameter,
                     "there is no axis " + std::to_string(axis), call.input());
  return Specs{call.input()};
}

View view_reverse(const OpCall& call, const Shape& output) {
  View view = every_axis(output);
  for (const std::int64_t axis : call.attributes.integers("axes")) {
    view.starts[at(axis)] = output[at(axis)] - 1;
    view.steps[at(axis)] = -1;
  }
  return view;
}

Values reverse_back(const Backward& b) { return {reverse(b.g(), b.attributes.integers("axes"))}; }

// --- of all elements at once ---------------------------------------------------------------------

Values batch_reshape(const Batch& b) {
  const auto& extents = b.attributes.integers("shape");
  return apply(b.op, {b.x()}, {{"shape", prefixed(b.size, extents)}});
}

Values batch_broadcast(const Batch& b) {
  const auto& extents = b.attributes.integers("shape");
  const auto& axes = b.attributes.integers("axes");
  return apply(
      b.op, {b.x()},
      {{"shape", prefixed(b.size, extents)}, {"axes", prefixed(0, shifted(axes, extents.size()))}});
}

Values batch_transpose(const Batch& b) {
  const auto& axes = b.attributes.integers("axes");
  return apply(b.op, {b.x()}, {{"axes", prefixed(0, shifted(axes, axes.size()))}});
}

Values batch_slice(const Batch& b) {
  return apply(b.op, {b.x()},
               {{"starts", prefixed(0, b.attributes.integers("starts"))},
                {"lengths", prefixed(b.size, b.attributes.integers("lengths"))},
                {"strides", prefixed(1, b.attributes.integers("strides"))}});
}

Values batch_reverse(const Batch& b) {
  return apply(b.op, {b.x()},
               {{"axes", shifted(b.attributes.integers("axes"), b.x().shape().rank() - 1)}});
}

Op view_op(const char* name, const char* summary, Result<Specs> (*infer)(const OpCall&),
           View (*view)(const OpCall&, const Shape&), Values (*gradient)(const Backward&),
           Values (*batch)(const Batch&)) {
  Op op;
  op.name = name;
  op.kind = view ? OpKind::view : OpKind::reshape;
  op.summary = summary;
  op.infer = infer;
  if (view) op.view = view;
  op.gradient = gradient;
  op.batch = batch;
  return op;
}

}  // namespace

void define(OpTable& table) {
  table.add(view_op("reshape", "the same elements in another shape", &infer_reshape, nullptr,
                    &reshape_back, &batch_reshape));
  table.add(view_op("broadcast", "x repeated along new axes and along axes of extent 1",
                    &infer_broadcast, &view_broadcast, &sum_back, &batch_broadcast));
  table.add(view_op("transpose", "x with its axes in another order", &infer_transpose,
                    &view_transpose, &transpose_back, &batch_transpose));
  Op copied = kernel_op("transpose_copy", "transpose", &transpose_back);
  copied.summary = "x with its axes in another order, in memory of its own";
  copied.batch = &batch_transpose;
  table.add(std::move(copied));
  table.add(view_op("slice", "every stride-th element of a box of x", &infer_slice, &view_slice,
                    &pad_back, &batch_slice));
  table.add(view_op("reverse", "x in reverse order along axes", &infer_reverse, &view_reverse,
                    &reverse_back, &batch_reverse));
}

}  // namespace stoker::expr::ops::views
