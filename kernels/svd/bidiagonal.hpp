// Singular values and vectors of an upper bidiagonal matrix by implicit QR steps: G. H. Golub, C. Reinsch,
// "Singular value decomposition and least squares solutions", 1970, in the form of LINPACK's dsvdc. It holds
// for every matrix: what is negligible beside its neighbours splits the matrix, or takes a rotation of its
// own, and vectors are products of rotations.
//
// Compiled once per instruction set.
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <span>
#include <utility>

#include "stoker/kernels/linear_algebra/batches.hpp"

namespace stoker::kernels::svd::STOKER_ISA {

class Bidiagonal {
 public:
  using Matrix = linear_algebra::STOKER_ISA::Columns<double>;

  /// `diagonal` and, one element longer than it needs, `beside`: what is right of the diagonal. `u` and `v`
  /// hold columns that the rotations turn.
  Bidiagonal(std::span<double> diagonal, std::span<double> beside, Matrix& u, Matrix& v)
      : s_{diagonal.data()},
        e_{beside.data()},
        size_{static_cast<std::int64_t>(diagonal.size())},
        u_{u},
        v_{v} {}

  /// The diagonal becomes the singular values, from the largest on. False if they are not found.
  bool decompose() {
    for (std::int64_t p = size_, steps = 0; p > 0;) {
      std::int64_t k = p - 2;  // from behind the last negligible element beside the diagonal
      while (k >= 0 && std::abs(e_[k]) > tiny + epsilon * (std::abs(s_[k]) + std::abs(s_[k + 1])))
        --k;
      if (k >= 0) e_[k] = 0;
      if (k == p - 2) {
        settle(p - 1);
        --p;
        steps = 0;
        continue;
      }
      if (++steps > most_steps) return false;
      std::int64_t zero = p - 1;  // the last negligible one on the diagonal
      while (zero > k && !negligible(zero, k, p)) --zero;
      if (zero == k)
        step(k + 1, p);
      else if (zero == p - 1)
        clear_column(k + 1, p);
      else
        clear_row(zero + 1, p);
    }
    return true;
  }

 private:
  static constexpr double epsilon = std::numeric_limits<double>::epsilon();
  static constexpr double tiny = 0x1p-966;
  static constexpr std::int64_t most_steps = 100;

  struct Rotation {
    double length, c, s;
    Rotation(double x, double y) noexcept : length{std::hypot(x, y)} {
      c = length > 0 ? x / length : 1;
      s = length > 0 ? y / length : 0;
    }
  };

  static void turn(Matrix& columns, std::int64_t i, std::int64_t j, const Rotation& by) noexcept {
    double* const x = columns.data() + i * columns.rows();
    double* const y = columns.data() + j * columns.rows();
#pragma GCC ivdep
    for (Eigen::Index row = 0; row < columns.rows(); ++row) {
      const double old = x[row];
      x[row] = by.c * old + by.s * y[row];
      y[row] = by.c * y[row] - by.s * old;
    }
  }

  bool negligible(std::int64_t i, std::int64_t k, std::int64_t p) noexcept {
    const double near = (i < p - 1 ? std::abs(e_[i]) : 0) + (i > k + 1 ? std::abs(e_[i - 1]) : 0);
    if (std::abs(s_[i]) > tiny + epsilon * near) return false;
    s_[i] = 0;
    return true;
  }

  /// The last diagonal element is 0: what is above it goes.
  void clear_column(std::int64_t k, std::int64_t p) noexcept {
    double f = std::exchange(e_[p - 2], 0.0);
    for (std::int64_t j = p - 2; j >= k; --j) {
      const Rotation by{s_[j], f};
      s_[j] = by.length;
      if (j > k) {
        f = -by.s * e_[j - 1];
        e_[j - 1] *= by.c;
      }
      turn(v_, j, p - 1, by);
    }
  }

  /// The diagonal element before `k` is 0: what is right of it goes.
  void clear_row(std::int64_t k, std::int64_t p) noexcept {
    double f = std::exchange(e_[k - 1], 0.0);
    for (std::int64_t j = k; j < p; ++j) {
      const Rotation by{s_[j], f};
      s_[j] = by.length;
      f = -by.s * e_[j];
      e_[j] *= by.c;
      turn(u_, j, k - 1, by);
    }
  }

  void step(std::int64_t k, std::int64_t p) noexcept {
    const double scale = std::max({std::abs(s_[p - 1]), std::abs(s_[p - 2]), std::abs(e_[p - 2]),
                                   std::abs(s_[k]), std::abs(e_[k])});
    const double last = s_[p - 1] / scale, before = s_[p - 2] / scale, beside = e_[p - 2] / scale;
    const double first = s_[k] / scale;
    const double b = ((before + last) * (before - last) + beside * beside) / 2;
    const double c = (last * beside) * (last * beside);
    const double root = std::copysign(std::sqrt(b * b + c), b);
    const double shift = b != 0 || c != 0 ? c / (b + root) : 0;
    double f = (first + last) * (first - last) + shift;
    double g = first * (e_[k] / scale);
    for (std::int64_t j = k; j < p - 1; ++j) {
      const Rotation right{f, g};
      if (j > k) e_[j - 1] = right.length;
      f = right.c * s_[j] + right.s * e_[j];
      e_[j] = right.c * e_[j] - right.s * s_[j];
      g = right.s * s_[j + 1];
      s_[j + 1] *= right.c;
      turn(v_, j, j + 1, right);
      const Rotation left{f, g};
      s_[j] = left.length;
      f = left.c * e_[j] + left.s * s_[j + 1];
      s_[j + 1] = left.c * s_[j + 1] - left.s * e_[j];
      g = left.s * e_[j + 1];
      e_[j + 1] *= left.c;
      turn(u_, j, j + 1, left);
    }
    e_[p - 2] = f;
  }

  /// Element k stands alone: it becomes positive and takes its place among those behind it.
  void settle(std::int64_t k) noexcept {
    if (s_[k] < 0) {
      s_[k] = -s_[k];
      v_.col(k) *= -1;
    }
    for (; k + 1 < size_ && s_[k] < s_[k + 1]; ++k) {
      std::swap(s_[k], s_[k + 1]);
      u_.col(k).swap(u_.col(k + 1));
      v_.col(k).swap(v_.col(k + 1));
    }
  }

  double* s_;
  double* e_;
  std::int64_t size_;
  Matrix& u_;
  Matrix& v_;
};

}  // namespace stoker::kernels::svd::STOKER_ISA
