#include "differences.hpp"

#include <algorithm>

namespace stoker {

Tensor sample(const Shape& shape, double low, double high, double seed) {
  return low + (high - low) * (0.5 + 0.49 * sin(iota(shape, DType::f64) * 2.7 + seed));
}

Tensor weighed(const Tensor& y) { return sum(y * cos(iota(y.shape(), DType::f64) + 0.3)); }

void expect_differences(const Function& loss, const std::vector<Tensor>& at,
                        const std::vector<Tensor>& got, Nearness nearness) {
  const double h = nearness.step;
  ASSERT_EQ(got.size(), at.size());
  for (std::size_t k = 0; k < at.size(); ++k) {
    ASSERT_EQ(at[k].dtype(), DType::f64) << "others are too coarse";
    ASSERT_EQ(got[k].spec(), at[k].spec());
    const std::vector<double> x = at[k].to_vector<double>();
    const std::vector<double> gradient = got[k].to_vector<double>();
    for (std::size_t i = 0; i < x.size(); ++i) {
      const auto moved = [&](double by) {
        std::vector<double> y = x;
        y[i] += by;
        std::vector<Tensor> arguments = at;
        arguments[k] = tensor(y, at[k].shape());
        return loss(arguments).item<double>();
      };
      const double want = (moved(h) - moved(-h)) / (2 * h);
      ASSERT_TRUE(std::isfinite(want)) << "argument " << k << ", element " << i;
      EXPECT_NEAR(gradient[i], want, nearness.tolerance * std::max(1.0, std::abs(want)))
          << "argument " << k << ", element " << i;
    }
  }
}

void expect_gradient(const Function& function, const std::vector<Tensor>& at, Nearness nearness) {
  const auto loss = [&](const std::vector<Tensor>& x) { return weighed(function(x)); };
  expect_differences(loss, at, grad(loss)(at), nearness);
}

}  // namespace stoker
