#include "stoker/kernels/integer_matmul/problem.hpp"

#include <array>
#include <utility>

namespace stoker::kernels::integer_matmul {
namespace {

constexpr const char* op = "integer_matmul";

/// matmul's rules ask for one dtype; that of the first operand stands for both.
std::array<TensorSpec, 2> alike(const KernelCall& call) {
  return {TensorSpec{call.dtype(), call.shape(0)}, TensorSpec{call.dtype(), call.shape(1)}};
}

}  // namespace

Result<void> check_dtype(std::string_view kernel, const KernelCall& call, std::size_t index,
                         std::size_t of) {
  const DType given = call.dtype(index);
  if (index == of && (given == DType::s8 || given == DType::u8)) return {};
  if (index != of && given == call.dtype(of)) return {};
  const std::string expected = index == of ? "s8 or u8" : std::string{to_string(call.dtype(of))};
  return Error{std::string{kernel},
               ErrorCode::dtype_mismatch,
               "dtype mismatch: input " + std::to_string(index) + " is " +
                   call.inputs[index].to_string() + ", expected " + expected,
               {{"expected", expected}, {"got", std::string{to_string(given)}}}};
}

Result<void> check_zeros(std::string_view kernel, const KernelCall& call, std::size_t index,
                         std::int64_t lines) {
  const Shape& shape = call.shape(index);
  if (shape.elements() == 1 || (shape.rank() == 1 && shape[0] == lines)) return {};
  return Error{std::string{kernel},
               ErrorCode::shape_mismatch,
               "zero points are one number, or " + std::to_string(lines) + ": input " +
                   std::to_string(index) + " is " + call.inputs[index].to_string(),
               {{"expected", "[" + std::to_string(lines) + "]"}, {"got", shape.to_string()}}};
}

Side side_of(const KernelCall& call, std::size_t input, std::size_t zeros) {
  Side side;
  side.input = input;
  side.is_signed = call.dtype(input) == DType::s8;
  side.zeros_input = zeros;
  if (zeros < call.inputs.size()) side.zeros = call.shape(zeros).elements();
  return side;
}

Result<TensorSpec> infer(const KernelCall& call) {
  STOKER_TRY(check_dtype(op, call, 1, 1));
  const auto specs = alike(call);
  STOKER_ASSIGN(const TensorSpec made, matmul::infer({specs, call.params}));
  const auto lines = [&](std::size_t input, bool rows, bool transposed) {
    const Shape& shape = call.shape(input);
    if (shape.rank() < 2) return std::int64_t{1};
    return shape[shape.rank() - (rows == transposed ? 1 : 2)];
  };
  for (std::size_t i = 2; i < call.inputs.size(); ++i) {
    STOKER_TRY(check_dtype(op, call, i, i - 2));
    const bool transposed = call.params.flag(i == 2 ? "transpose_a" : "transpose_b");
    STOKER_TRY(check_zeros(op, call, i, lines(i - 2, i == 2, transposed)));
  }
  return TensorSpec{DType::s32, made.shape};
}

Problem describe(const KernelCall& call) {
  const auto specs = alike(call);
  Problem problem;
  problem.product = matmul::describe({specs, call.params});
  problem.a = side_of(call, 0, 2);
  problem.b = side_of(call, 1, 3);
  if (problem.product.swapped) std::swap(problem.a, problem.b);
  return problem;
}

}  // namespace stoker::kernels::integer_matmul
