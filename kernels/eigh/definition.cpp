// CPU versions: v1 v3. Wider vectors win nothing here and take long to compile.
#include "stoker/kernels/eigh/options.hpp"
#include "stoker/kernels/kernel.hpp"
#include "stoker/kernels/linear_algebra/matrices.hpp"

namespace stoker::kernels::eigh {

Result<void> define(KernelRegistry& registry) {
  auto kernel = kernel_of<Eigh>();
  kernel.family = "linear algebra";
  kernel.summary =
      "the eigenvalues [.., n] of symmetric matrices, ascending, and their orthonormal "
      "eigenvectors, in the columns of [.., n, n]; only the lower triangle is read; the results "
      "are all NaN if it holds inf or NaN; in each vector the first component whose magnitude is "
      "within 0.1 % of the largest is positive";
  kernel.source =
      "tridiagonal form and implicit QR: Golub, Van Loan, Matrix Computations, 4th ed., 8.3";
  kernel.dtypes = linear_algebra::factor_dtypes();
  kernel.infer = [](const KernelCall& call) -> Result<std::vector<TensorSpec>> {
    STOKER_ASSIGN(const auto m, linear_algebra::square_matrices("eigh", call.inputs[0]));
    return std::vector<TensorSpec>{{call.dtype(), m.batch.appended(m.rows)}, call.inputs[0]};
  };
  return registry.add(std::move(kernel));
}

}  // namespace stoker::kernels::eigh
