// CPU versions: v1 v3. Wider vectors win nothing here and take long to compile.
#include "stoker/kernels/kernel.hpp"
#include "stoker/kernels/linear_algebra/matrices.hpp"
#include "stoker/kernels/svd/options.hpp"

namespace stoker::kernels::svd {

Result<void> define(KernelRegistry& registry) {
  auto kernel = kernel_of<Svd>();
  kernel.family = "linear algebra";
  kernel.summary =
      "U, S and Vt with A = U·S·Vt, for matrices [.., m, n] and k = min(m, n): U has orthonormal "
      "columns, Vt has orthonormal rows, and the singular values S [.., k] descend; the results "
      "are all NaN if A holds inf or NaN; in each column of U, and in each row of Vt after the "
      "first k, the first component whose magnitude is within 0.1 % of the largest is positive";
  kernel.source =
      "computed in f64: QR steps on the bidiagonal form (Golub, Reinsch, Singular value "
      "decomposition "
      "and least squares solutions, Numer. Math. 14, 1970); of few rows or columns, Jacobi's "
      "rotations "
      "after a QR";
  kernel.dtypes = linear_algebra::factor_dtypes();
  kernel.infer = [](const KernelCall& call) -> Result<std::vector<TensorSpec>> {
    STOKER_ASSIGN(const auto m, linear_algebra::matrices("svd", call.inputs[0]));
    const bool full = options::from<Svd>(call.params).full_matrices;
    const std::int64_t k = m.smaller();
    return std::vector<TensorSpec>{{call.dtype(), m.shape(m.rows, full ? m.rows : k)},
                                   {call.dtype(), m.batch.appended(k)},
                                   {call.dtype(), m.shape(full ? m.columns : k, m.columns)}};
  };
  return registry.add(std::move(kernel));
}

}  // namespace stoker::kernels::svd
