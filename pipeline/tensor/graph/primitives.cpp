#include "stoker/pipeline/tensor/graph/primitives.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <numeric>

#include "stoker/pipeline/tensor/complex/complex.hpp"

namespace stoker::expr {
namespace {

/// A number as the bits of a dtype's element, low bytes first.
std::uint64_t bits_of(double number, DType dtype) {
  return visit_dtype(dtype, [&]<class T>() -> std::uint64_t {
    if constexpr (std::is_same_v<T, double>)
      return std::bit_cast<std::uint64_t>(number);
    else if constexpr (std::is_same_v<T, float>)
      return std::bit_cast<std::uint32_t>(static_cast<float>(number));
    else if constexpr (std::is_same_v<T, bool>)
      return number != 0 ? 1 : 0;
    else if constexpr (std::is_integral_v<T>)
      return static_cast<std::make_unsigned_t<T>>(
          number < 0 ? static_cast<T>(static_cast<std::int64_t>(number))
                     : static_cast<T>(static_cast<std::uint64_t>(number)));
    else
      return T{static_cast<float>(number)}.bits;
  });
}

double number_of(std::uint64_t bits, DType dtype) {
  return visit_dtype(dtype, [&]<class T>() -> double {
    if constexpr (std::is_same_v<T, double>)
      return std::bit_cast<double>(bits);
    else if constexpr (std::is_same_v<T, float>)
      return std::bit_cast<float>(static_cast<std::uint32_t>(bits));
    else if constexpr (std::is_integral_v<T>)
      return static_cast<double>(static_cast<T>(bits));
    else {
      T stored;
      stored.bits = static_cast<std::uint16_t>(bits);
      return static_cast<double>(static_cast<float>(stored));
    }
  });
}

Value constant_bits(std::uint64_t bits, DType dtype, const Shape& shape) {
  static constinit NamedOp op{"constant"};
  return apply_one(op, {},
                   {{"dtype", std::string{to_string(dtype)}},
                    {"shape", as_list(shape.extents())},
                    {"bits", static_cast<std::int64_t>(bits)}});
}

}  // namespace

Value scalar(std::string_view name, Values inputs) {
  return apply_one(find_op(name), std::move(inputs));
}

Value constant(double number, DType dtype, const Shape& shape) {
  if (is_complex(dtype)) {
    const DType part = component_of(dtype);
    return complex(constant(number, part, shape), constant(0, part, shape));
  }
  return constant_bits(bits_of(number, dtype), dtype, shape);
}

Value integer_constant(std::uint64_t number, DType dtype, const Shape& shape) {
  if (is_inexact(dtype)) return constant(static_cast<double>(number), dtype, shape);
  if (dtype == DType::boolean) return constant(number == 0 ? 0 : 1, dtype, shape);
  const std::size_t bits = 8 * size_of(dtype);
  return constant_bits(bits < 64 ? number & ((std::uint64_t{1} << bits) - 1) : number, dtype,
                       shape);
}

std::optional<double> constant_of(const Value& value) {
  if (value.node()->op().kind != OpKind::constant) return std::nullopt;
  return constant_number(value.node()->attributes(), value.dtype());
}

double constant_number(const Attributes& attributes, DType dtype) {
  return number_of(static_cast<std::uint64_t>(attributes.integer("bits")), dtype);
}

Value zeros_like(const Value& value) { return constant(0, value.dtype(), value.shape()); }
Value ones_like(const Value& value) { return constant(1, value.dtype(), value.shape()); }

Value iota(const TensorSpec& spec, std::optional<std::size_t> axis) {
  static constinit NamedOp op{"iota"};
  if (is_complex(spec.dtype))
    return cast(iota({component_of(spec.dtype), spec.shape}, axis), spec.dtype);
  return apply_one(op, {},
                   {{"dtype", std::string{to_string(spec.dtype)}},
                    {"shape", as_list(spec.shape.extents())},
                    {"axis", axis ? static_cast<std::int64_t>(*axis) : std::int64_t{-1}}});
}

Value parameter(const TensorSpec& spec) {
  static constinit NamedOp op{"parameter"};
  return apply_one(op, {}, spec_attributes(spec));
}

Value operator+(const Value& a, double b) { return a + constant(b, a.dtype()); }
Value operator-(const Value& a, double b) { return a - constant(b, a.dtype()); }
Value operator*(const Value& a, double b) { return a * constant(b, a.dtype()); }
Value operator/(const Value& a, double b) { return a / constant(b, a.dtype()); }
Value operator-(double a, const Value& b) { return constant(a, b.dtype()) - b; }
Value operator/(double a, const Value& b) { return constant(a, b.dtype()) / b; }

Value cast(const Value& x, DType dtype) {
  static constinit NamedOp op{"cast"};
  if (x.dtype() == dtype) return x;
  return apply_one(op, {x}, {{"dtype", std::string{to_string(dtype)}}});
}

Value select(const Value& condition, const Value& yes, const Value& no) {
  return scalar("select", {condition, yes, no});
}

Value reshape(const Value& x, const Shape& shape) {
  static constinit NamedOp op{"reshape"};
  if (x.shape() == shape) return x;
  return apply_one(op, {x}, {{"shape", as_list(shape.extents())}});
}

Value broadcast_axes(const Value& x, const Shape& shape, std::span<const std::int64_t> axes) {
  static constinit NamedOp op{"broadcast"};
  if (x.shape() == shape) return x;
  return apply_one(op, {x}, {{"shape", as_list(shape.extents())}, {"axes", as_list(axes)}});
}

Value broadcast_to(const Value& x, const Shape& shape) {
  std::vector<std::int64_t> axes(x.shape().rank());
  std::iota(axes.begin(), axes.end(),
            static_cast<std::int64_t>(shape.rank()) - static_cast<std::int64_t>(axes.size()));
  return broadcast_axes(x, shape, axes);
}

Value transpose(const Value& x, std::span<const std::int64_t> axes) {
  static constinit NamedOp op{"transpose"};
  bool same = true;
  for (std::size_t i = 0; i < axes.size(); ++i) same &= axes[i] == static_cast<std::int64_t>(i);
  return same ? x : apply_one(op, {x}, {{"axes", as_list(axes)}});
}

Value matrix_transpose(const Value& x) {
  std::vector<std::int64_t> axes(x.shape().rank());
  std::iota(axes.begin(), axes.end(), 0);
  std::swap(axes[axes.size() - 1], axes[axes.size() - 2]);
  return transpose(x, axes);
}

Value slice(const Value& x, std::span<const std::int64_t> starts,
            std::span<const std::int64_t> lengths, std::span<const std::int64_t> strides) {
  static constinit NamedOp op{"slice"};
  return apply_one(
      op, {x},
      {{"starts", as_list(starts)}, {"lengths", as_list(lengths)}, {"strides", as_list(strides)}});
}

Value part(const Value& x, std::int64_t axis, std::int64_t start, std::int64_t length) {
  std::vector<std::int64_t> starts(x.shape().rank(), 0);
  std::vector<std::int64_t> lengths(x.shape().begin(), x.shape().end());
  starts[static_cast<std::size_t>(axis)] = start;
  lengths[static_cast<std::size_t>(axis)] = length;
  return slice(x, starts, lengths, std::vector<std::int64_t>(x.shape().rank(), 1));
}

Value reverse(const Value& x, std::span<const std::int64_t> axes) {
  static constinit NamedOp op{"reverse"};
  return axes.empty() ? x : apply_one(op, {x}, {{"axes", as_list(axes)}});
}

Value concatenate(std::span<const Value> values, std::int64_t axis) {
  static constinit NamedOp op{"concatenate"};
  if (values.size() > op.get().inputs.max) {
    // A kernel joins so many at once; the parts are then joined.
    std::vector<Value> parts;
    for (std::size_t i = 0; i < values.size(); i += op.get().inputs.max)
      parts.push_back(
          concatenate(values.subspan(i, std::min(op.get().inputs.max, values.size() - i)), axis));
    return concatenate(parts, axis);
  }
  return apply_one(op, Values(values.begin(), values.end()), {{"axis", axis}});
}

Value pad(const Value& x, const Value& value, std::span<const std::int64_t> low,
          std::span<const std::int64_t> high, std::span<const std::int64_t> interior) {
  static constinit NamedOp op{"pad"};
  return apply_one(
      op, {x, value},
      {{"low", as_list(low)}, {"high", as_list(high)}, {"interior", as_list(interior)}});
}

Value gather(const Value& x, const Value& indices, std::span<const std::int64_t> axes) {
  static constinit NamedOp op{"gather"};
  return apply_one(op, {x, indices}, {{"axes", as_list(axes)}});
}

Value take_along_axis(const Value& x, const Value& indices, std::int64_t axis) {
  static constinit NamedOp op{"take_along_axis"};
  return apply_one(op, {x, indices}, {{"axis", axis}});
}

Value indexed_add(const Value& target, const Value& indices, const Value& updates,
                  std::span<const std::int64_t> axes) {
  static constinit NamedOp op{"indexed_add"};
  return apply_one(op, {target, indices, updates}, {{"axes", as_list(axes)}});
}

Value indexed_put(const Value& target, const Value& indices, const Value& updates,
                  std::span<const std::int64_t> axes) {
  static constinit NamedOp op{"indexed_put"};
  return apply_one(op, {target, indices, updates}, {{"axes", as_list(axes)}});
}

std::vector<std::int64_t> all_axes(std::size_t n) {
  std::vector<std::int64_t> axes(n);
  std::iota(axes.begin(), axes.end(), 0);
  return axes;
}

Value sum(const Value& x, std::span<const std::int64_t> axes, bool keep) {
  static constinit NamedOp op{"sum"};
  return apply_one(op, {x}, {{"axes", as_list(axes)}, {"keepdims", keep}});
}

Value sum_to(const Value& x, const Shape& shape) {
  if (x.shape() == shape) return x;
  const std::size_t added = x.shape().rank() - shape.rank();
  std::vector<std::int64_t> axes;
  for (std::size_t axis = 0; axis < x.shape().rank(); ++axis)
    if (axis < added || (shape[axis - added] == 1 && x.shape()[axis] != 1))
      axes.push_back(static_cast<std::int64_t>(axis));
  return reshape(axes.empty() ? x : sum(x, axes, false), shape);
}

Value keep_axes(const Value& reduced, const Shape& original, std::span<const std::int64_t> axes) {
  Shape kept = original;
  for (const std::int64_t axis : axes) kept = kept.with(static_cast<std::size_t>(axis), 1);
  return reshape(reduced, kept);
}

Value matmul(const Value& a, const Value& b, bool transpose_a, bool transpose_b) {
  static constinit NamedOp op{"matmul"};
  return apply_one(op, {a, b}, {{"transpose_a", transpose_a}, {"transpose_b", transpose_b}});
}

}  // namespace stoker::expr
