// The examples of docs/tensors.md; see guides_test.cpp.
#include <gtest/gtest.h>

#include "stoker/api/system.hpp"
#include "stoker/api/tensor.hpp"

namespace {

class TensorGuide : public testing::Test {
 protected:
  stoker::System own;
  stoker::DeviceScope cpu{own.device("cpu")};
};

TEST_F(TensorGuide, begins) {
  const stoker::Tensor x = stoker::tensor({{1.0, 2.0}, {3.0, 4.0}});
  const stoker::Tensor y = stoker::sum(stoker::exp(x) / 2, {stoker::Axes{0}});  // nothing has run
  const std::vector<float> values = y.to_vector<float>();                       // now it has
  EXPECT_EQ(values.size(), 2U);
  EXPECT_EQ(to_string(x), "f32[2,2]\n[[1, 2],\n [3, 4]]");
}

TEST_F(TensorGuide, dtypes) {
  const stoker::Tensor bytes = stoker::zeros({4}, stoker::DType::u8);
  EXPECT_EQ((bytes + 255).dtype(), stoker::DType::u8);
  EXPECT_EQ((bytes + 256).dtype(), stoker::DType::u16);
  EXPECT_EQ((bytes / 2).dtype(), stoker::DType::f32);
}

TEST(TensorGuides, devices) {
  const stoker::System system;
  const stoker::DeviceScope scope{system.device("cpu")};
  const stoker::Tensor here = stoker::ones({2, 3});
  const stoker::Tensor there = here.to(system.device("null"));
  EXPECT_EQ(there.shape(), here.shape());
}

TEST_F(TensorGuide, evaluation) {
  const stoker::Tensor a = stoker::sin(stoker::iota({1000}, stoker::DType::f32));
  const stoker::Tensor b = a * a;
  stoker::eval({a, b});  // both are queued as one program
  EXPECT_EQ(b.read<float>().get().size(), 1000U);
}

TEST_F(TensorGuide, convolutions) {
  const stoker::Tensor images = stoker::ones({8, 28, 28, 3});  // channels last
  const stoker::Tensor kernel = stoker::ones({3, 3, 3, 16});
  const stoker::Tensor maps = stoker::conv(images, kernel,
                                           {.strides = stoker::Axes{2, 2},
                                            .padding = stoker::Pad::same,
                                            .input_permutation = stoker::Axes{0, 3, 1, 2},
                                            .kernel_permutation = stoker::Axes{3, 2, 0, 1},
                                            .output_permutation = stoker::Axes{0, 3, 1, 2}});
  EXPECT_EQ(maps.shape(), (stoker::Shape{8, 14, 14, 16}));
}

TEST_F(TensorGuide, gradients) {
  const auto loss = [](const stoker::Tensor& w, const stoker::Tensor& x) {
    return stoker::sum(stoker::pow(stoker::matmul(x, w), 2));
  };
  const stoker::Tensor w = stoker::tensor({1.0, 2.0});
  const stoker::Tensor x = stoker::tensor({{1.0, 0.0}, {0.0, 1.0}});
  const auto [value, gradient] = stoker::value_and_grad(loss)(w, x);
  EXPECT_EQ(value.item<float>(), 5);
  EXPECT_EQ(gradient.to_vector<float>(), (std::vector{2.0F, 4.0F}));
}

TEST_F(TensorGuide, tracing) {
  const auto step =
      stoker::jit([](const stoker::Tensor& p, const stoker::Tensor& g) { return p - 0.1 * g; });
  stoker::Tensor p = stoker::tensor({1.0, 2.0});
  for (int i = 0; i < 3; ++i) p = step(p, stoker::ones({2}));  // traced once
  EXPECT_NEAR(p.to_vector<float>()[0], 0.7F, 1e-6F);
}

TEST_F(TensorGuide, random_numbers) {
  const stoker::Tensor key = stoker::random::key(42);
  const auto [noise, next] = stoker::random::normal(key, {3, 4});
  const auto [more, after] = stoker::random::uniform(next, {3});
  EXPECT_EQ(noise.shape(), (stoker::Shape{3, 4}));
  EXPECT_EQ(more.size() + after.size(), 5U);
}

}  // namespace
