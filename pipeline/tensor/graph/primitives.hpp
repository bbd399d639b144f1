// Asking for primitive operations, for gradient rules and for the functions of api/ that are made of
// several. No promotion: operands have one dtype already. Shapes broadcast where the operation is
// element-wise. All throw what the shape rules say. Complex operands: complex.hpp.
//
// Threads: any.
#pragma once

#include "stoker/pipeline/tensor/graph/op.hpp"

namespace stoker::expr {

/// A function of single elements by its name, "add".
[[nodiscard]] Value scalar(std::string_view name, Values inputs);

// Leaves ------------------------------------------------------------------------------------------
/// One number in a shape, rounded to the dtype.
[[nodiscard]] Value constant(double number, DType dtype, const Shape& shape = {});
/// An integer that a double may not hold, wrapped to the dtype.
[[nodiscard]] Value integer_constant(std::uint64_t number, DType dtype, const Shape& shape = {});
/// The number if `value` is a constant.
[[nodiscard]] std::optional<double> constant_of(const Value& value);
/// The number of a constant's attributes.
[[nodiscard]] double constant_number(const Attributes& attributes, DType dtype);
[[nodiscard]] Value zeros_like(const Value& value);
[[nodiscard]] Value ones_like(const Value& value);
/// 0, 1, … along `axis`; without one, over all elements in row-major order.
[[nodiscard]] Value iota(const TensorSpec& spec, std::optional<std::size_t> axis = {});
/// A value to be given later.
[[nodiscard]] Value parameter(const TensorSpec& spec);

// Element by element --------------------------------------------------------------------------------
[[nodiscard]] inline Value operator+(const Value& a, const Value& b) {
  return scalar("add", {a, b});
}
[[nodiscard]] inline Value operator-(const Value& a, const Value& b) {
  return scalar("subtract", {a, b});
}
[[nodiscard]] inline Value operator*(const Value& a, const Value& b) {
  return scalar("multiply", {a, b});
}
[[nodiscard]] inline Value operator/(const Value& a, const Value& b) {
  return scalar("divide", {a, b});
}
[[nodiscard]] inline Value operator-(const Value& a) { return scalar("negate", {a}); }
[[nodiscard]] Value operator+(const Value& a, double b);
[[nodiscard]] Value operator-(const Value& a, double b);
[[nodiscard]] Value operator*(const Value& a, double b);
[[nodiscard]] Value operator/(const Value& a, double b);
[[nodiscard]] Value operator-(double a, const Value& b);
[[nodiscard]] Value operator/(double a, const Value& b);
/// The elements as another dtype; the value itself if it has it.
[[nodiscard]] Value cast(const Value& x, DType dtype);
[[nodiscard]] Value select(const Value& condition, const Value& yes, const Value& no);

// Shapes ------------------------------------------------------------------------------------------
[[nodiscard]] Value reshape(const Value& x, const Shape& shape);
/// Axis i of `x` becomes axis axes[i] of the result; the others repeat.
[[nodiscard]] Value broadcast_axes(const Value& x, const Shape& shape,
                                   std::span<const std::int64_t> axes);
/// NumPy's rule: aligned right.
[[nodiscard]] Value broadcast_to(const Value& x, const Shape& shape);
/// Axis i of the result is axis axes[i] of `x`.
[[nodiscard]] Value transpose(const Value& x, std::span<const std::int64_t> axes);
/// The last two axes exchanged.
[[nodiscard]] Value matrix_transpose(const Value& x);
[[nodiscard]] Value slice(const Value& x, std::span<const std::int64_t> starts,
                          std::span<const std::int64_t> lengths,
                          std::span<const std::int64_t> strides);
/// `length` elements from `start` on along one axis, counted from the front.
[[nodiscard]] Value part(const Value& x, std::int64_t axis, std::int64_t start,
                         std::int64_t length);
[[nodiscard]] Value reverse(const Value& x, std::span<const std::int64_t> axes);
/// `value` around the elements and `interior` times between them; negative edges crop.
[[nodiscard]] Value concatenate(std::span<const Value> values, std::int64_t axis);
[[nodiscard]] Value pad(const Value& x, const Value& value, std::span<const std::int64_t> low,
                        std::span<const std::int64_t> high, std::span<const std::int64_t> interior);

// Positions ---------------------------------------------------------------------------------------
/// The elements of `x` at the coordinates in the last axis of `indices`, which speak of `axes`.
[[nodiscard]] Value gather(const Value& x, const Value& indices,
                           std::span<const std::int64_t> axes);
[[nodiscard]] Value take_along_axis(const Value& x, const Value& indices, std::int64_t axis);
/// `target` with `updates` added at the coordinates `indices` [n, axes]; duplicates accumulate.
[[nodiscard]] Value indexed_add(const Value& target, const Value& indices, const Value& updates,
                                std::span<const std::int64_t> axes);
[[nodiscard]] Value indexed_put(const Value& target, const Value& indices, const Value& updates,
                                std::span<const std::int64_t> axes);
/// 0, 1, … n - 1.
[[nodiscard]] std::vector<std::int64_t> all_axes(std::size_t n);

// Reductions ----------------------------------------------------------------------------------------
[[nodiscard]] Value sum(const Value& x, std::span<const std::int64_t> axes, bool keep);
/// Undoes a broadcast: sums until the shape is `shape`.
[[nodiscard]] Value sum_to(const Value& x, const Shape& shape);
/// A reduced value as it was, with an extent of 1 for each of the axes.
[[nodiscard]] Value keep_axes(const Value& reduced, const Shape& original,
                              std::span<const std::int64_t> axes);

// Products ------------------------------------------------------------------------------------------
[[nodiscard]] Value matmul(const Value& a, const Value& b, bool transpose_a = false,
                           bool transpose_b = false);

}  // namespace stoker::expr
