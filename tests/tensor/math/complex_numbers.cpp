#include "complex_numbers.hpp"

#include <algorithm>

namespace stoker {

void expect_numbers(const Tensor& got, const Numbers& want, double tolerance) {
  const auto values = got.to_vector<C>();
  ASSERT_EQ(values.size(), want.size()) << got;
  for (std::size_t i = 0; i < want.size(); ++i)
    EXPECT_LE(std::abs(values[i] - want[i]), tolerance * std::max(1.0, std::abs(want[i])))
        << "element " << i << ": " << values[i] << ", not " << want[i];
}

void expect_complex_differences(const std::function<Tensor(const Tensor&)>& loss, const Numbers& at,
                                double tolerance) {
  const Tensor gradient = grad(loss)(tensor(at));
  EXPECT_EQ(gradient.dtype(), DType::c128);
  const auto got = gradient.to_vector<C>();
  ASSERT_EQ(got.size(), at.size());
  constexpr double h = 1e-5;
  for (std::size_t i = 0; i < at.size(); ++i) {
    const auto slope = [&](C direction) {
      const auto moved = [&](double by) {
        Numbers x = at;
        x[i] += by * direction;
        return loss(tensor(x)).item<double>();
      };
      return (moved(h) - moved(-h)) / (2 * h);
    };
    EXPECT_NEAR(got[i].real(), slope({1, 0}), tolerance) << "element " << i;
    EXPECT_NEAR(got[i].imag(), slope({0, 1}), tolerance) << "element " << i;
  }
}

}  // namespace stoker
