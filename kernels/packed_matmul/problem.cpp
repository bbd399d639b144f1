#include "stoker/kernels/packed_matmul/problem.hpp"

#include <string>

namespace stoker::kernels::packed_matmul {
namespace {

constexpr const char* op = "packed_matmul";

Result<void> check_shape(const KernelCall& call, std::size_t index, const char* what,
                         const Shape& expected) {
  if (call.shape(index) == expected) return {};
  return Error{op,
               ErrorCode::shape_mismatch,
               std::string{what} + " of these numbers are " + expected.to_string() + ", input " +
                   std::to_string(index) + " is " + call.inputs[index].to_string(),
               {{"expected", expected.to_string()}, {"got", call.shape(index).to_string()}}};
}

Result<void> check_dtype(const KernelCall& call, std::size_t index, bool fits,
                         const char* expected) {
  if (fits) return {};
  return Error{op,
               ErrorCode::dtype_mismatch,
               "input " + std::to_string(index) + " is " + call.inputs[index].to_string() +
                   ", expected " + expected,
               {{"expected", expected}, {"got", std::string{to_string(call.dtype(index))}}}};
}

Result<void> check_options(const KernelCall& call) {
  const auto refused = [](std::string why) {
    return Error{op, ErrorCode::invalid_parameter, std::move(why)};
  };
  const std::int64_t bits = call.params.integer("bits");
  const std::int64_t block = call.params.integer("block_size");
  const std::int64_t zero = call.params.integer("zero_point");
  if (bits != 2 && bits != 4 && bits != 8)
    return refused("bits are 2, 4 or 8, not " + std::to_string(bits));
  if (block % 16 != 0)
    return refused("block_size is a multiple of 16, not " + std::to_string(block));
  if (zero >= std::int64_t{1} << bits)
    return refused("a zero point of " + std::to_string(bits) + " bits cannot be " +
                   std::to_string(zero));
  return {};
}

}  // namespace

Result<TensorSpec> infer(const KernelCall& call) {
  STOKER_TRY(check_options(call));
  STOKER_TRY(check_dtype(call, 1, call.dtype(1) == DType::u8, "u8"));
  const DType scales = call.dtype(2);
  STOKER_TRY(check_dtype(call, 2, scales == DType::f32 || scales == DType::f16, "f32 or f16"));
  if (call.shape(0).rank() == 0)
    return Error{op, ErrorCode::shape_mismatch, "the left side is a single number"};
  if (call.shape(1).rank() != 3)
    return Error{
        op, ErrorCode::shape_mismatch,
        "expected numbers as [columns, blocks, bytes], input 1 is " + call.inputs[1].to_string()};
  const Problem p = describe(call);
  STOKER_TRY(check_shape(call, 1, "bytes", Shape{p.n, p.blocks(), p.block_bytes()}));
  STOKER_TRY(check_shape(call, 2, "scales", Shape{p.n, p.blocks()}));
  if (p.has_zeros) {
    STOKER_TRY(check_dtype(call, 3, call.dtype(3) == DType::u8, "u8"));
    STOKER_TRY(check_shape(call, 3, "zero points", Shape{p.n, p.zero_bytes()}));
  }
  const Shape& a = call.shape(0);
  return TensorSpec{call.dtype(), a.with(a.rank() - 1, p.n)};
}

Problem describe(const KernelCall& call) {
  Problem p;
  const Shape& a = call.shape(0);
  p.k = a[a.rank() - 1];
  for (std::size_t axis = 0; axis + 1 < a.rank(); ++axis) p.m *= a[axis];
  p.n = call.shape(1)[0];
  p.bits = call.params.integer("bits");
  p.block = call.params.integer("block_size");
  p.zero_point = call.params.integer("zero_point");
  p.has_zeros = call.inputs.size() > 3;
  return p;
}

}  // namespace stoker::kernels::packed_matmul
