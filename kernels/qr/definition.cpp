// CPU versions: v1 v3. Wider vectors win nothing here and take long to compile.
#include "stoker/kernels/kernel.hpp"
#include "stoker/kernels/linear_algebra/matrices.hpp"

namespace stoker::kernels::qr {

Result<void> define(KernelRegistry& registry) {
  Kernel kernel;
  kernel.name = "qr";
  kernel.family = "linear algebra";
  kernel.summary =
      "Q with orthonormal columns and upper triangular R of A = Q·R for matrices [.., m, n]: "
      "[.., m, k] and [.., k, n], k = min(m, n), or the complete [.., m, m] and [.., m, n]";
  kernel.source =
      "Householder reflections with LAPACK's signs (R's diagonal is negative where the reflected "
      "column begins with a positive number): Golub, Van Loan, Matrix Computations, 4th ed., 5.2";
  kernel.params = {{.name = "mode",
                    .type = ParamType::text,
                    .fallback = std::string{"reduced"},
                    .doc = "reduced: k columns of Q and rows of R; complete: m of both",
                    .choices = {"reduced", "complete"}}};
  kernel.dtypes = linear_algebra::factor_dtypes();
  kernel.infer = [](const KernelCall& call) -> Result<std::vector<TensorSpec>> {
    STOKER_ASSIGN(const auto m, linear_algebra::matrices("qr", call.inputs[0]));
    const std::int64_t inner = call.params.text("mode") == "complete" ? m.rows : m.smaller();
    return std::vector<TensorSpec>{{call.dtype(), m.shape(m.rows, inner)},
                                   {call.dtype(), m.shape(inner, m.columns)}};
  };
  return registry.add(std::move(kernel));
}

}  // namespace stoker::kernels::qr
