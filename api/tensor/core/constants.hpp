// Mathematical and numeric constants, as scalars of a dtype.
//
// Threads: any. Errors are thrown: invalid_parameter if the dtype has no such number.
#pragma once

#include "stoker/api/tensor/core/tensor.hpp"

namespace stoker::constants {

// Of floats -----------------------------------------------------------------------------------------
[[nodiscard]] Tensor nan(DType dtype = DType::f32);
[[nodiscard]] Tensor infinity(DType dtype = DType::f32);
[[nodiscard]] Tensor neg_infinity(DType dtype = DType::f32);
/// The smallest positive normal number.
[[nodiscard]] Tensor smallest_positive_normal(DType dtype = DType::f32);
/// The distance from 1 to the next larger number.
[[nodiscard]] Tensor epsilon(DType dtype = DType::f32);
[[nodiscard]] Tensor pi(DType dtype = DType::f32);
[[nodiscard]] Tensor e(DType dtype = DType::f32);
/// The Euler–Mascheroni constant, 0.5772…
[[nodiscard]] Tensor euler_gamma(DType dtype = DType::f32);

// Of any numbers --------------------------------------------------------------------------------------
/// The largest value; infinity for floats.
[[nodiscard]] Tensor max(DType dtype = DType::f32);
/// The smallest value; -infinity for floats.
[[nodiscard]] Tensor min(DType dtype = DType::f32);
[[nodiscard]] Tensor max_finite(DType dtype = DType::f32);
[[nodiscard]] Tensor min_finite(DType dtype = DType::f32);

}  // namespace stoker::constants
