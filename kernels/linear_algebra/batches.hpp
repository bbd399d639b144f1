// Batches of matrices on the CPU with Eigen: one matrix is one piece of work, never shared between
// slices, so results do not depend on how many there are.
//
// Compiled once per instruction set. Eigen's templates are emitted into those objects only, where
// cmake/cpu_kernels.cmake makes them local. Include this before any other header of Eigen.
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>

// A short kernel may run on a fiber's stack of 64 KiB; Eigen's temporaries of run-time size take up to
// twice that unless they all come from the heap.
#define EIGEN_STACK_ALLOCATION_LIMIT 0
#define EIGEN_DONT_PARALLELIZE
#define EIGEN_MPL2_ONLY
#if defined(__GNUC__) && !defined(__clang__)
// GCC 12 takes the undefined registers of its own AVX-512 functions for a mistake of whoever is
// inlined around them, to the end of the source.
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"
#pragma GCC diagnostic ignored "-Wuninitialized"
#endif
#include <Eigen/Core>

#include "stoker/kernels/cpu_plan.hpp"

namespace stoker::kernels::linear_algebra::STOKER_ISA {

template <class T, int Order> using Dense = Eigen::Matrix<T, Eigen::Dynamic, Eigen::Dynamic, Order>;
/// Matrices as buffers hold them, and as most of Eigen's factorizations work fastest.
template <class T> using Rows = Dense<T, Eigen::RowMajor>;
template <class T> using Columns = Dense<T, Eigen::ColMajor>;
template <class M> using View = Eigen::Map<M>;
template <class M> using ConstView = Eigen::Map<const M>;

/// A plan of one stage that calls body(args, begin, end) for ranges of `count` matrices, each of
/// which costs about `flops`. A body makes its working memory once for its range.
template <class Body> CpuPlan batch_plan(std::int64_t count, double flops, Body body) {
  const double each_ns = 150 + 0.3 * flops;
  const auto n = static_cast<std::size_t>(count);
  const std::uint32_t slices = slice_count(n, static_cast<std::size_t>(50000 / each_ns));
  CpuPlan plan;
  plan.cost_ns = 50 + each_ns * static_cast<double>(count);
  plan.stages.push_back({slices, [n, slices, body](const CpuArgs& args, std::uint32_t index) {
                           const SliceRange range = slice_range(n, slices, index, 1);
                           body(args, static_cast<std::int64_t>(range.begin),
                                static_cast<std::int64_t>(range.end));
                         }});
  return plan;
}

template <class T> inline void fill_nan(T* to, std::int64_t n) noexcept {
  std::fill_n(to, n, std::numeric_limits<T>::quiet_NaN());
}

template <class T> inline bool all_finite(const T* from, std::int64_t n) noexcept {
  // 0 · x is 0 for finite numbers and NaN for the others.
  T sum = 0;
  for (std::int64_t i = 0; i < n; ++i) sum += 0 * from[i];
  return sum == 0;
}

/// Whether the convention for vectors that are unique up to their sign turns this one around: the
/// first component of all but the largest magnitude is positive. "All but": equal components, as
/// symmetric matrices like to have, differ by rounding.
template <class Vector> inline bool turns_around(const Vector& v) noexcept {
  if (v.size() == 0) return false;
  const auto nearly = v.cwiseAbs().maxCoeff() * static_cast<typename Vector::Scalar>(0.999);
  Eigen::Index i = 0;
  while (i + 1 < v.size() && !(std::abs(v[i]) >= nearly)) ++i;
  return v[i] < 0;
}

}  // namespace stoker::kernels::linear_algebra::STOKER_ISA
