// The same tensors on every device: one program, fused for each.
#include "stoker/tests/tensor/fixture.hpp"

namespace stoker {
namespace {

using OnDevice = TensorsOnDevices;

TEST_P(OnDevice, chains_of_elements_and_views_give_the_same) {
  const Tensor x = iota({6, 5}, DType::f32) / 7;
  const Tensor y = exp(transpose(x) * 0.5) + reverse(reshape(x, {5, 6}), Axes{1});
  const Tensor z = select(y > 3, sqrt(y), -y) + tensor({{1.0}, {2.0}, {3.0}, {4.0}, {5.0}});
  std::vector<double> want;
  for (int i = 0; i < 5; ++i)
    for (int j = 0; j < 6; ++j) {
      const double left = std::exp((j * 5 + i) / 7.0 * 0.5);
      const double value = left + (i * 6 + 5 - j) / 7.0;
      want.push_back((value > 3 ? std::sqrt(value) : -value) + i + 1);
    }
  expect_near(z, want, 1e-5);
}

TEST_P(OnDevice, integers_are_exact) {
  const Tensor x = iota({100}, DType::s32) * 123457 - 99;
  std::vector<int> want;
  for (int i = 0; i < 100; ++i) want.push_back(((i * 123457 - 99) % 17) ^ (i << 3));
  expect_values<int>(bitwise_xor(x % 17, left_shift(iota({100}), 3)), {100}, want);
}

TEST_P(OnDevice, reductions_and_products_follow) {
  const Tensor x = sin(iota({8, 16}, DType::f32));
  const Tensor y = matmul(softmax(x), transpose(x));
  EXPECT_EQ(y.shape(), (Shape{8, 8}));
  const Tensor g = grad([](const Tensor& v) { return mean(tanh(v) * v); })(x);
  std::vector<double> want;
  for (int i = 0; i < 128; ++i) {
    const double v = std::sin(static_cast<double>(i));
    const double t = std::tanh(v);
    want.push_back(((1 - t * t) * v + t) / 128);
  }
  expect_near(g, want, 1e-6);
  double row = 0;
  for (const double one : sum(softmax(x), {Axes{1}}).to_vector<double>()) row += one;
  EXPECT_NEAR(row, 8, 1e-4);
}

TEST_P(OnDevice, random_numbers_are_the_same_everywhere) {
  const Tensor drawn = random::uniform(random::key(11), {33}).values;
  System own;
  const DeviceScope cpu{own.device("cpu")};
  EXPECT_EQ(drawn.to_vector<float>(),
            random::uniform(random::key(11), {33}).values.to_vector<float>());
}

TEST_P(OnDevice, a_key_is_folded_where_it_lies) {
  const Tensor key = random::key(11).eval();
  const Tensor folded = random::fold_in(key, 5).eval();
  System own;
  const DeviceScope elsewhere{own.device("cpu")};  // where new constants go from here on
  EXPECT_EQ(random::fold_in(key, 5).to_vector<std::uint32_t>(), folded.to_vector<std::uint32_t>());
}

TEST_P(OnDevice, positions_and_order_work) {
  const Tensor x = tensor({5, 3, 9, 1});
  expect_values<int>(take(x, argsort(x)), {4}, {1, 3, 5, 9});
  expect_values<int>(cumulative_sum(sort(x)), {4}, {1, 4, 9, 18});
  expect_values<int>(concatenate({x, reverse(x)}), {8}, {5, 3, 9, 1, 1, 9, 3, 5});
  EXPECT_EQ(argmax(x).item<int>(), 2);
}

INSTANTIATE_TEST_SUITE_P(Devices, OnDevice, every_device(), device_name);

}  // namespace
}  // namespace stoker
