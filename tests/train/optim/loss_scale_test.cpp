// Losses that are scaled, and steps that do not count.
#include <limits>

#include "stoker/api/train/optim/loss_scale.hpp"
#include "stoker/tests/tensor/fixture.hpp"

namespace stoker::nn {
namespace {

constexpr double infinite = std::numeric_limits<double>::infinity();

class LossScales : public Tensors {
 protected:
  static Parameters good() { return {{"a", tensor({4.0, -8.0})}, {"b", tensor({{2.0}})}}; }
  static Parameters with(double value) {
    return {{"a", tensor({4.0, -8.0})}, {"b", tensor({1.0, value})}};
  }
};

TEST_F(LossScales, identity_changes_nothing_and_finds_everything_finite) {
  const LossScale scaling = loss_scale("identity");
  const LossScaleState state = scaling.init();
  EXPECT_TRUE(state.empty());
  expect_near(scaling.scale(tensor(3.0), state), {3});
  const Unscaled made = scaling.unscale(with(infinite), state);
  EXPECT_EQ(made.finite.item<int>(), 1);
  EXPECT_TRUE(made.state.empty());
  expect_near(made.gradients.at("a"), {4, -8});
}

TEST_F(LossScales, static_multiplies_by_2_to_the_15th) {
  const LossScale scaling = loss_scale("static");
  const LossScaleState state = scaling.init();
  expect_near(scaling.scale(tensor(3.0), state), {3 * 32768.0});
  const Unscaled made = scaling.unscale(good(), state);
  EXPECT_EQ(made.gradients.at("a").to_vector<double>(),
            (std::vector<double>{4 / 32768.0, -8 / 32768.0}));
  expect_near(made.state.at("scale"), {32768});
  EXPECT_EQ(made.finite.item<int>(), 1);
}

TEST_F(LossScales, static_takes_another_number) {
  const LossScale scaling = loss_scale(loss_scales::Static{.value = 4});
  EXPECT_EQ(scaling.text, "static(value=4.0)");
  expect_near(scaling.scale(tensor(3.0), scaling.init()), {12});
  expect_near(scaling.unscale(good(), scaling.init()).gradients.at("b"), {0.5});
}

TEST_F(LossScales, infinities_and_nan_are_not_finite) {
  for (const char* name : {"static", "dynamic"})
    for (const double bad : {infinite, -infinite, std::nan("")}) {
      const LossScale scaling = loss_scale(name);
      EXPECT_EQ(scaling.unscale(with(bad), scaling.init()).finite.item<int>(), 0) << name << bad;
    }
  EXPECT_EQ(all_finite(good()).item<int>(), 1);
  EXPECT_EQ(all_finite({}).item<int>(), 1);
  EXPECT_EQ(all_finite(with(3e38)).item<int>(), 1) << "large is finite";
}

TEST_F(LossScales, gradients_of_f16_are_unscaled_in_f32) {
  // 2^-15 · 2^-12 is below the least that f16 holds, 2^-24.
  const LossScale scaling = loss_scale("static");
  const Parameters gradients{{"a", as_type(tensor({std::exp2(-12.0)}), DType::f16)}};
  const Tensor made = scaling.unscale(gradients, scaling.init()).gradients.at("a");
  EXPECT_EQ(made.dtype(), DType::f32);
  EXPECT_EQ(made.to_vector<double>(), std::vector<double>{std::exp2(-27.0)});
}

TEST_F(LossScales, dynamic_rises_after_a_period_of_finite_steps) {
  const LossScale scaling = loss_scale("dynamic(value=8, period=3)");
  LossScaleState state = scaling.init();
  std::vector<double> scales;
  std::vector<int> steps;
  for (int i = 0; i < 7; ++i) {
    state = scaling.unscale(good(), state).state;
    scales.push_back(state.at("scale").item<double>());
    steps.push_back(state.at("steps").item<int>());
  }
  EXPECT_EQ(scales, (std::vector<double>{8, 8, 16, 16, 16, 32, 32}));
  EXPECT_EQ(steps, (std::vector<int>{1, 2, 0, 1, 2, 0, 1}));
}

TEST_F(LossScales, dynamic_falls_at_once_and_counts_anew) {
  const LossScale scaling = loss_scale("dynamic(value=8, period=3, factor=4)");
  LossScaleState state = scaling.init();
  for (int i = 0; i < 2; ++i) state = scaling.unscale(good(), state).state;
  state = scaling.unscale(with(infinite), state).state;
  expect_near(state.at("scale"), {2});
  EXPECT_EQ(state.at("steps").item<int>(), 0);
  for (int i = 0; i < 2; ++i) state = scaling.unscale(good(), state).state;
  expect_near(state.at("scale"), {2});
  state = scaling.unscale(good(), state).state;
  expect_near(state.at("scale"), {8});
}

TEST_F(LossScales, dynamic_stays_between_its_least_and_the_largest_finite) {
  const LossScale scaling = loss_scale("dynamic(value=3, period=1, min=1)");
  LossScaleState state = scaling.init();
  for (int i = 0; i < 3; ++i) state = scaling.unscale(with(infinite), state).state;
  expect_near(state.at("scale"), {1});
  state["scale"] = tensor(2e38);
  state = scaling.unscale(good(), state).state;
  EXPECT_FLOAT_EQ(state.at("scale").item<float>(), 2e38F);
}

TEST_F(LossScales, dynamic_has_the_defaults_of_the_peer) {
  const LossScale scaling = loss_scale("dynamic");
  LossScaleState state = scaling.init();
  expect_near(state.at("scale"), {32768});
  state["steps"] = tensor(1998);
  state = scaling.unscale(good(), state).state;
  expect_near(state.at("scale"), {32768});
  state = scaling.unscale(good(), state).state;
  expect_near(state.at("scale"), {65536});
}

TEST_F(LossScales, steps_that_are_not_finite_leave_everything_as_it_was) {
  const std::pair<Parameters, Tensor> before{{{"w", tensor({1.0, 2.0})}}, tensor(5)};
  const std::pair<Parameters, Tensor> after{{{"w", tensor({std::nan(""), 3.0})}}, tensor(6)};
  const auto kept = where_finite(tensor(0), after, before);
  expect_near(kept.first.at("w"), {1, 2});
  EXPECT_EQ(kept.second.item<int>(), 5);
  EXPECT_EQ(kept.second.dtype(), DType::s32);
  EXPECT_EQ(where_finite(tensor(1), after, before).second.item<int>(), 6);
}

TEST_F(LossScales, a_traced_step_is_traced_once_for_good_and_bad_gradients) {
  int calls = 0;
  const LossScale scaling = loss_scale("dynamic(value=8, period=1)");
  const auto step = jit([&](const Parameters& p, const LossScaleState& state, const Tensor& x) {
    ++calls;
    const auto [loss, scaled] = value_and_grad(
        [&](const Parameters& q) { return scaling.scale(sum(q.at("w") * x), state); })(p);
    const Unscaled made = scaling.unscale(scaled, state);
    const Parameters changed{{"w", p.at("w") - made.gradients.at("w")}};
    return std::pair{where_finite(made.finite, changed, p), made.state};
  });
  Parameters p{{"w", tensor({10.0, 20.0})}};
  LossScaleState state = scaling.init();
  std::tie(p, state) = step(p, state, tensor({1.0, 2.0}));
  expect_near(p.at("w"), {9, 18});
  expect_near(state.at("scale"), {16});
  std::tie(p, state) = step(p, state, tensor({infinite, 2.0}));
  expect_near(p.at("w"), {9, 18});
  expect_near(state.at("scale"), {8});
  EXPECT_EQ(calls, 1);
}

TEST_F(LossScales, bad_input_is_refused) {
  EXPECT_EQ(code_of([] { return loss_scale("dynamics"); }), ErrorCode::not_found);
  for (const char* text : {"static(value=0)", "dynamic(period=0)", "dynamic(factor=0.5)",
                           "dynamic(min=0)", "identity(value=1)"})
    EXPECT_EQ(code_of([&] { return loss_scale(text); }), ErrorCode::invalid_parameter) << text;
  EXPECT_EQ(code_of([] { return loss_scale("static").scale(tensor(1.0), {}); }),
            ErrorCode::not_found);
  EXPECT_EQ(code_of([] { return where_finite(tensor(1), good(), {}); }), ErrorCode::shape_mismatch);
}

}  // namespace
}  // namespace stoker::nn
