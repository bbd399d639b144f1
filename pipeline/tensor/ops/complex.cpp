// Complex numbers seen as pairs of their parts and back: the same memory, nothing is computed. What
// else there is of complex numbers is made of these two; see pipeline/tensor/complex/complex.hpp.
#include "stoker/pipeline/tensor/complex/complex.hpp"

namespace stoker::expr::ops::complex {
namespace {

Result<Specs> infer_real(const OpCall& call) {
  const TensorSpec& input = call.input();
  if (!is_complex(input.dtype))
    return Error{"view_as_real",
                 ErrorCode::dtype_mismatch,
                 "expected a complex dtype, got " + input.to_string(),
                 {{"got", input.to_string()}}};
  std::vector<std::int64_t> extents(input.shape.begin(), input.shape.end());
  extents.push_back(2);
  STOKER_ASSIGN(const Shape shape, Shape::try_make(extents, "view_as_real"));
  return Specs{TensorSpec{component_of(input.dtype), shape}};
}

Result<Specs> infer_complex(const OpCall& call) {
  const TensorSpec& input = call.input();
  const std::size_t rank = input.shape.rank();
  if (input.dtype != DType::f32 && input.dtype != DType::f64)
    return Error{"view_as_complex",
                 ErrorCode::dtype_mismatch,
                 "expected f32 or f64, got " + input.to_string(),
                 {{"got", input.to_string()}}};
  if (rank == 0 || input.shape[rank - 1] != 2)
    return Error{"view_as_complex",
                 ErrorCode::shape_mismatch,
                 "expected pairs along the last axis, got " + input.to_string(),
                 {{"got", input.to_string()}}};
  STOKER_ASSIGN(const Shape shape,
                Shape::try_make(input.shape.extents().first(rank - 1), "view_as_complex"));
  return Specs{TensorSpec{complexed(input.dtype), shape}};
}

}  // namespace

void define(OpTable& table) {
  // A gradient is dL/dre + i·dL/dim, so each is the other's.
  Op real;
  real.name = "view_as_real";
  real.kind = OpKind::reshape;
  real.summary = "complex numbers as pairs of real and imaginary part, along a new last axis";
  real.infer = &infer_real;
  real.gradient = [](const Backward& b) { return Values{view_as_complex(b.g())}; };
  table.add(std::move(real));
  Op pairs;
  pairs.name = "view_as_complex";
  pairs.kind = OpKind::reshape;
  pairs.summary = "pairs along the last axis as complex numbers";
  pairs.infer = &infer_complex;
  pairs.gradient = [](const Backward& b) { return Values{view_as_real(b.g())}; };
  table.add(std::move(pairs));
}

}  // namespace stoker::expr::ops::complex
