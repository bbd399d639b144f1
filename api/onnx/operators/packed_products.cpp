// Products with weights of few bits, which stay packed: MatMulNBits of com.microsoft, and what the pass
// `quantized_weights` makes of DequantizeLinear before MatMul and Gemm.
// https://onnxruntime.ai/docs/reference/operators/ContribOperators.html
#include <bit>

#include "stoker/api/onnx/core/operator.hpp"
#include "stoker/api/onnx/core/packed_weights.hpp"
#include "stoker/api/tensor/math/elementwise.hpp"
#include "stoker/api/tensor/math/products.hpp"
#include "stoker/api/tensor/math/reductions.hpp"
#include "stoker/api/tensor/views/manipulation.hpp"

namespace stoker::onnx::operators::packed_products {
namespace {

std::int64_t parts(std::int64_t extent, std::int64_t each) { return (extent + each - 1) / each; }

/// An operand in that shape: files have some of them with other axes.
Tensor shaped(const Call& call, std::size_t i, const Axes& extents) {
  if (call.shape(i).elements() != shape_of(extents).elements())
    call.refuse(ErrorCode::shape_mismatch, "expected " + shape_of(extents).to_string() +
                                               ", operand " + std::to_string(i) + " is " +
                                               call.input(i).to_string());
  return reshape(call.x(i), extents);
}

// MatMulNBits -------------------------------------------------------------------------------------

std::string refused_bits(const Node& node, int /*version*/) {
  const std::int64_t bits = node.integer("bits", 4), block = node.integer("block_size", 0);
  if (bits != 2 && bits != 4 && bits != 8)
    return "bits are " + std::to_string(bits) + ", not 2, 4 or 8";
  if (block < 16 || block > std::int64_t{1} << 30 ||
      !std::has_single_bit(static_cast<std::uint64_t>(block)))
    return "block_size is " + std::to_string(block) + ", not a power of two from 16 on";
  if (node.integer("K", 0) < 1 || node.integer("N", 0) < 1) return "K and N are not both 1 or more";
  if (node.has_input(4)) return "it has g_idx, an order of its own of the rows of its weights";
  return {};
}

/// What zero points that are floats change: with those that the kernel has subtracted, and the sums of a's blocks,
/// sum of blocks · (subtracted - zero points) · scales.
Tensor of_real_zeros(const Call& call, const Tensor& a, const PackedWeights& weights,
                     const Axes& by_column) {
  const std::int64_t k = call.node().integer("K", 0), blocks = by_column[1];
  const auto last = static_cast<std::int64_t>(a.rank()) - 1;
  Tensor filled = as_type(a, DType::f32);
  if (const std::int64_t more = blocks * weights.block - k; more > 0) {
    std::vector<Padding> edges(a.rank());
    edges.back().high = more;
    filled = pad(filled, 0, edges);
  }
  Axes apart = extents_of(filled.shape());
  apart.back() = blocks;
  apart.push_back(weights.block);
  const Tensor sums = sum(reshape(filled, apart), {.axes = Axes{last + 1}});
  const Tensor zeros = as_type(shaped(call, 3, by_column), DType::f32);
  const Tensor less =
      (static_cast<double>(weights.zero_point) - zeros) * as_type(weights.scales, DType::f32);
  return matmul(sums, transpose(less));
}

Values matmul_of_bits(Call& call) {
  const Node& node = call.node();
  PackedWeights weights;
  weights.bits = node.integer("bits", 4);
  weights.block = node.integer("block_size", 0);
  weights.zero_point = (std::int64_t{1} << weights.bits) / 2;
  const std::int64_t k = node.integer("K", 0), n = node.integer("N", 0);
  if (call.rank() == 0 || call.shape()[call.shape().rank() - 1] != k)
    call.refuse(ErrorCode::shape_mismatch,
                "K is " + std::to_string(k) + ", A is " + call.input(0).to_string());
  if (call.type(1) != ElementType::u8)
    call.refuse(ErrorCode::dtype_mismatch,
                "expected weights in uint8, got " + call.input(1).to_string());
  const std::int64_t blocks = parts(k, weights.block);
  const Axes by_column{n, blocks};
  weights.numbers = shaped(call, 1, {n, blocks, weights.block * weights.bits / 8});
  weights.scales = shaped(call, 2, by_column);
  if (weights.scales.dtype() != DType::f16) weights.scales = as_type(weights.scales, DType::f32);
  const bool has_zeros = call.has(3),
             has_packed_zeros = has_zeros && call.type(3) == ElementType::u8;
  if (has_packed_zeros) weights.zeros = shaped(call, 3, {n, parts(blocks * weights.bits, 8)});
  const Tensor a = call.x();
  Tensor y = packed_product(a, weights);
  if (has_zeros && !has_packed_zeros) y = y + of_real_zeros(call, a, weights, by_column);
  if (call.has(5)) y = y + call.x(5);
  return {call.like(y)};
}

// Of DequantizeLinear -----------------------------------------------------------------------------

/// The integers of operand 1, scales (2) and zero points (3): one, one for each column, or one for each block of a
/// column; of axes in the order of the integers.
class Dequantized {
 public:
  explicit Dequantized(const Call& call) : call_{call} {
    for (const std::size_t i : {1U, 2U, 3U})
      if (call.has(i) && !call.input(i).is_constant())
        call.refuse(ErrorCode::unsupported,
                    "operand " + std::to_string(i) + " is no constant of the model");
    const Shape& shape = call.shape(1);
    const std::size_t bits = bits_of(call.type(1));
    if (shape.rank() != 2 || shape.elements() == 0 || (bits != 2 && bits != 4 && bits != 8))
      call.refuse(ErrorCode::unsupported, "weights are " + call.input(1).to_string());
    is_transposed_ = call.node().flag("transposed", false);
    k_ = shape[is_transposed_ ? 1 : 0];
    n_ = shape[is_transposed_ ? 0 : 1];
    bits_ = static_cast<std::int64_t>(bits);
    const std::int64_t given = call.node().integer("block_size", 0);
    block_ = given > 0 ? given : parts(k_, 16) * 16;
    blocks_ = parts(k_, block_);
    const std::int64_t scales = call.shape(2).elements();
    const bool fits = given > 0 ? scales == n_ * blocks_ : scales == 1 || scales == n_;
    if (!fits ||
        (call.has(3) && (call.type(3) != call.type(1) || call.shape(3).elements() != scales)))
      call.refuse(ErrorCode::shape_mismatch,
                  "these scales or zero points do not fit weights of " + call.input(1).to_string());
  }

  [[nodiscard]] PackedWeights weights() const {
    PackedWeights made;
    made.bits = bits_;
    made.block = block_;
    made.numbers = call_.walker().prepared(0, [&] {
      return Known{
          ElementType::u8,
          {n_, blocks_, block_ * bits_ / 8},
          packed_columns({call_.known(1), k_, n_, is_transposed_}, blocks_ * block_ * bits_ / 8)}
          .tensor();
    });
    made.scales = call_.walker().prepared(1, [&] { return scales().tensor(); });
    const std::int64_t shift = unsigned_shift(call_.type(1));
    made.zero_point = shift;
    if (!call_.has(3)) return made;
    if (call_.shape(3).elements() == 1) {
      made.zero_point = call_.known(3).to_integers()[0] + shift;
      return made;
    }
    const std::int64_t bytes = parts(blocks_ * bits_, 8);
    made.zeros = call_.walker().prepared(2, [&] {
      return Known{ElementType::u8,
                   {n_, bytes},
                   packed_columns({call_.known(3), blocks_, n_, is_transposed_}, bytes)}
          .tensor();
    });
    return made;
  }

 private:
  [[nodiscard]] Known scales() const {
    const std::vector<double> given = call_.known(2).to_reals();
    std::vector<double> made;
    for (std::int64_t j = 0; j < n_; ++j)
      for (std::int64_t of = 0; of < blocks_; ++of) {
        const std::int64_t at = is_transposed_ ? j * blocks_ + of : of * n_ + j;
        made.push_back(given[given.size() == 1 ? 0 : static_cast<std::size_t>(at)]);
      }
    return Known::reals(made, {n_, blocks_},
                        call_.type(2) == ElementType::f16 ? ElementType::f16 : ElementType::f32);
  }

  const Call& call_;
  bool is_transposed_ = false;
  std::int64_t k_ = 0, n_ = 0, bits_ = 0, block_ = 0, blocks_ = 0;
};

Values dequantized_matmul(Call& call) {
  Tensor y = packed_product(call.x(), Dequantized{call}.weights());
  if (call.has(4)) y = y + call.x(4);
  return {call.like(y)};
}

}  // namespace

void define(OperatorTable& table) {
  table.add({.name = "MatMulNBits",
             .domain = "com.microsoft",
             .least_inputs = 3,
             .most_inputs = 6,
             .types = {.operands = {float_types, any_type}, .results = {like(0)}},
             .attributes = {"K", "N", "accuracy_level", "bits", "block_size"},
             .refuse = &refused_bits,
             .lower = &matmul_of_bits});
  table.add({.name = "DequantizedMatMul",
             .domain = "stoker",
             .least_inputs = 3,
             .most_inputs = 5,
             .attributes = {"block_size", "transposed"},
             .lower = &dequantized_matmul});
}

}  // namespace stoker::onnx::operators::packed_products
