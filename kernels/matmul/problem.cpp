#include "stoker/kernels/matmul/problem.hpp"

#include <algorithm>
#include <utility>

#include "stoker/kernels/matmul/options.hpp"

namespace stoker::kernels::matmul {
namespace {

/// A matrix operand: its logical rows and columns, and the batch axes before them.
struct Operand {
  std::int64_t rows = 1;
  std::int64_t columns = 1;
  bool transposed = false;
  bool vector = false;
  Shape batch;
};

Operand operand(const Shape& shape, bool transpose, bool left) {
  Operand result;
  if (shape.rank() == 1) {
    result.vector = true;
    (left ? result.columns : result.rows) = shape[0];
    return result;
  }
  const std::size_t axes = shape.rank() - 2;
  result.rows = shape[axes];
  result.columns = shape[axes + 1];
  result.transposed = transpose;
  if (transpose) std::swap(result.rows, result.columns);
  for (std::size_t axis = 0; axis < axes; ++axis) result.batch = result.batch.appended(shape[axis]);
  return result;
}

Error mismatch(const KernelCall& call, std::string_view why) {
  const auto given = options::from<Matmul>(call.params);
  const auto word = [](bool flag) { return flag ? "true" : "false"; };
  return Error{"matmul",
               ErrorCode::shape_mismatch,
               std::string{why} + ": lhs " + call.shape(0).to_string() + ", rhs " +
                   call.shape(1).to_string(),
               {{"lhs", call.inputs[0].to_string()},
                {"rhs", call.inputs[1].to_string()},
                {"transpose_a", word(given.transpose_a)},
                {"transpose_b", word(given.transpose_b)}}};
}

/// The step through an operand's matrices along each axis of `batch`; 0 where it broadcasts.
std::array<std::int64_t, Shape::max_rank> steps(const Shape& own, const Shape& batch) {
  std::array<std::int64_t, Shape::max_rank> result{};
  const auto strides = own.strides();
  const std::size_t offset = batch.rank() - own.rank();
  for (std::size_t axis = 0; axis < own.rank(); ++axis)
    result[offset + axis] = own[axis] == 1 ? 0 : strides[axis];
  return result;
}

}  // namespace

Problem::Indices Problem::matrices(std::int64_t batch) const noexcept {
  Indices result{0, 0};
  for (std::size_t axis = batch_axes.rank(); axis-- > 0;) {
    const std::int64_t coordinate = batch % batch_axes[axis];
    batch /= batch_axes[axis];
    result.a += coordinate * a_steps[axis];
    result.b += coordinate * b_steps[axis];
  }
  return result;
}

Result<TensorSpec> infer(const KernelCall& call) {
  if (call.dtype(0) != call.dtype(1))
    return Error{
        "matmul",
        ErrorCode::dtype_mismatch,
        "dtype mismatch: lhs " + call.inputs[0].to_string() + ", rhs " + call.inputs[1].to_string(),
        {{"expected", std::string{to_string(call.dtype(0))}},
         {"got", std::string{to_string(call.dtype(1))}}}};
  if (call.shape(0).rank() == 0 || call.shape(1).rank() == 0)
    return mismatch(call, "a scalar has no axis to multiply along");
  const auto given = options::from<Matmul>(call.params);
  const Operand a = operand(call.shape(0), given.transpose_a, true);
  const Operand b = operand(call.shape(1), given.transpose_b, false);
  if (a.columns != b.rows) return mismatch(call, "shape mismatch");
  const std::optional<Shape> batch = broadcast(a.batch, b.batch);
  if (!batch) return mismatch(call, "batch axes do not broadcast");

  std::vector<std::int64_t> extents(batch->begin(), batch->end());
  if (!a.vector) extents.push_back(a.rows);
  if (!b.vector) extents.push_back(b.columns);
  STOKER_ASSIGN(Shape shape, Shape::try_make(extents, "matmul"));
  return TensorSpec{call.dtype(), shape};
}

Problem describe(const KernelCall& call) {
  const auto given = options::from<Matmul>(call.params);
  const Operand a = operand(call.shape(0), given.transpose_a, true);
  const Operand b = operand(call.shape(1), given.transpose_b, false);
  Problem problem;
  problem.m = a.rows;
  problem.n = b.columns;
  problem.k = a.columns;
  problem.transpose_a = a.transposed;
  problem.transpose_b = b.transposed;
  problem.a_matrices = a.batch.elements();
  problem.b_matrices = b.batch.elements();
  problem.batch_axes = broadcast(a.batch, b.batch).value_or(Shape{});
  problem.batches = problem.batch_axes.elements();
  problem.a_steps = steps(a.batch, problem.batch_axes);
  problem.b_steps = steps(b.batch, problem.batch_axes);

  // A single row or column lies in memory like its transpose.
  if (problem.m == 1) problem.transpose_a = false;
  if (problem.k == 1 && problem.m > 1) problem.transpose_a = false;

  // One right side for every left side: the left sides are one tall matrix.
  if (problem.b_matrices == 1 && !problem.transpose_a && problem.a_matrices == problem.batches) {
    problem.m *= problem.batches;
    problem.batches = problem.a_matrices = 1;
    problem.batch_axes = Shape{};
  }
  // A · column = (rowᵀ · Aᵀ)ᵀ, and a vector is its own transpose in memory.
  if (problem.n == 1 && problem.m > 1) {
    std::swap(problem.m, problem.n);
    std::swap(problem.a_matrices, problem.b_matrices);
    std::swap(problem.a_steps, problem.b_steps);
    problem.transpose_b = !problem.transpose_a;
    problem.transpose_a = false;
    problem.swapped = true;
  }
  if (problem.n == 1) problem.transpose_b = true;  // the same memory, and faster as a dot product
  return problem;
}

}  // namespace stoker::kernels::matmul
