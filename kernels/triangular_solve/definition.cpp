// CPU versions: v1 v3. Wider vectors win nothing here and take long to compile.
#include "stoker/kernels/kernel.hpp"
#include "stoker/kernels/linear_algebra/matrices.hpp"
#include "stoker/kernels/triangular_solve/options.hpp"

namespace stoker::kernels::triangular_solve {

Result<void> define(KernelRegistry& registry) {
  auto kernel = kernel_of<TriangularSolve>();
  kernel.family = "linear algebra";
  kernel.summary =
      "X with op(A)·X = B, or X·op(A) = B, for triangular A [.., n, n]; the other triangle of A is "
      "not read; a zero on the diagonal of A gives inf or NaN";
  kernel.inputs = {2, 2};
  kernel.dtypes = linear_algebra::factor_dtypes();
  kernel.infer = [](const KernelCall& call) -> Result<std::vector<TensorSpec>> {
    const bool left = options::from<TriangularSolve>(call.params).left_side;
    STOKER_TRY(
        linear_algebra::check_right_side("triangular_solve", call.inputs[0], call.inputs[1], left));
    return std::vector{call.inputs[1]};
  };
  return registry.add(std::move(kernel));
}

}  // namespace stoker::kernels::triangular_solve
