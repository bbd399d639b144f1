#include "stoker/kernels/linear_algebra/matrices.hpp"

#include "stoker/kernels/rules.hpp"

namespace stoker::kernels::linear_algebra {

Result<Matrices> matrices(std::string_view op, const TensorSpec& input) {
  const Shape& shape = input.shape;
  if (shape.rank() < 2)
    return Error{std::string{op},
                 ErrorCode::shape_mismatch,
                 "expected matrices [.., m, n], got rank " + std::to_string(shape.rank()),
                 {{"input", shape.to_string()}}};
  Matrices result;
  result.rows = shape[shape.rank() - 2];
  result.columns = shape[shape.rank() - 1];
  result.batch = shape.without(shape.rank() - 1).without(shape.rank() - 2);
  result.count = result.batch.elements();
  return result;
}

Result<Matrices> square_matrices(std::string_view op, const TensorSpec& input) {
  STOKER_ASSIGN(Matrices result, matrices(op, input));
  if (result.rows != result.columns)
    return Error{std::string{op},
                 ErrorCode::shape_mismatch,
                 "expected square matrices [.., n, n], got " + std::to_string(result.rows) +
                     " rows and " + std::to_string(result.columns) + " columns",
                 {{"input", input.shape.to_string()}}};
  return result;
}

std::vector<DType> factor_dtypes() { return {DType::f32, DType::f64}; }

Result<void> check_right_side(std::string_view op, const TensorSpec& a, const TensorSpec& b,
                              bool left) {
  if (a.dtype != b.dtype) return rules::dtypes_differ(op, a, b);
  STOKER_ASSIGN(const Matrices lhs, square_matrices(op, a));
  STOKER_ASSIGN(const Matrices rhs, matrices(op, b));
  const auto refuse = [&](std::string reason) {
    return Error{std::string{op},
                 ErrorCode::shape_mismatch,
                 std::move(reason),
                 {{"a", a.shape.to_string()}, {"b", b.shape.to_string()}}};
  };
  if (lhs.batch != rhs.batch) return refuse("a and b differ before their last two axes");
  const std::int64_t got = left ? rhs.rows : rhs.columns;
  if (got != lhs.rows)
    return refuse("expected b with " + std::to_string(lhs.rows) + (left ? " rows" : " columns") +
                  ", got " + std::to_string(got));
  return {};
}

}  // namespace stoker::kernels::linear_algebra
