// Products, and matrices, which are the last two axes.
#include "stoker/api/tensor/math/linear_algebra.hpp"

#include "stoker/api/script/functions/function_table.hpp"
#include "stoker/api/tensor/math/products.hpp"

namespace stoker::script {

void define_linear_algebra(FunctionTable& table) {
  using Call = FunctionCall;
  table.add("dot", {2, 2},
            {integers_option("contract_a", "axes of a that are summed over"),
             integers_option("contract_b", "the axes of b that belong to them"),
             integers_option("batch_a", "axes of a that stay, together with those of b"),
             integers_option("batch_b", "the axes of b that belong to them")},
            "Σ a·b over pairs of axes; without options the last axis of a and the second last of "
            "b, or its only one",
            [](const Call& c) {
              const DotAxes a{c.integers("contract_a"), c.integers("batch_a")};
              const DotAxes b{c.integers("contract_b"), c.integers("batch_b")};
              const bool is_plain =
                  a.contract.empty() && b.contract.empty() && a.batch.empty() && b.batch.empty();
              return is_plain ? dot(c.x(0), c.x(1)) : dot(c.x(0), a, c.x(1), b);
            });
  table.add("outer", {2, 2}, {},
            "a matrix: each element of the first input times each of the second",
            [](const Call& c) { return outer(c.x(0), c.x(1)); });
  table.add("adjoint", {1, 1}, {}, "x with its last two axes exchanged and its elements conjugated",
            [](const Call& c) { return linalg::adjoint(c.x()); });
  table.add("invert", {1, 1}, {}, "the inverses of square matrices",
            [](const Call& c) { return linalg::invert(c.x()); });
  table.add("matrix_power", {1, 1},
            {integer_option("n", {}, "the exponent; a negative one is of the inverse")},
            "the n-th power of square matrices",
            [](const Call& c) { return linalg::matrix_power(c.x(), c.integer("n")); });
  table.add("pinv", {1, 1},
            {real_option("rcond", -1,
                         "singular values up to this share of the largest count as 0; -1: the "
                         "longer side times the dtype's epsilon",
                         0)},
            "the Moore-Penrose inverses of matrices", [](const Call& c) {
              const double rcond = c.real("rcond");
              return linalg::pinv(c.x(), rcond == -1 ? std::nullopt : std::optional{rcond});
            });
  table.add("matrix_rank", {1, 1},
            {real_option("eps", 1e-7,
                         "singular values up to this, times the longer side and the largest one, "
                         "count as 0",
                         0)},
            "the ranks (s32) of matrices",
            [](const Call& c) { return linalg::matrix_rank(c.x(), c.real("eps")); });
  table.add("least_squares", {2, 2}, {}, "the x of smallest norm for which a·x is closest to b",
            [](const Call& c) { return linalg::least_squares(c.x(0), c.x(1)); });
}

}  // namespace stoker::script
