// Linear algebra on the last two axes; leading axes are a batch. Integers and 16-bit floats are
// computed as f32. The factorizations run on the CPU device.
//
// Threads: any. Errors are thrown: shape_mismatch, invalid_parameter. A matrix without the
// factorization gives NaN, a singular matrix infinities or NaN; neither is an error.
#pragma once

#include <concepts>
#include <cstdint>
#include <limits>
#include <optional>
#include <type_traits>

#include "stoker/api/tensor/core/tensor.hpp"
#include "stoker/api/tensor/math/reductions.hpp"

namespace stoker::linalg {

/// The last two axes exchanged, and complex elements conjugated.
[[nodiscard]] Tensor adjoint(const Tensor& a);
/// L with A = L·Lᵀ; reads only the lower triangle.
[[nodiscard]] Tensor cholesky(const Tensor& a);
struct Lu {
  Tensor p, l, u;  ///< A = P·L·U
};
[[nodiscard]] Lu lu(const Tensor& a);
struct Qr {
  Tensor q, r;
};
/// By Householder reflections. `complete`: Q is square.
[[nodiscard]] Qr qr(const Tensor& a, bool complete = false);
struct Eigh {
  Tensor values;   ///< ascending
  Tensor vectors;  ///< in columns
};
/// Eigenvalues and eigenvectors of a symmetric matrix; reads only the lower triangle.
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
/// The Moore–Penrose inverse. Singular values up to `rcond` times the largest count as 0; the
/// default is max(m, n) times the dtype's epsilon, as in NumPy 2. Throws invalid_argument if it is
/// negative or NaN.
[[nodiscard]] Tensor pinv(const Tensor& a, std::optional<double> rcond = {});
/// The number of singular values above eps · max(m, n) · the largest, as s32.
[[nodiscard]] Tensor matrix_rank(const Tensor& a, double eps = 1e-7);
/// The least-squares solution of smallest norm: pinv(a)·b.
[[nodiscard]] Tensor least_squares(const Tensor& a, const Tensor& b);

inline constexpr double inf = std::numeric_limits<double>::infinity();
/// The root of the sum of squares, and the sum of the singular values.
enum class MatrixNorm : std::uint8_t { fro, nuc };

/// Which norm: the root of the sum of squares over any axes; a number, of vectors and matrices; or one
/// that only matrices have.
class NormOrder {
 public:
  NormOrder() = default;
  template <class T>
  requires std::is_arithmetic_v<T> &&(!std::same_as<T, bool>)
      NormOrder(T number)  // NOLINT(google-explicit-constructor): norm(x, 1)
      : number_{static_cast<double>(number)} {}
  NormOrder(MatrixNorm name) : name_{name} {}  // NOLINT(google-explicit-constructor)

  [[nodiscard]] bool is_given() const noexcept { return number_ || name_; }
  [[nodiscard]] const std::optional<double>& number() const noexcept { return number_; }
  [[nodiscard]] const std::optional<MatrixNorm>& name() const noexcept { return name_; }

 private:
  std::optional<double> number_;
  std::optional<MatrixNorm> name_;
};
/// The norm of vectors (one axis) or matrices (two axes), of the whole tensor or along axes. Orders are
/// NumPy's: of vectors any number, where 0 counts the elements that are not 0; of matrices 1, -1, 2, -2,
/// inf, -inf and those with names. Throws invalid_parameter for another one.
[[nodiscard]] Tensor norm(const Tensor& x, const NormOrder& ord = {}, const Reduce& over = {});

}  // namespace stoker::linalg
