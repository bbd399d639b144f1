// Activations against their formulas in double precision, and at the ends of what floats can hold.
#include "stoker/api/nn/functional/activation.hpp"

#include <algorithm>
#include <functional>
#include <numbers>

#include "stoker/api/tensor/core/creation.hpp"
#include "stoker/api/tensor/math/elementwise.hpp"
#include "stoker/api/tensor/math/reductions.hpp"
#include "stoker/api/tensor/transforms/grad.hpp"
#include "stoker/tests/nn/refused.hpp"
#include "stoker/tests/tensor/differences.hpp"

namespace stoker::nn {
namespace {

using Formula = std::function<double(double)>;

double sigma(double x) { return 1 / (1 + std::exp(-x)); }
double plus(double x) { return std::max(x, 0.0) + std::log1p(std::exp(-std::abs(x))); }

const std::vector<std::pair<const char*, Formula>>& formulas() {
  static const std::vector<std::pair<const char*, Formula>> all{
      {"celu", [](double x) { return x > 0 ? x : std::expm1(x); }},
      {"celu(alpha=2)", [](double x) { return x > 0 ? x : 2 * std::expm1(x / 2); }},
      {"elu(alpha=0.5)", [](double x) { return x > 0 ? x : 0.5 * std::expm1(x); }},
      {"exp", [](double x) { return std::exp(x); }},
      {"gelu", [](double x) { return x / 2 * (1 + std::erf(x / std::numbers::sqrt2)); }},
      {"hard_sigmoid", [](double x) { return std::clamp(0.2 * x + 0.2, 0.0, 1.0); }},
      {"hard_silu", [](double x) { return x * std::clamp(0.2 * x + 0.2, 0.0, 1.0); }},
      {"hard_tanh", [](double x) { return std::clamp(x, -1.0, 1.0); }},
      {"leaky_relu", [](double x) { return x > 0 ? x : 0.01 * x; }},
      {"linear", [](double x) { return x; }},
      {"log_sigmoid", [](double x) { return -plus(-x); }},
      {"mish", [](double x) { return x * std::tanh(plus(x)); }},
      {"relu", [](double x) { return std::max(x, 0.0); }},
      {"relu6", [](double x) { return std::clamp(x, 0.0, 6.0); }},
      {"selu",
       [](double x) {
         return 1.0507009873554805 * (x > 0 ? x : 1.6732632423543772 * std::expm1(x));
       }},
      {"sigmoid", sigma},
      {"silu", [](double x) { return x * sigma(x); }},
      {"softplus", plus},
      {"softsign", [](double x) { return x / (1 + std::abs(x)); }},
      {"tanh", [](double x) { return std::tanh(x); }},
  };
  return all;
}

class Activations : public Tensors {};

TEST_F(Activations, follow_their_formulas) {
  const std::vector<double> points{-30, -7.3, -2,  -1.1, -0.4, -1e-6, 1e-6,
                                   0.3, 0.9,  1.7, 5,    6.5,  20};
  for (const auto& [name, formula] : formulas()) {
    const auto got = activation(name)(tensor(points)).to_vector<double>();
    for (std::size_t i = 0; i < points.size(); ++i)
      EXPECT_NEAR(got[i], formula(points[i]), 1e-12 * std::max(1.0, std::abs(formula(points[i]))))
          << name << " at " << points[i];
  }
}

TEST_F(Activations, have_exact_gradients) {
  const Tensor x = sample({2, 7}, -3, 3, 1) + 0.013;  // nowhere near a corner
  for (const NamedKind& kind : activation_kinds()) {
    const std::string& name = kind.name;
    SCOPED_TRACE(name);
    expect_gradient([&](const std::vector<Tensor>& v) { return activation(name)(v[0]); }, {x});
  }
}

TEST_F(Activations, and_their_gradients_are_numbers_wherever_x_is_one) {
  const Tensor x = tensor({-1e4, -200.0, -0.0, 0.0, 200.0, 1e4});
  for (const NamedKind& kind : activation_kinds()) {
    const std::string& name = kind.name;
    if (name == "exp") continue;  // e^200 is no f32
    const Tensor slope = grad([&](const Tensor& v) { return sum(activation(name)(v)); })(x);
    for (const float value : activation(name)(x).to_vector<float>())
      EXPECT_TRUE(std::isfinite(value)) << name;
    for (const float value : slope.to_vector<float>()) EXPECT_TRUE(std::isfinite(value)) << name;
  }
}

TEST_F(Activations, over_an_axis_know_which) {
  const Tensor x = tensor({{1.0, 2.0}, {3.0, 5.0}});
  expect_near(activation("softmax(axis=0)")(x), softmax(x, 0).to_vector<double>());
  expect_near(activation("softmax")(x), softmax(x, 1).to_vector<double>());
  expect_near(activation("log_softmax")(x), log(softmax(x, 1)).to_vector<double>());
  const Tensor summed = activation("log_sumexp")(x);
  EXPECT_EQ(summed.shape(), (Shape{2, 1}));
  expect_near(summed, {2 + std::log1p(std::exp(-1)), 5 + std::log1p(std::exp(-2))});
}

TEST_F(Activations, keep_the_dtype) {
  for (const DType dtype : {DType::f16, DType::bf16, DType::f32, DType::f64})
    for (const NamedKind& kind : activation_kinds())
      EXPECT_EQ(activation(kind.name)(ones({2}, dtype)).dtype(), dtype) << kind.name;
}

TEST_F(Activations, that_do_not_exist_are_refused) {
  const auto named = [](const char* text) { return [text] { return activation(text); }; };
  EXPECT_EQ(code_of(named("rellu")), ErrorCode::not_found);
  EXPECT_EQ(code_of(named("celu(alpha=0)")), ErrorCode::invalid_parameter);
  EXPECT_EQ(code_of(named("relu(alpha=1)")), ErrorCode::invalid_parameter);
  EXPECT_EQ(activation({})(tensor({-2.0})).item<float>(), -2) << "none is linear";
}

}  // namespace
}  // namespace stoker::nn
