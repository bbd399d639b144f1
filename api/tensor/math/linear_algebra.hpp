// Linear algebra of the last two axes, for each entry of those before. Integers and 16-bit floats are
// computed as f32. The factorizations run on the CPU device.
//
// Threads: any. Errors are thrown: shape_mismatch, invalid_parameter. A matrix that has no factors gives
// NaN, one that has no inverse infinities or NaN; neither is an error.
#pragma once

#include <optional>
#include <string_view>

#include "stoker/api/tensor/core/tensor.hpp"
#include "stoker/api/tensor/math/reductions.hpp"

namespace stoker::linalg {

/// The last two axes exchanged, and complex elements conjugated.
[[nodiscard]] Tensor adjoint(const Tensor& a);
/// L with A = L·Lᵀ; reads the lower half.
[[nodiscard]] Tensor cholesky(const Tensor& a);
struct Lu {
  Tensor p, l, u;  ///< A = P·L·U
};
[[nodiscard]] Lu lu(const Tensor& a);
struct Qr {
  Tensor q, r;
};
/// Householder's. `complete`: Q is square.
[[nodiscard]] Qr qr(const Tensor& a, bool complete = false);
struct Eigh {
  Tensor values;   ///< ascending
  Tensor vectors;  ///< in columns
};
/// Of a symmetric matrix, of which the lower half is read.
[[nodiscard]] Eigh eigh(const Tensor& a);
struct Svd {
  Tensor u, s, vt;  ///< s descending
};
[[nodiscard]] Svd svd(const Tensor& a, bool full_matrices = true);

struct Triangle {
  bool lower = true;
  bool left_side = true;  ///< a·x = b, else x·a = b
  bool transpose = false;
};
/// b is a vector or a matrix.
[[nodiscard]] Tensor triangular_solve(const Tensor& a, const Tensor& b, const Triangle& how = {});
/// x with a·x = b; b is a vector or a matrix.
[[nodiscard]] Tensor solve(const Tensor& a, const Tensor& b);
[[nodiscard]] Tensor invert(const Tensor& a);
[[nodiscard]] Tensor determinant(const Tensor& a);
[[nodiscard]] Tensor matrix_power(const Tensor& a, std::int64_t n);
/// Moore and Penrose's inverse. Singular values up to `rcond` times the largest count as 0: max(m, n)
/// roundings unless it is given, as NumPy 2 does it. invalid_argument if it is negative or NaN.
[[nodiscard]] Tensor pinv(const Tensor& a, std::optional<double> rcond = {});
/// Singular values above eps · max(m, n) · the largest, as s32.
[[nodiscard]] Tensor matrix_rank(const Tensor& a, double eps = 1e-7);
/// The shortest x for which a·x is nearest to b: pinv(a)·b.
[[nodiscard]] Tensor least_squares(const Tensor& a, const Tensor& b);

/// Of vectors (one axis) or matrices (two), the whole tensor's or along axes. `ord`: "" (the root of the
/// sum of squares, of any axes), "1", "-1", "2", "-2", "inf", "-inf", "fro", "nuc"; for vectors also "0"
/// (how many are not 0) and any number p.
[[nodiscard]] Tensor norm(const Tensor& x, std::string_view ord = {}, const Reduce& over = {});

}  // namespace stoker::linalg
