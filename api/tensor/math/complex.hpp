// Complex tensors: c64 (two f32) and c128 (two f64).
//
//     Tensor z = complex(tensor({3.0}), tensor({4.0}));
//     Tensor r = abs(z);                                // [5], f32
//     Tensor w = exp(z) * std::complex{0.0, 1.0};
//
// Supported: arithmetic, the functions exp to atanh, ==, !=, select, sums, means, products, matmul
// and all operations that move elements. Operations that need an order (<, max, sort, floor …)
// throw dtype_mismatch. A gradient is dL/dre + i·dL/dim. Complex tensors have at most seven axes,
// because the two parts use one more internally.
//
// Threads: any. Errors are thrown: dtype_mismatch, shape_mismatch.
#pragma once

#include "stoker/api/tensor/core/tensor.hpp"

namespace stoker {

[[nodiscard]] inline bool is_complex(const Tensor& x) noexcept { return is_complex(x.dtype()); }

/// re + i·im of real tensors or numbers, whose shapes broadcast. The result is c128 if either is
/// f64, else c64.
[[nodiscard]] Tensor complex(const TensorLike& re, const TensorLike& im);
/// The real part; a real tensor is returned as a float.
[[nodiscard]] Tensor real(const TensorLike& x);
/// The imaginary part; zeros for a real tensor.
[[nodiscard]] Tensor imag(const TensorLike& x);
/// re - i·im; a real tensor becomes complex.
[[nodiscard]] Tensor conjugate(const TensorLike& x);
/// The angle, in (-π, π].
[[nodiscard]] Tensor phase(const TensorLike& x);

/// The parts as pairs along a new last axis, without a copy: c64[n] as f32[n,2].
[[nodiscard]] Tensor view_as_real(const Tensor& x);
/// Pairs along the last axis, f32 or f64, as complex numbers.
[[nodiscard]] Tensor view_as_complex(const Tensor& pairs);

}  // namespace stoker
