// Backward rules of the program's own, and functions computed again for their gradient.
#include "stoker/pipeline/kernel_graph/compiled_pipeline.hpp"
#include "stoker/pipeline/tensor/lowering/evaluation.hpp"
#include "stoker/tests/tensor/fixture.hpp"

namespace stoker {
namespace {

using CustomGrad = TensorsOnDevices;
using Checkpoint = TensorsOnDevices;

const auto clipped =
    custom_grad([](const Tensor& x) { return x * x; },
                [](const Tensor& x, const Tensor&, const Tensor& g) { return clip(g * x, -1, 1); });

TEST_P(CustomGrad, gives_the_value_of_the_function_and_the_gradient_of_the_rule) {
  const Tensor x = tensor({0.25, -3.0});
  expect_near(clipped(x), {0.0625, 9});
  const auto [value, gradient] = value_and_grad([](const Tensor& v) { return sum(clipped(v)); })(x);
  EXPECT_NEAR(value.item<float>(), 9.0625, 1e-6);
  expect_near(gradient, {0.25, -1});
}

TEST_P(CustomGrad, tells_the_rule_what_came_out) {
  // exp by its own result, of two arguments and with two results.
  using Both = std::pair<Tensor, Tensor>;
  const auto f = custom_grad(
      [](const Tensor& x, const Tensor& y) {
        return Both{exp(x), x * y};
      },
      [](const std::tuple<Tensor, Tensor>& in, const Both& out, const Both& g) {
        const auto& [x, y] = in;
        return std::tuple{g.first * out.first + g.second * y, g.second * x};
      });
  const auto loss = [&](const Both& in) {
    const auto [a, b] = f(in.first, in.second);
    return sum(a * 2) + sum(b * b);
  };
  const Both at{tensor<double>({0.5, -1.0}), tensor<double>({2.0, 3.0})};
  const auto [dx, dy] = grad(loss)(at);
  expect_near(dx, {2 * std::exp(0.5) + 2 * 0.5 * 4, 2 * std::exp(-1.0) - 2 * 9.0}, 1e-9);
  expect_near(dy, {2 * 0.25 * 2, 2 * 3.0}, 1e-9);
  const auto second_alone = [&](const Both& in) { return sum(f(in.first, in.second).second); };
  expect_near(grad(second_alone)(at).first, {2, 3}, 1e-9);
}

TEST_P(CustomGrad, is_differentiated_again_by_its_rule) {
  const auto cube = custom_grad([](const Tensor& x) { return x * x * x; },
                                [](const Tensor& x, const Tensor&, const Tensor& g) {
                                  return g * x * 10;  // not the derivative
                                });
  const auto first = grad([&](const Tensor& x) { return sum(cube(x)); });
  const auto second = grad([&](const Tensor& x) { return sum(first(x)); });
  expect_near(first(tensor({2.0})), {20});
  expect_near(second(tensor({2.0})), {10});
}

TEST_P(CustomGrad, works_in_traced_functions_and_for_many_elements) {
  const Tensor x = tensor({{0.25, -3.0}, {4.0, 0.5}});
  const auto gradient = grad([](const Tensor& v) { return sum(clipped(v)); });
  expect_near(jit(gradient)(x), {0.25, -1, 1, 0.5});
  expect_near(vmap(gradient)(x), {0.25, -1, 1, 0.5});
  expect_near(grad([](const Tensor& v) { return sum(vmap(clipped)(v)); })(x), {0.25, -1, 1, 0.5});
  // What is the same for all elements gets the sum of their gradients.
  const auto product =
      custom_grad([](const Tensor& a, const Tensor& b) { return a * b; },
                  [](const std::tuple<Tensor, Tensor>& in, const Tensor&, const Tensor& g) {
                    return std::tuple{g * std::get<1>(in), g * std::get<0>(in)};
                  });
  const auto by_shared = grad([&](const Tensor& b) {
    return sum(vmap(product, {.in_axes = {0, std::nullopt}})(x, b));
  });
  expect_near(by_shared(tensor({1.0, 1.0})), {4.25, -2.5});
}

TEST_P(CustomGrad, refuses_gradients_that_do_not_fit) {
  const auto wrong =
      custom_grad([](const Tensor& x) { return x * 2; },
                  [](const Tensor&, const Tensor&, const Tensor&) { return ones({7}); });
  const Error error =
      error_of([&] { return grad([&](const Tensor& x) { return sum(wrong(x)); })(ones({2})); });
  EXPECT_EQ(error.code(), ErrorCode::shape_mismatch);
  const auto none = custom_grad(
      [](const std::vector<Tensor>& x) { return x[0] * x[1]; },
      [](const std::vector<Tensor>& x, const Tensor&, const Tensor&) { return std::vector{x[0]}; });
  EXPECT_EQ(error_of([&] {
              return grad([&](const std::vector<Tensor>& x) { return sum(none(x)); })(
                  std::vector{ones({2}), ones({2})});
            }).code(),
            ErrorCode::arity_mismatch);
}

// --- checkpoint ----------------------------------------------------------------------------------

Tensor block(const Tensor& w, const Tensor& x) {
  return tanh(matmul(tanh(matmul(tanh(matmul(x, w)), w)), w));
}

TEST_P(Checkpoint, changes_neither_values_nor_gradients) {
  const Tensor w = sin(iota({6, 6}, DType::f64) * 1.3) / 2;
  const Tensor x = cos(iota({4, 6}, DType::f64) * 0.7);
  const auto plain = [&](const std::pair<Tensor, Tensor>& in) {
    return sum(block(in.second, block(in.second, in.first)));
  };
  const auto saved = [&](const std::pair<Tensor, Tensor>& in) {
    // The weights are captured, the elements an argument.
    const auto one = checkpoint([&](const Tensor& v) { return block(in.second, v); });
    return sum(one(one(in.first)));
  };
  const auto [value, gradient] = value_and_grad(plain)(std::pair{x, w});
  const auto [same, again] = value_and_grad(saved)(std::pair{x, w});
  EXPECT_EQ(value.item<double>(), same.item<double>());
  expect_near(again.first, gradient.first.to_vector<double>(), 1e-12);
  expect_near(again.second, gradient.second.to_vector<double>(), 1e-12);
  const auto traced = jit(grad(saved))(std::pair{x, w});
  expect_near(traced.second, gradient.second.to_vector<double>(), 1e-12);
}

/// The memory between the kernels of a program, in bytes.
std::size_t arena_bytes(const Tensor& result) {
  const auto extracted = expr::extract(std::vector{result.value()});
  const auto program = expr::prepare(extracted, current_device().client());
  std::size_t bytes = 0;
  for (const auto& step : (*program)->steps)
    if (step.pipeline) bytes += step.pipeline->plan().arena.bytes;
  return bytes;
}

TEST_P(Checkpoint, needs_less_memory_for_a_gradient) {
  const Tensor w = (iota({16, 16}, DType::f32) / 256 - 0.5).eval();
  const Tensor x = ones({512, 16}).eval();
  constexpr int blocks = 8;
  const auto loss = [&](auto one) {
    return [one](const Tensor& v) {
      Tensor y = v;
      for (int i = 0; i < blocks; ++i) y = one(y);
      return sum(y);
    };
  };
  const auto plain = [&](const Tensor& v) { return block(w, v); };
  const std::size_t kept = arena_bytes(grad(loss(plain))(x));
  const std::size_t computed_again = arena_bytes(grad(loss(checkpoint(plain)))(x));
  RecordProperty("kept", static_cast<int>(kept));
  RecordProperty("computed_again", static_cast<int>(computed_again));
  // 24 activations, or 8 and those of one block at a time.
  EXPECT_LT(computed_again, kept * 2 / 3) << kept;
  expect_near(grad(loss(checkpoint(plain)))(x), grad(loss(plain))(x).to_vector<double>(), 1e-5);
}

TEST_P(Checkpoint, is_for_many_elements_and_of_higher_order_too) {
  const Tensor x = tensor<double>({{0.3, -0.2}, {1.0, 0.5}});
  const auto f = [](const Tensor& v) { return sin(v * v); };
  const auto total = [](auto g) { return [g](const Tensor& v) { return sum(g(v)); }; };
  const auto plain = total(f);
  const auto saved = total(checkpoint(f));
  expect_near(vmap(grad(saved))(x), vmap(grad(plain))(x).to_vector<double>(), 1e-12);
  const auto twice = [&](auto g) { return grad(total(grad(g))); };
  expect_near(twice(saved)(x), twice(plain)(x).to_vector<double>(), 1e-12);
}

INSTANTIATE_TEST_SUITE_P(Devices, CustomGrad, every_device(), device_name);
INSTANTIATE_TEST_SUITE_P(Devices, Checkpoint, every_device(), device_name);

}  // namespace
}  // namespace stoker
