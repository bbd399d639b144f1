// triangular_solve as a type (kernels/typed_kernel.hpp).
#pragma once

#include "stoker/kernels/typed_kernel.hpp"

namespace stoker::kernels {

struct TriangularSolve {
  static constexpr KernelName kind{"triangular_solve"};
  bool lower = true;
  bool left_side = true;
  bool transpose = false;
};
template <class V> void visit_options(TriangularSolve& o, V&& visit) {
  visit("lower", o.lower, anything, "A is the lower triangle, else the upper one");
  visit("left_side", o.left_side, anything,
        "solves op(A)·X = B with B [.., n, m], else X·op(A) = B with B [.., m, n]");
  visit("transpose", o.transpose, anything, "op(A) is A's transpose, else A itself");
}

using TriangularSolveKernels = KernelTypes<TriangularSolve>;

}  // namespace stoker::kernels
