// Gradients of gradients, exact where an element is 0, too.
#include "stoker/tests/tensor/fixture.hpp"

namespace stoker {
namespace {

using SecondGradients = TensorsOnDevices;
using OfOne = std::function<Tensor(const Tensor&)>;

/// A row for each element: how the gradient of `f` changes with it.
std::vector<std::vector<double>> hessian(const OfOne& f, const std::vector<double>& at) {
  const Tensor x = as_type(tensor(at), DType::f32);
  std::vector<std::vector<double>> rows;
  for (std::size_t i = 0; i < at.size(); ++i) {
    const auto one = [&](const Tensor& v) { return grad(f)(v)[static_cast<std::int64_t>(i)]; };
    rows.push_back(grad(one)(x).to_vector<double>());
  }
  return rows;
}

/// That of Σ w[k] · Π of the elements in sets[k].
std::vector<std::vector<double>> of_products(const std::vector<std::vector<std::size_t>>& sets,
                                             const std::vector<double>& weights,
                                             const std::vector<double>& at) {
  std::vector<std::vector<double>> rows(at.size(), std::vector<double>(at.size(), 0));
  for (std::size_t k = 0; k < sets.size(); ++k)
    for (const std::size_t i : sets[k])
      for (const std::size_t j : sets[k]) {
        if (i == j) continue;
        double rest = weights[k];
        for (const std::size_t other : sets[k])
          if (other != i && other != j) rest *= at[other];
        rows[i][j] += rest;
      }
  return rows;
}

const std::vector<std::vector<double>> operands{{0, 2, 3, 5}, {2, 0, 3, 5}, {0, 0, 3, 5},
                                                {2, 0, 5, 0}, {0, 0, 0, 5}, {1, 2, 3, 4},
                                                {0, 0, 0, 0}};

TEST_P(SecondGradients, of_a_product_with_zeros) {
  for (const auto& at : operands) {
    EXPECT_EQ(hessian([](const Tensor& v) { return product(v); }, at),
              of_products({{0, 1, 2, 3}}, {1}, at));
    const auto by_axes = [](const Tensor& v) { return product(reshape(v, {2, 2}), {Axes{0, 1}}); };
    EXPECT_EQ(hessian(by_axes, at), of_products({{0, 1, 2, 3}}, {1}, at));
    const auto columns = [](const Tensor& v) {
      return sum(product(reshape(v, {2, 2}), {Axes{0}}) * tensor({2.0, 3.0}));
    };
    EXPECT_EQ(hessian(columns, at), of_products({{0, 2}, {1, 3}}, {2, 3}, at));
  }
}

TEST_P(SecondGradients, of_cumulative_products_with_zeros) {
  const std::vector<double> weights{2, 3, 5, 7};
  const Tensor w = as_type(tensor(weights), DType::f32);
  for (const auto& at : operands) {
    const auto onwards = [&](const Tensor& v) { return sum(cumulative_product(v) * w); };
    EXPECT_EQ(hessian(onwards, at),
              of_products({{0}, {0, 1}, {0, 1, 2}, {0, 1, 2, 3}}, weights, at));
    const auto back = [&](const Tensor& v) { return sum(cumulative_product(v, 0, true) * w); };
    EXPECT_EQ(hessian(back, at), of_products({{0, 1, 2, 3}, {1, 2, 3}, {2, 3}, {3}}, weights, at));
  }
}

TEST_P(SecondGradients, of_the_third_order_of_a_product_with_zeros) {
  const auto first = [](const Tensor& v) {
    return grad([](const Tensor& x) { return product(x); })(v)[0];
  };
  const auto second = [&](const Tensor& v) { return grad(first)(v)[1]; };
  expect_values<float>(grad(second)(tensor({0.0, 0.0, 0.0, 7.0})), {4}, {0, 0, 7, 0});
}

TEST_P(SecondGradients, of_powers_whose_exponent_is_zero) {
  // d/db d/da a^b = 1/a where b is 0.
  const Tensor a = tensor({2.0, 4.0, 8.0});
  const auto by_a = [&](const Tensor& b) {
    return sum(grad([&](const Tensor& v) { return sum(pow(v, b)); })(a));
  };
  expect_near(grad(by_a)(zeros({3})), {0.5, 0.25, 0.125});
  // Nothing becomes NaN where the base is 0 as well.
  const auto zero = grad([](const Tensor& v) { return sum(pow(v, zeros({2}))); });
  expect_values<float>(zero(tensor({0.0, 1e-40})), {2}, {0, 0});
}

INSTANTIATE_TEST_SUITE_P(Devices, SecondGradients, every_device(), device_name);

}  // namespace
}  // namespace stoker
