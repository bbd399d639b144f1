// CPU versions: v1 v3. Wider vectors win nothing here and take long to compile.
#include "stoker/kernels/kernel.hpp"
#include "stoker/kernels/linear_algebra/matrices.hpp"

namespace stoker::kernels::triangular_solve {

Result<void> define(KernelRegistry& registry) {
  Kernel kernel;
  kernel.name = "triangular_solve";
  kernel.family = "linear algebra";
  kernel.summary =
      "X of op(A)·X = B, or X·op(A) = B, for triangular A [.., n, n], whose other triangle is not "
      "read; a zero on A's diagonal gives inf or NaN";
  kernel.params = {{.name = "lower",
                    .type = ParamType::boolean,
                    .fallback = true,
                    .doc = "whether A is its lower triangle, else its upper one"},
                   {.name = "left_side",
                    .type = ParamType::boolean,
                    .fallback = true,
                    .doc = "op(A)·X = B with B [.., n, m], else X·op(A) = B with B [.., m, n]"},
                   {.name = "transpose",
                    .type = ParamType::boolean,
                    .fallback = false,
                    .doc = "op(A) is A's transpose, else A itself"}};
  kernel.inputs = {2, 2};
  kernel.dtypes = linear_algebra::factor_dtypes();
  kernel.infer = [](const KernelCall& call) -> Result<std::vector<TensorSpec>> {
    STOKER_TRY(linear_algebra::check_right_side("triangular_solve", call.inputs[0], call.inputs[1],
                                                call.params.flag("left_side")));
    return std::vector{call.inputs[1]};
  };
  return registry.add(std::move(kernel));
}

}  // namespace stoker::kernels::triangular_solve
