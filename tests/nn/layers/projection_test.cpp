// x · kernel + bias along the last axis.
#include "stoker/api/nn/functional/projection.hpp"

#include "stoker/tests/tensor/differences.hpp"
#include "stoker/tests/tensor/fixture.hpp"

namespace stoker::nn {
namespace {

using Projection = Tensors;

TEST_F(Projection, every_row_meets_the_kernel) {
  const Tensor kernel = tensor({{1.0, 10.0, 100.0}, {2.0, 20.0, 200.0}});
  const Tensor bias = tensor({0.5, 0.0, -0.5});
  expect_near(projected(tensor({1.0, 3.0}), kernel), {7, 70, 700});
  const Tensor y = projected(tensor({{{1.0, 3.0}}, {{2.0, 0.0}}}), kernel, bias);
  EXPECT_EQ(y.shape(), (Shape{2, 1, 3}));
  expect_near(y, {7.5, 70, 699.5, 2.5, 20, 199.5});
  EXPECT_EQ(projected(zeros({0, 4, 2}), kernel, bias).shape(), (Shape{0, 4, 3}));
}

TEST_F(Projection, gradients_pass_to_all_three) {
  expect_gradient([](const std::vector<Tensor>& in) { return projected(in[0], in[1], in[2]); },
                  {sample({2, 3, 2}, -1, 1, 1), sample({2, 4}, -1, 1, 2), sample({4}, -1, 1, 3)});
}

TEST_F(Projection, a_kernel_that_does_not_fit_is_refused) {
  const Error error = error_of([] { return projected(zeros({2, 3}), zeros({2, 4})); });
  EXPECT_EQ(error.code(), ErrorCode::shape_mismatch);
  EXPECT_EQ(error.reason(), "expected x […, in] and a kernel [in, out], got [2,3] and [2,4]");
  EXPECT_EQ(code_of([] {
              return projected(tensor(1.0), zeros({1, 1}));
            }),
            ErrorCode::shape_mismatch);
  EXPECT_EQ(code_of([] {
              return projected(zeros({2, 3}), zeros({1, 3, 4}));
            }),
            ErrorCode::shape_mismatch);
}

}  // namespace
}  // namespace stoker::nn
