#include "stoker/api/onnx/core/integer_sums.hpp"

#include <algorithm>

#include "stoker/api/onnx/core/rounding.hpp"
#include "stoker/api/onnx/core/spatial.hpp"
#include "stoker/api/tensor/core/creation.hpp"
#include "stoker/api/tensor/math/convolution.hpp"
#include "stoker/api/tensor/math/elementwise.hpp"
#include "stoker/api/tensor/math/products.hpp"
#include "stoker/api/tensor/views/manipulation.hpp"
#include "stoker/pipeline/tensor/graph/primitives.hpp"

namespace stoker::onnx {
namespace {

bool is_byte(DType dtype) noexcept { return dtype == DType::s8 || dtype == DType::u8; }

QuantizedTensor tensors_of(const Call& call, const QuantizedOperand& of) {
  QuantizedTensor made{call.x(of.numbers), {}};
  if (call.has(of.zero_point)) made.zero_point = call.x(of.zero_point);
  return made;
}

/// Whether the integer kernels take it: 8 bits, and zero points that are one number or a vector.
bool suits_kernels(const QuantizedTensor& of) {
  if (!is_byte(of.numbers.dtype())) return false;
  const auto& zero = of.zero_point;
  return !zero || (zero->dtype() == of.numbers.dtype() && (zero->rank() == 1 || zero->size() == 1));
}

Tensor zero_of(const QuantizedTensor& of) {
  if (!of.zero_point) return zeros({1}, of.numbers.dtype());
  return reshape(*of.zero_point, {static_cast<std::int64_t>(of.zero_point->size())});
}

/// The kernel's operands: zero points are left out where there are none.
expr::Values operands_of(const QuantizedTensor& a, const QuantizedTensor& b) {
  expr::Values operands{a.numbers.value(), b.numbers.value()};
  if (a.zero_point || b.zero_point) operands.push_back(zero_of(a).value());
  if (b.zero_point) operands.push_back(zero_of(b).value());
  return operands;
}

/// The numbers without their zero points, in s32. A vector of those lies along `axis`.
Tensor centered(const QuantizedTensor& of, std::int64_t axis) {
  const Tensor wide = as_type(of.numbers, DType::s32);
  if (!of.zero_point) return wide;
  Tensor zero = as_type(*of.zero_point, DType::s32);
  if (zero.size() == 1) {
    zero = reshape(zero, Shape{});
  } else if (zero.rank() == 1) {
    Axes extents(wide.rank(), 1);
    extents[static_cast<std::size_t>(axis_in(axis, static_cast<std::int64_t>(wide.rank())))] = -1;
    zero = reshape(zero, extents);
  }
  return wide - zero;
}

}  // namespace

std::optional<IntegerEnds> integer_ends(ElementType type) {
  const auto dtype = carrier_of(type);
  const std::size_t bits = bits_of(type);
  if (!dtype || !is_integer(*dtype) || bits > 16) return {};
  const double all = static_cast<double>(std::int64_t{1} << bits);
  return is_signed(*dtype) ? IntegerEnds{-all / 2, all / 2 - 1} : IntegerEnds{0, all - 1};
}

Tensor integer_product(const QuantizedTensor& a, const QuantizedTensor& b,
                       const Transposed& transposed) {
  if (suits_kernels(a) && suits_kernels(b)) {
    static constinit expr::NamedOp op{"integer_matmul"};
    return Tensor{expr::apply_one(op, operands_of(a, b),
                                  {{"transpose_a", transposed.a}, {"transpose_b", transposed.b}})};
  }
  // Vectors of zero points are turned with their operand.
  const Tensor left = centered(a, transposed.a ? -1 : -2);
  const Tensor right = centered(b, transposed.b ? -2 : -1);
  return as_type(
      matmul(transposed.a ? transpose(left) : left, transposed.b ? transpose(right) : right),
      DType::s32);
}

Tensor integer_product(const Call& call, const QuantizedOperand& a, const QuantizedOperand& b,
                       const Transposed& transposed) {
  return integer_product(tensors_of(call, a), tensors_of(call, b), transposed);
}

Tensor integer_convolution(const Call& call, const QuantizedOperand& x, const QuantizedOperand& k) {
  const QuantizedTensor input = tensors_of(call, x), kernel = tensors_of(call, k);
  const Spatial spatial = Spatial::of(call, spatial_extents(call, kernel.numbers.shape()));
  const std::int64_t groups = call.node().integer("group", 1);
  constexpr std::size_t most_rank = 5;  // of the kernel
  if (suits_kernels(input) && suits_kernels(kernel) && input.numbers.rank() <= most_rank) {
    Axes low, high;
    for (const auto& [before, after] : spatial.pads) {
      low.push_back(before);
      high.push_back(after);
    }
    static constinit expr::NamedOp op{"integer_conv"};
    return Tensor{expr::apply_one(op, operands_of(input, kernel),
                                  {{"strides", spatial.strides},
                                   {"padding_low", low},
                                   {"padding_high", high},
                                   {"kernel_dilation", spatial.dilations},
                                   {"feature_groups", groups}})};
  }
  // Sums of products below 2^53 are exact in f64.
  const Tensor y =
      conv(as_type(centered(input, 0), DType::f64), as_type(centered(kernel, 0), DType::f64),
           {.strides = spatial.strides,
            .padding = spatial.pads,
            .kernel_dilation = spatial.dilations,
            .feature_group_size = groups});
  return as_type(y, DType::s32);
}

Tensor joined_scale(const Call& call, std::size_t x, std::size_t w, std::optional<std::size_t> y) {
  const auto is_one = [&](std::size_t i) {
    return call.input(i).is_known() && call.shape(i).elements() == 1;
  };
  if (is_one(x) && call.input(w).is_known() && (!y || is_one(*y))) {
    const auto number = [&](std::size_t i) {
      return static_cast<float>(call.input(i).known().to_reals()[0]);
    };
    std::vector<double> all = call.input(w).known().to_reals();
    for (double& one : all) {
      const float joined = static_cast<float>(one) * number(x);
      one = static_cast<double>(y ? joined / number(*y) : joined);
    }
    const Shape shape = all.size() == 1 ? Shape{} : call.shape(w);
    return Known::reals(all, shape).tensor();
  }
  const auto scale = [&](std::size_t i) {
    const Tensor one = as_type(call.x(i), DType::f32);
    return one.size() == 1 ? reshape(one, Shape{}) : one;
  };
  const Tensor left = scale(x);
  const Tensor joined = scale(w) * (left.rank() == 1 ? new_axis(left, -1) : left);
  return y ? joined / scale(*y) : joined;
}

Value requantized(const Call& call, const Tensor& sums, const Tensor& scale,
                  std::size_t zero_point) {
  const ElementType type = call.type(zero_point);
  const auto ends = integer_ends(type);
  if (!ends) call.refuse(ErrorCode::unsupported, "to " + std::string{to_string(type)});
  const Tensor zero = reshape(as_type(call.x(zero_point), DType::f32), Shape{});
  const Tensor y = quantized(as_type(sums, DType::f32) * scale, zero, ends->low, ends->high);
  return {as_type(y, *carrier_of(type)), type};
}

}  // namespace stoker::onnx
