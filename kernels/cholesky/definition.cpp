// CPU versions: v1 v3. Wider vectors win nothing here and take long to compile.
#include "stoker/kernels/cholesky/options.hpp"
#include "stoker/kernels/kernel.hpp"
#include "stoker/kernels/linear_algebra/matrices.hpp"

namespace stoker::kernels::cholesky {

Result<void> define(KernelRegistry& registry) {
  auto kernel = kernel_of<Cholesky>();
  kernel.family = "linear algebra";
  kernel.summary =
      "the lower triangular L with A = L·Lᵀ, for symmetric positive definite matrices [.., n, n]; "
      "only the lower triangle of A is read; L is all NaN if A is not positive definite";
  kernel.source = "Golub, Van Loan, Matrix Computations, 4th ed., 4.2";
  kernel.dtypes = linear_algebra::factor_dtypes();
  kernel.infer = [](const KernelCall& call) -> Result<std::vector<TensorSpec>> {
    STOKER_TRY(linear_algebra::square_matrices("cholesky", call.inputs[0]));
    return std::vector{call.inputs[0]};
  };
  return registry.add(std::move(kernel));
}

}  // namespace stoker::kernels::cholesky
