// CPU versions: v1 v3. Wider vectors win nothing here and take long to compile.
#include "stoker/kernels/eigh/options.hpp"
#include "stoker/kernels/kernel.hpp"
#include "stoker/kernels/linear_algebra/matrices.hpp"

namespace stoker::kernels::eigh {

Result<void> define(KernelRegistry& registry) {
  auto kernel = kernel_of<Eigh>();
  kernel.family = "linear algebra";
  kernel.summary =
      "eigenvalues [.., n], ascending, and orthonormal eigenvectors in the columns of [.., n, n] "
      "of "
      "symmetric matrices, of which only the lower triangle is read; each vector's first component "
      "of (within 0.1 %) the largest magnitude is positive; all NaN where that triangle holds inf "
      "or NaN";
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
