// CPU versions: v1 v3. Wider vectors win nothing here and take long to compile.
#include "stoker/kernels/kernel.hpp"
#include "stoker/kernels/linear_algebra/matrices.hpp"
#include "stoker/kernels/lu/options.hpp"

namespace stoker::kernels::lu {
namespace {

using linear_algebra::Matrices;

template <class K> Kernel begun() {
  auto kernel = kernel_of<K>();
  kernel.family = "linear algebra";
  kernel.source = "Golub, Van Loan, Matrix Computations, 4th ed., 3.4";
  kernel.dtypes = linear_algebra::factor_dtypes();
  return kernel;
}

Kernel lu() {
  auto kernel = begun<Lu>();
  kernel.summary =
      "P, L and U with A = P·L·U, by partial pivoting: a permutation [.., m, m], a lower triangle "
      "[.., m, k] with ones on its diagonal and an upper triangle [.., k, n]; k = min(m, n)";
  kernel.infer = [](const KernelCall& call) -> Result<std::vector<TensorSpec>> {
    STOKER_ASSIGN(const Matrices m, linear_algebra::matrices("lu", call.inputs[0]));
    return std::vector<TensorSpec>{{call.dtype(), m.shape(m.rows, m.rows)},
                                   {call.dtype(), m.shape(m.rows, m.smaller())},
                                   {call.dtype(), m.shape(m.smaller(), m.columns)}};
  };
  return kernel;
}

Kernel determinant() {
  auto kernel = begun<Determinant>();
  kernel.summary =
      "determinants [..] of matrices [.., n, n]: in closed form up to n = 3, else the product of "
      "the pivots of LU; 1 for n = 0";
  kernel.infer = [](const KernelCall& call) -> Result<std::vector<TensorSpec>> {
    STOKER_ASSIGN(const Matrices m, linear_algebra::square_matrices("determinant", call.inputs[0]));
    return std::vector<TensorSpec>{{call.dtype(), m.batch}};
  };
  return kernel;
}

Kernel solve() {
  auto kernel = begun<Solve>();
  kernel.summary =
      "X with A·X = B, by LU with partial pivoting, for A [.., n, n] and B [.., n, m]; a pivot of "
      "0 gives inf or NaN: A is then singular";
  kernel.inputs = {2, 2};
  kernel.infer = [](const KernelCall& call) -> Result<std::vector<TensorSpec>> {
    STOKER_TRY(linear_algebra::check_right_side("solve", call.inputs[0], call.inputs[1], true));
    return std::vector{call.inputs[1]};
  };
  return kernel;
}

}  // namespace

Result<void> define(KernelRegistry& registry) {
  STOKER_TRY(registry.add(lu()));
  STOKER_TRY(registry.add(determinant()));
  return registry.add(solve());
}

}  // namespace stoker::kernels::lu
