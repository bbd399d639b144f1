#include "stoker/api/onnx/core/integer_sums.hpp"

#include <algorithm>

#include "stoker/api/onnx/core/rounding.hpp"
#include "stoker/api/onnx/core/spatial.hpp"
#include "stoker/api/tensor/core/creation.hpp"
#include "stoker/api/tensor/math/convolution.hpp"
#include "stoker/api/tensor/math/elementwise.hpp"
#include "stoker/api/tensor/math/products.hpp"
#include "stoker/api/tensor/views/manipulation.hpp"
#include "stoker/kernels/integer_conv/problem.hpp"
#include "stoker/pipeline/tensor/graph/primitives.hpp"

namespace stoker::onnx {
namespace {

bool is_byte(DType dtype) noexcept { return dtype == DType::s8 || dtype == DType::u8; }

QuantizedTensor with_zero(const Call& call, const QuantizedOperand& of, Tensor numbers) {
  QuantizedTensor made{std::move(numbers), {}};
  if (call.has(of.zero_point)) made.zero_point = call.x(of.zero_point);
  return made;
}
QuantizedTensor tensors_of(const Call& call, const QuantizedOperand& of) {
  return with_zero(call, of, call.x(of.numbers));
}

/// Whether the integer kernels take it: 8 bits, and zero points that are one number or a vector.
bool suits_kernels(DType numbers, const std::optional<TensorSpec>& zero) {
  if (!is_byte(numbers)) return false;
  return !zero ||
         (zero->dtype == numbers && (zero->shape.rank() == 1 || zero->shape.elements() == 1));
}
bool suits_kernels(const QuantizedTensor& of) {
  const auto& zero = of.zero_point;
  return suits_kernels(of.numbers.dtype(), zero ? std::optional{zero->spec()} : std::nullopt);
}
/// The same of what is not yet on the device.
bool suits_kernels(const Call& call, const QuantizedOperand& of) {
  const auto numbers = carrier_of(call.type(of.numbers));
  if (!numbers) return false;
  if (!call.has(of.zero_point)) return suits_kernels(*numbers, std::nullopt);
  const auto zero = carrier_of(call.type(of.zero_point));
  return zero && suits_kernels(*numbers, TensorSpec{*zero, call.shape(of.zero_point)});
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
  Tensor wide = as_type(of.numbers, DType::s32);
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

/// Whether the CPU's library computes with these weights, which are whole blocks that no run changes: it would put them
/// into its order in each run.
bool likes_blocks(const Call& call, const QuantizedOperand& k, const Spatial& spatial) {
  constexpr std::int64_t block = kernels::integer_conv::kernel_block;
  constexpr double least_work = 1 << 17;
  const Shape &x = call.shape(), &w = call.shape(k.numbers);
  if (!call.walker().may_choose_layouts() || !call.input(k.numbers).is_constant() ||
      x.rank() != 4 || w.rank() != 4 || call.node().integer("group", 1) != 1 || x[1] != w[1] ||
      w[0] % block != 0 || w[1] % block != 0)
    return false;
  double work = static_cast<double>(x[0]) * static_cast<double>(w.elements());
  for (const std::int64_t extent : spatial.output)
    work *= static_cast<double>(std::max<std::int64_t>(extent, 0));
  return work >= least_work && current_device().info().type == DeviceType::cpu;
}

/// The weights in blocks. They are put in this order once.
Tensor blocked_weights(const Call& call, const QuantizedOperand& k) {
  return call.walker().prepared(0, [&] {
    constexpr std::int64_t block = kernels::integer_conv::kernel_block,
                           fours = kernels::integer_conv::kernel_fours;
    const Value& w = call.input(k.numbers);
    const Shape& shape = w.shape();
    const Shape apart{shape[0] / block, block,   shape[1] / block, block / fours, fours,
                      shape[2],         shape[3]};
    const Tensor parts =
        w.is_known() ? w.known().reshaped(apart).tensor() : reshape(w.tensor(), extents_of(apart));
    return transpose(parts, Axes{0, 2, 5, 6, 3, 1, 4});
  });
}

}  // namespace

ElementType output_type(const Node& node, ElementType otherwise) {
  return node.integer("output_dtype", 0) == 0 ? otherwise
                                              : node.element_type("output_dtype", otherwise);
}

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
  const Spatial spatial = Spatial::of(call, spatial_extents(call, call.shape(k.numbers)));
  const std::int64_t groups = call.node().integer("group", 1);
  constexpr std::size_t most_rank = 5;  // of the kernel
  const QuantizedTensor input = tensors_of(call, x);
  if (suits_kernels(input) && suits_kernels(call, k) && input.numbers.rank() <= most_rank) {
    Axes low, high;
    for (const auto& [before, after] : spatial.pads) {
      low.push_back(before);
      high.push_back(after);
    }
    const bool is_blocked = likes_blocks(call, k, spatial);
    const QuantizedTensor kernel =
        is_blocked ? with_zero(call, k, blocked_weights(call, k)) : tensors_of(call, k);
    static constinit expr::NamedOp op{"integer_conv"};
    return Tensor{expr::apply_one(op, operands_of(input, kernel),
                                  {{"strides", spatial.strides},
                                   {"padding_low", low},
                                   {"padding_high", high},
                                   {"kernel_dilation", spatial.dilations},
                                   {"feature_groups", groups},
                                   {"kernel_blocked", is_blocked}})};
  }
  const QuantizedTensor kernel = tensors_of(call, k);
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
