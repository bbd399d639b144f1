#include "stoker/kernels/linear_algebra/batches.hpp"
// After the settings in batches.hpp:
#include <Eigen/LU>
#include <numeric>

#include "stoker/kernels/linear_algebra/matrices.hpp"

namespace stoker::kernels::lu::STOKER_ISA {
namespace {

namespace algebra = stoker::kernels::linear_algebra::STOKER_ISA;
using linear_algebra::Matrices;

/// Factors one matrix after another in the same memory. Afterwards `factors` holds L below its
/// diagonal and U from there on, and row i of the product is row order[i] of the matrix.
/// Eigen's PartialPivLU takes square matrices only; the function beneath it takes tall ones, too.
template <class T> struct Factorization {
  algebra::Rows<T> factors;
  std::vector<std::int64_t> order;
  bool odd = false;  ///< whether `order` is an odd permutation

  void factor(const T* a, std::int64_t rows, std::int64_t columns) {
    factors = algebra::ConstView<algebra::Rows<T>>(a, rows, columns);
    order.resize(static_cast<std::size_t>(rows));
    std::iota(order.begin(), order.end(), 0);
    odd = false;
    const std::int64_t steps = std::min(rows, columns);
    if (steps == 0) return;
    swaps_.resize(steps);
    Eigen::Index count = 0;
    Eigen::Ref<algebra::Rows<T>> left(factors.leftCols(steps));
    Eigen::internal::partial_lu_inplace(left, swaps_, count);
    for (std::int64_t i = 0; i < steps; ++i)
      std::swap(order[static_cast<std::size_t>(i)], order[static_cast<std::size_t>(swaps_[i])]);
    odd = count % 2 != 0;
    if (columns > steps) follow(columns - steps);
  }

 private:
  /// What the steps do to the columns past the last pivot of a wide matrix.
  void follow(std::int64_t more) {
    for (std::int64_t i = 0; i < swaps_.size(); ++i)
      factors.row(i).tail(more).swap(factors.row(swaps_[i]).tail(more));
    auto right = factors.rightCols(more);
    factors.leftCols(swaps_.size()).template triangularView<Eigen::UnitLower>().solveInPlace(right);
  }

  Eigen::Matrix<Eigen::Index, Eigen::Dynamic, 1> swaps_;
};

template <class T> void write_factors(const Factorization<T>& lu, T* p, T* l, T* u) {
  const std::int64_t rows = lu.factors.rows(), columns = lu.factors.cols();
  const std::int64_t k = std::min(rows, columns);
  std::fill_n(p, rows * rows, T{0});
  for (std::int64_t i = 0; i < rows; ++i) p[lu.order[static_cast<std::size_t>(i)] * rows + i] = 1;
  for (std::int64_t i = 0; i < rows; ++i, l += k) {
    const T* row = lu.factors.data() + i * columns;
    const std::int64_t below = std::min(i, k);
    std::copy_n(row, below, l);
    std::fill_n(l + below, k - below, T{0});
    if (i < k) l[i] = 1;
  }
  for (std::int64_t i = 0; i < k; ++i, u += columns) {
    std::fill_n(u, i, T{0});
    std::copy_n(lu.factors.data() + i * columns + i, columns - i, u + i);
  }
}

/// f32 in f64: the products of the closed forms cancel, those of pivots overflow.
template <class T> double determinant(const T* a, std::int64_t n, Factorization<T>& lu) {
  const auto at = [a](int i) { return static_cast<double>(a[i]); };
  if (n == 0) return 1;
  if (n == 1) return at(0);
  if (n == 2) return at(0) * at(3) - at(1) * at(2);
  if (n == 3)
    return at(0) * (at(4) * at(8) - at(5) * at(7)) - at(1) * (at(3) * at(8) - at(5) * at(6)) +
           at(2) * (at(3) * at(7) - at(4) * at(6));
  lu.factor(a, n, n);
  double product = lu.odd ? -1 : 1;
  for (std::int64_t i = 0; i < n; ++i) product *= static_cast<double>(lu.factors(i, i));
  return product;
}

template <class T>
void solve(const T* a, const T* b, T* x, std::int64_t n, std::int64_t columns,
           Factorization<T>& lu) {
  lu.factor(a, n, n);
  for (std::int64_t i = 0; i < n; ++i)
    std::copy_n(b + lu.order[static_cast<std::size_t>(i)] * columns, columns, x + i * columns);
  algebra::View<algebra::Rows<T>> result(x, n, columns);
  lu.factors.template triangularView<Eigen::UnitLower>().solveInPlace(result);
  lu.factors.template triangularView<Eigen::Upper>().solveInPlace(result);
}

/// A plan that calls each(args, i, factorization) for every matrix i.
template <class T, class Each> CpuPlan plan_of(const Matrices& m, double more_flops, Each each) {
  const double k = static_cast<double>(m.smaller());
  const double flops = k * k * static_cast<double>(std::max(m.rows, m.columns)) + more_flops;
  return algebra::batch_plan(m.count, flops,
                             [each](const CpuArgs& args, std::int64_t begin, std::int64_t end) {
                               Factorization<T> lu;
                               for (std::int64_t i = begin; i < end; ++i) each(args, i, lu);
                             });
}

template <class T> CpuPlan factor_plan(const Matrices& m) {
  return plan_of<T>(m, 0, [m](const CpuArgs& args, std::int64_t i, Factorization<T>& lu) {
    lu.factor(args.in<T>(0) + i * m.rows * m.columns, m.rows, m.columns);
    write_factors(lu, args.out<T>(0) + i * m.rows * m.rows,
                  args.out<T>(1) + i * m.rows * m.smaller(),
                  args.out<T>(2) + i * m.smaller() * m.columns);
  });
}

template <class T> CpuPlan determinant_plan(const Matrices& m) {
  return plan_of<T>(m, 0, [n = m.rows](const CpuArgs& args, std::int64_t i, Factorization<T>& lu) {
    args.out<T>()[i] = static_cast<T>(determinant(args.in<T>(0) + i * n * n, n, lu));
  });
}

template <class T> CpuPlan solve_plan(const Matrices& m, std::int64_t columns) {
  const double flops = 2 * static_cast<double>(m.rows) * static_cast<double>(m.rows * columns);
  return plan_of<T>(
      m, flops, [n = m.rows, columns](const CpuArgs& args, std::int64_t i, Factorization<T>& lu) {
        solve(args.in<T>(0) + i * n * n, args.in<T>(1) + i * n * columns,
              args.out<T>() + i * n * columns, n, columns, lu);
      });
}

Result<CpuPlan> plan_factor(const KernelCall& call, std::span<const TensorSpec>) {
  STOKER_ASSIGN(const Matrices m, linear_algebra::matrices("lu", call.inputs[0]));
  return call.dtype() == DType::f64 ? factor_plan<double>(m) : factor_plan<float>(m);
}

Result<CpuPlan> plan_determinant(const KernelCall& call, std::span<const TensorSpec>) {
  STOKER_ASSIGN(const Matrices m, linear_algebra::square_matrices("determinant", call.inputs[0]));
  return call.dtype() == DType::f64 ? determinant_plan<double>(m) : determinant_plan<float>(m);
}

Result<CpuPlan> plan_solve(const KernelCall& call, std::span<const TensorSpec>) {
  STOKER_ASSIGN(const Matrices m, linear_algebra::square_matrices("solve", call.inputs[0]));
  STOKER_ASSIGN(const Matrices b, linear_algebra::matrices("solve", call.inputs[1]));
  return call.dtype() == DType::f64 ? solve_plan<double>(m, b.columns)
                                    : solve_plan<float>(m, b.columns);
}

}  // namespace

void implement(CpuTable& table) {
  table.set("lu", &plan_factor);
  table.set("determinant", &plan_determinant);
  table.set("solve", &plan_solve);
}

}  // namespace stoker::kernels::lu::STOKER_ISA
