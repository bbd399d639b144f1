// CPU versions: v1 v3. Wider vectors win nothing here and take long to compile.
#include "stoker/kernels/kernel.hpp"
#include "stoker/kernels/linear_algebra/matrices.hpp"
#include "stoker/kernels/qr/options.hpp"

namespace stoker::kernels::qr {

Result<void> define(KernelRegistry& registry) {
  auto kernel = kernel_of<Qr>();
  kernel.family = "linear algebra";
  kernel.summary =
      "Q with orthonormal columns and an upper triangular R, with A = Q·R, for matrices [.., m, "
      "n]; the shapes are [.., m, k] and [.., k, n] with k = min(m, n), or [.., m, m] and [.., m, "
      "n] if complete";
  kernel.source =
      "Householder reflections with LAPACK's signs (R's diagonal is negative where the reflected "
      "column begins with a positive number): Golub, Van Loan, Matrix Computations, 4th ed., 5.2";
  kernel.dtypes = linear_algebra::factor_dtypes();
  kernel.infer = [](const KernelCall& call) -> Result<std::vector<TensorSpec>> {
    STOKER_ASSIGN(const auto m, linear_algebra::matrices("qr", call.inputs[0]));
    const QrMode mode = options::from<Qr>(call.params).mode;
    const std::int64_t inner = mode == QrMode::complete ? m.rows : m.smaller();
    return std::vector<TensorSpec>{{call.dtype(), m.shape(m.rows, inner)},
                                   {call.dtype(), m.shape(inner, m.columns)}};
  };
  return registry.add(std::move(kernel));
}

}  // namespace stoker::kernels::qr
