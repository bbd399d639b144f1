// The pieces of optimizers and how they compose.
#include "stoker/api/train/optim/updates.hpp"
#include "stoker/tests/tensor/fixture.hpp"

namespace stoker::nn {
namespace {

class Updates : public Tensors {
 protected:
  const Parameters parameters{{"dense.bias", tensor({1.0, 2.0})},
                              {"dense.kernel", tensor({{3.0, 4.0}, {0.0, 0.0}})}};
  const Parameters gradients{{"dense.bias", tensor({3.0, -4.0})},
                             {"dense.kernel", tensor({{0.0, 12.0}, {0.0, 0.0}})}};

  /// What comes of the gradients after so many steps with the same ones.
  [[nodiscard]] Updated after(const Update& update, int steps = 1) const {
    Updated made{{}, update.init(parameters)};
    for (int i = 0; i < steps; ++i) made = update.apply(gradients, made.slots, parameters);
    return made;
  }
  static std::vector<std::string> names(const Slots& slots) {
    std::vector<std::string> found;
    for (const auto& [name, value] : slots) found.push_back(name);
    return found;
  }
};

using Names = std::vector<std::string>;

// How they compose -------------------------------------------------------------------------------

TEST_F(Updates, identity_gives_gradients_as_they_are) {
  const Updated made = after(identity());
  EXPECT_TRUE(made.slots.empty());
  expect_near(made.updates.at("dense.bias"), {3, -4});
}

TEST_F(Updates, composed_ones_run_in_order) {
  expect_near(after(compose(updates::scale(0.5), updates::clip(1.75))).updates.at("dense.bias"),
              {1.5, -1.75});
  expect_near(after(compose(updates::clip(1.75), updates::scale(0.5))).updates.at("dense.bias"),
              {0.875, -0.875});
}

TEST_F(Updates, composed_ones_have_slots_of_their_own) {
  const Update both = compose(updates::trace(), updates::scale(2), updates::trace());
  const Updated made = after(both, 2);
  EXPECT_EQ(names(made.slots), (Names{"0/trace.v/dense.bias", "0/trace.v/dense.kernel",
                                      "2/trace.v/dense.bias", "2/trace.v/dense.kernel"}));
  // 3, then 3 + 0.9·3 = 5.7; doubled; traced again: 6, then 11.4 + 0.9·6 = 16.8.
  expect_near(made.slots.at("0/trace.v/dense.bias"), {5.7, -7.6});
  expect_near(made.updates.at("dense.bias"), {16.8, -22.4});
}

TEST_F(Updates, compositions_compose) {
  const Update all =
      compose(compose(updates::trace(), updates::scale(2)), compose(updates::trace()));
  EXPECT_EQ(names(all.init({{"w", tensor(1.0)}})), (Names{"0/0/trace.v/w", "1/0/trace.v/w"}));
  expect_near(after(all, 2).updates.at("dense.bias"), {16.8, -22.4});
}

TEST_F(Updates, chained_ones_keep_the_names_of_their_slots) {
  const Update both = chain({updates::trace(), updates::scale_by_learning_rate(0.5)});
  const Updated made = after(both);
  EXPECT_EQ(names(made.slots),
            (Names{"learning_rate_scale", "trace.v/dense.bias", "trace.v/dense.kernel"}));
  expect_near(made.updates.at("dense.bias"), {-1.5, 2});
}

TEST_F(Updates, chained_ones_must_not_share_a_slot) {
  const Update both = chain({updates::trace(), updates::trace()});
  const Error error = error_of([&] { return both.init(parameters); });
  EXPECT_EQ(error.code(), ErrorCode::already_exists);
  EXPECT_EQ(error.detail("slot"), "trace.v/dense.bias");
}

TEST_F(Updates, own_ones_may_have_slots_or_none) {
  const Update twice = stateless([](const Parameters& g, const Parameters&) {
    return for_each_gradient(g, [](const std::string&, const Tensor& x) { return 2 * x; });
  });
  const Update counting =
      stateful([](const Parameters&) { return SlotGroup{"mine"}.put("step", tensor(0)).slots(); },
               [](const Parameters& g, const Slots& slots, const Parameters&) {
                 SlotGroup group{"mine", slots};
                 (void)group.count();
                 return Updated{g, group.slots()};
               });
  const Updated made = after(compose(twice, counting), 3);
  expect_near(made.updates.at("dense.bias"), {6, -8});
  EXPECT_EQ(made.slots.at("1/mine.step").item<int>(), 3);
}

TEST_F(Updates, slots_that_an_own_one_leaves_out_stay) {
  const Update keeping = stateful(
      [](const Parameters&) {
        return Slots{{"kept", tensor(7)}};
      },
      [](const Parameters& g, const Slots&, const Parameters&) {
        return Updated{g, {}};
      });
  EXPECT_EQ(after(keeping, 2).slots.at("kept").item<int>(), 7);
}

TEST_F(Updates, updates_are_added) {
  const Parameters changed = apply_updates(parameters, {{"dense.bias", tensor({0.5, -0.5})}});
  expect_near(changed.at("dense.bias"), {1.5, 1.5});
  expect_near(changed.at("dense.kernel"), {3, 4, 0, 0});
}

TEST_F(Updates, updates_are_added_in_f32_and_keep_the_dtype) {
  // Between 256 and 512 bf16 holds every second number. 257.001 is nearer to 258; 1.001 rounded to
  // bf16 is 1, and 257 would go to 256.
  const Parameters half{{"w", as_type(tensor({256.0}), DType::bf16)}};
  const Tensor made = apply_updates(half, {{"w", tensor({1.001})}}).at("w");
  EXPECT_EQ(made.dtype(), DType::bf16);
  expect_near(made, {258});
}

TEST_F(Updates, states_replace_what_has_their_names) {
  const Parameters changed =
      apply_updates(parameters, {{"dense.bias", tensor({1.0, 1.0})}}, {{"norm.mean", tensor(3.0)}});
  EXPECT_EQ(changed.size(), 3u);
  expect_near(changed.at("norm.mean"), {3});
  expect_near(changed.at("dense.bias"), {2, 3});
}

TEST_F(Updates, parameters_without_a_gradient_stay_and_so_do_their_slots) {
  const Update update = updates::scale_by_adam();
  Slots slots = update.init(parameters);
  Parameters only = gradients;
  only.erase("dense.kernel");
  const Stepped made = take_step(update, only, slots, parameters);
  expect_near(made.parameters.at("dense.kernel"), {3, 4, 0, 0});
  expect_near(made.slots.at("adam.m/dense.kernel"), {0, 0, 0, 0});
  EXPECT_EQ(names(made.slots), names(slots));
  expect_near(made.parameters.at("dense.bias"), {2, 1}, 1e-5);
}

TEST_F(Updates, slots_are_f32_for_short_floats_and_f64_for_f64) {
  for (const auto& [given, kept] : {std::pair{DType::bf16, DType::f32},
                                    {DType::f16, DType::f32},
                                    {DType::f32, DType::f32},
                                    {DType::f64, DType::f64}}) {
    for (const Update& update :
         {updates::scale_by_adam(), updates::trace(), updates::scale_by_rms(),
          updates::scale_by_rss(), updates::scale_by_stddev(),
          updates::accumulate_gradients(2, identity())}) {
      const Parameters short_ones{{"w", as_type(tensor({1.0, 2.0}), given)}};
      const Slots slots = update.init(short_ones);
      const Updated made = update.apply(short_ones, slots, short_ones);
      for (const auto& [name, slot] : made.slots) {
        EXPECT_EQ(slot.spec().to_string(), slots.at(name).spec().to_string()) << name;
        EXPECT_TRUE(slot.dtype() == kept || !name.ends_with("/w")) << name;
      }
      EXPECT_EQ(made.updates.at("w").dtype(), kept);
    }
  }
}

// What is refused --------------------------------------------------------------------------------

TEST_F(Updates, gradients_without_a_slot_are_refused) {
  const Update update = updates::trace();
  const Slots slots = update.init({});
  const Error error = error_of([&] { return update.apply(gradients, slots, parameters).slots; });
  EXPECT_EQ(error.code(), ErrorCode::not_found);
  EXPECT_EQ(error.reason(), "there is no slot 'trace.v/dense.bias'");
}

TEST_F(Updates, gradients_without_a_parameter_are_refused) {
  for (const Update& update : {updates::add_decayed_weights(0.1), updates::scale_by_trust_ratio()})
    EXPECT_EQ(code_of([&] { return update.apply(gradients, {}, {}).slots; }), ErrorCode::not_found);
  EXPECT_EQ(error_of([&] { return apply_updates({}, gradients); }).reason(),
            "there is no parameter 'dense.bias'");
  EXPECT_EQ(code_of([&] { return take_step(identity(), gradients, {}, {}).slots; }),
            ErrorCode::not_found);
}

TEST_F(Updates, gradients_of_another_shape_are_refused) {
  const Parameters wide{{"dense.bias", tensor({{1.0, 2.0}, {3.0, 4.0}})}};
  const Update update = updates::trace();
  const Slots slots = update.init(parameters);
  EXPECT_EQ(code_of([&] { return update.apply(wide, slots, parameters).slots; }),
            ErrorCode::shape_mismatch);
  const Error error = error_of([&] { return take_step(identity(), wide, {}, parameters).slots; });
  EXPECT_EQ(error.code(), ErrorCode::shape_mismatch);
  EXPECT_EQ(error.detail("expected"), "[2]");
  EXPECT_EQ(error.detail("got"), "[2,2]");
}

TEST_F(Updates, updates_without_functions_are_refused) {
  EXPECT_EQ(code_of([] { return compose(identity(), Update{}).init({}); }),
            ErrorCode::invalid_argument);
  EXPECT_EQ(code_of([] { return chain({Update{}}).init({}); }), ErrorCode::invalid_argument);
  EXPECT_EQ(code_of([] { return stateless({}).init({}); }), ErrorCode::invalid_argument);
  EXPECT_EQ(code_of([] { return stateful({}, {}).init({}); }), ErrorCode::invalid_argument);
  EXPECT_EQ(code_of([] { return take_step({}, {}, {}, {}).slots; }), ErrorCode::invalid_argument);
}

TEST_F(Updates, numbers_out_of_range_are_refused) {
  using namespace updates;
  const auto refused = [](const std::function<Update()>& make) {
    return code_of([&] { return make().init({}); }) == ErrorCode::invalid_parameter;
  };
  EXPECT_TRUE(refused([] { return scale_by_adam({.b1 = 1}); }));
  EXPECT_TRUE(refused([] { return scale_by_adam({.b2 = -0.1}); }));
  EXPECT_TRUE(refused([] { return scale_by_belief({.eps = -1}); }));
  EXPECT_TRUE(refused([] { return scale_by_yogi({.eps_root = std::nan("")}); }));
  EXPECT_TRUE(refused([] { return scale_by_yogi({}, -1); }));
  EXPECT_TRUE(refused([] { return scale_by_radam({.b2 = 0}); }));
  EXPECT_TRUE(refused([] { return scale_by_radam({}, 3.9); }));
  EXPECT_TRUE(refused([] { return scale_by_rms({.decay = 1.1}); }));
  EXPECT_TRUE(refused([] { return scale_by_stddev({.eps = -1}); }));
  EXPECT_TRUE(refused([] { return scale_by_rss(-1); }));
  EXPECT_TRUE(refused([] { return updates::trace({.decay = -1}); }));
  EXPECT_TRUE(refused([] { return updates::clip(-1); }));
  EXPECT_TRUE(refused([] { return clip_by_global_norm(-1); }));
  EXPECT_TRUE(refused([] { return add_decayed_weights(-1); }));
  EXPECT_TRUE(refused([] { return scale_by_trust_ratio({.min_norm = -1}); }));
  EXPECT_TRUE(refused([] { return add_noise({.eta = -1}); }));
  EXPECT_TRUE(refused([] { return accumulate_gradients(0, identity()); }));
  EXPECT_TRUE(refused([] { return scale_by_learning_rate(-1.0); }));
  EXPECT_EQ(code_of([] { return scale_by_schedule({}).init({}); }), ErrorCode::invalid_argument);
  EXPECT_EQ(code_of([] { return scale_by_learning_rate(Schedule{}).init({}); }),
            ErrorCode::invalid_argument);
}

// What each does ---------------------------------------------------------------------------------

TEST_F(Updates, scale_by_state_can_be_changed_from_outside) {
  const Update update = updates::scale_by_state(-0.5);
  Slots slots = update.init(parameters);
  expect_near(update.apply(gradients, slots, parameters).updates.at("dense.bias"), {-1.5, 2});
  slots["scale"] = tensor(2.0);
  expect_near(update.apply(gradients, slots, parameters).updates.at("dense.bias"), {6, -8});
}

TEST_F(Updates, schedules_count_from_0) {
  const Update update = updates::scale_by_schedule(schedule("exponential(base=8, gamma=0.5)"));
  expect_near(after(update, 1).updates.at("dense.bias"), {24, -32});
  expect_near(after(update, 3).updates.at("dense.bias"), {6, -8});
}

TEST_F(Updates, learning_rates_go_downhill) {
  const Update update = updates::scale_by_learning_rate(schedule("exponential(base=8, gamma=0.5)"));
  Slots slots = update.init(parameters);
  slots["learning_rate_scale"] = tensor(0.5);
  const Updated first = update.apply(gradients, slots, parameters);
  expect_near(first.updates.at("dense.bias"), {-12, 16});
  const Updated second = update.apply(gradients, first.slots, parameters);
  expect_near(second.updates.at("dense.bias"), {-6, 8});
  expect_near(second.slots.at("learning_rate_scale"), {0.5});
}

TEST_F(Updates, clip_keeps_within_2) {
  expect_near(after(updates::clip()).updates.at("dense.bias"), {2, -2});
  expect_near(after(updates::clip(3.5)).updates.at("dense.bias"), {3, -3.5});
}

TEST_F(Updates, clip_by_global_norm_takes_all_gradients_together) {
  // 3, 4 and 12: the norm is 13.
  const Updated made = after(updates::clip_by_global_norm());
  expect_near(made.updates.at("dense.bias"), {3.0 / 13, -4.0 / 13});
  expect_near(made.updates.at("dense.kernel"), {0, 12.0 / 13, 0, 0});
  expect_near(after(updates::clip_by_global_norm(26)).updates.at("dense.bias"), {3, -4});
  expect_near(after(updates::clip_by_global_norm(6.5, 13)).updates.at("dense.bias"), {0.75, -1});
}

TEST_F(Updates, clip_by_global_norm_leaves_zeros_and_nothing_alone) {
  const Update update = updates::clip_by_global_norm();
  expect_near(update.apply({{"w", tensor({0.0, 0.0})}}, {}, {}).updates.at("w"), {0, 0});
  EXPECT_TRUE(update.apply({}, {}, {}).updates.empty());
}

TEST_F(Updates, clip_by_global_norm_of_f16_does_not_overflow) {
  const Parameters large{{"w", as_type(tensor({30000.0, 40000.0}), DType::f16)}};
  expect_near(updates::clip_by_global_norm().apply(large, {}, {}).updates.at("w"), {0.6, 0.8},
              1e-3);
}

TEST_F(Updates, centralize_takes_the_mean_over_all_but_the_last_axis) {
  const Parameters g{{"bias", tensor({1.0, 5.0})},
                     {"conv", reshape(tensor({1.0, 2.0, 3.0, 4.0, 5.0, 9.0, 7.0, 1.0}), {2, 2, 2})},
                     {"kernel", tensor({{1.0, 10.0}, {3.0, 40.0}})},
                     {"scalar", tensor(4.0)}};
  const Parameters made = updates::centralize().apply(g, {}, {}).updates;
  expect_near(made.at("bias"), {1, 5});
  expect_near(made.at("scalar"), {4});
  expect_near(made.at("kernel"), {-1, -15, 1, 15});
  expect_near(made.at("conv"), {-3, -2, -1, 0, 1, 5, 3, -3});
}

TEST_F(Updates, decayed_weights_are_added) {
  expect_near(after(updates::add_decayed_weights(0.1)).updates.at("dense.kernel"),
              {0.3, 12.4, 0, 0});
  expect_near(after(updates::add_decayed_weights()).updates.at("dense.bias"), {3, -4});
}

TEST_F(Updates, trust_ratio_compares_each_parameter_with_its_gradient) {
  const Updated made = after(updates::scale_by_trust_ratio());
  expect_near(made.updates.at("dense.bias"), {3 * std::sqrt(5.0) / 5, -4 * std::sqrt(5.0) / 5});
  expect_near(made.updates.at("dense.kernel"), {0, 5, 0, 0});
}

TEST_F(Updates, trust_ratio_has_a_least_norm_a_coefficient_and_an_eps) {
  // Norms 5 and 12, at least 6; 12 + 3.
  const Updated made =
      after(updates::scale_by_trust_ratio({.min_norm = 6, .trust_coefficient = 2.5, .eps = 3}));
  expect_near(made.updates.at("dense.kernel"), {0, 12 * 2.5 * 6 / 15, 0, 0});
}

TEST_F(Updates, trust_ratio_is_1_where_a_norm_is_0) {
  const Update update = updates::scale_by_trust_ratio();
  const Parameters zero{{"w", tensor({0.0, 0.0})}};
  const Parameters one{{"w", tensor({1.0, 1.0})}};
  expect_near(update.apply(one, {}, zero).updates.at("w"), {1, 1});
  expect_near(update.apply(zero, {}, one).updates.at("w"), {0, 0});
}

TEST_F(Updates, traces_remember) {
  expect_near(after(updates::trace(), 3).updates.at("dense.bias"), {3 * 2.71, -4 * 2.71});
  expect_near(after(updates::trace({.decay = 0.5, .nesterov = true}), 2).updates.at("dense.bias"),
              {3 * 1.75, -4 * 1.75});
}

TEST_F(Updates, root_mean_squares_may_begin_above_0) {
  const double v = 0.9 * 2 + 0.1 * 9;
  expect_near(after(updates::scale_by_rms({.initial = 2})).updates.at("dense.bias")[0],
              {3 / std::sqrt(v)});
}

TEST_F(Updates, deviations_never_come_to_the_root_of_a_negative_number) {
  // The variance of one number is 0, and rounding is as likely to make it a little less.
  const Update update = updates::scale_by_stddev({.decay = 0.5});
  const Parameters g{{"w", 1000 + iota({64}, DType::f32) / 7}};
  Updated made{{}, update.init(g)};
  for (int i = 0; i < 60; ++i) made = update.apply(g, made.slots, g);
  EXPECT_EQ(all(made.updates.at("w") > 0).item<int>(), 1) << made.updates.at("w");
}

TEST_F(Updates, sums_of_squares_of_0_give_0) {
  const Update update = updates::scale_by_rss(0, 0);
  const Parameters g{{"w", tensor({0.0, 2.0})}};
  expect_near(update.apply(g, update.init(g), g).updates.at("w"), {0, 1});
}

TEST_F(Updates, belief_takes_larger_steps_where_gradients_are_as_expected) {
  // A gradient that stays: m^ is g, and g - m is 0.9^t·g. One step: 1/0.9.
  expect_near(after(updates::scale_by_belief()).updates.at("dense.bias"), {1 / 0.9, -1 / 0.9},
              1e-5);
  double v = 0;
  for (int t = 1; t <= 10; ++t) v = 0.999 * v + 0.001 * std::pow(0.9, 2 * t);
  const double step = 1 / std::sqrt(v / (1 - std::pow(0.999, 10)));
  expect_near(after(updates::scale_by_belief(), 10).updates.at("dense.bias"), {step, -step}, 1e-5);
}

TEST_F(Updates, rectification_is_exact_for_long_averages) {
  // Far beyond what b^t leaves of f32: for g that stays, m^ = g and v^ = g^2, so the update is
  // r(t).
  const Update update = updates::scale_by_radam({.eps = 0});
  const Parameters g{{"w", tensor({2.0})}};
  for (const int t : {6, 7, 50, 900, 1100, 20000}) {
    Slots slots = update.init(g);
    slots["radam.step"] = tensor(t - 1);
    slots["radam.m/w"] = tensor({2 * (1 - std::pow(0.9, t - 1))});
    slots["radam.v/w"] = tensor({4 * (1 - std::pow(0.999, t - 1))});
    const double longest = 1999;
    const double b = std::pow(0.999, t);
    const double length = longest - 2 * t * b / (1 - b);
    const double r =
        std::sqrt((length - 4) * (length - 2) * longest / ((longest - 4) * (longest - 2) * length));
    expect_near(update.apply(g, slots, g).updates.at("w"), {r}, 5e-6);
  }
}

TEST_F(Updates, noise_has_a_deviation_that_falls) {
  const Parameters g{{"a", zeros({4000})}, {"b", zeros({4000})}};
  const Update update = updates::add_noise({.eta = 0.5, .gamma = 0.5, .seed = 3});
  Updated made{{}, update.init(g)};
  for (int t = 1; t <= 4; ++t) {
    made = update.apply(g, made.slots, g);
    for (const char* name : {"a", "b"}) {
      const Tensor noise = made.updates.at(name);
      EXPECT_NEAR(standard_deviation(noise).item<double>(), 0.5 / std::sqrt(t), 0.02) << name << t;
      EXPECT_NEAR(mean(noise).item<double>(), 0, 0.03) << name << t;
    }
    const Tensor products = made.updates.at("a") * made.updates.at("b");
    EXPECT_NEAR(mean(products).item<double>(), 0, 0.02) << "two parameters have noise of their own";
  }
}

TEST_F(Updates, noise_of_one_seed_is_the_same_and_of_each_step_another) {
  const auto noise = [&](std::uint64_t seed, int steps) {
    return after(updates::add_noise({.seed = seed}), steps)
        .updates.at("dense.kernel")
        .to_vector<float>();
  };
  EXPECT_EQ(noise(1, 2), noise(1, 2));
  EXPECT_NE(noise(1, 2), noise(2, 2));
  EXPECT_NE(noise(1, 1), noise(1, 2));
}

// Accumulation -----------------------------------------------------------------------------------

TEST_F(Updates, accumulated_gradients_wait_and_then_are_averaged) {
  const Update update = updates::accumulate_gradients(3, updates::scale(-1));
  Updated made{{}, update.init(parameters)};
  for (const double g : {1.0, 2.0, 6.0, 30.0, 30.0, 60.0}) {
    made = update.apply({{"dense.bias", tensor({g, -g})}}, made.slots, parameters);
    const double want = g == 6 ? -3 : g == 60 ? -40 : 0;
    expect_near(made.updates.at("dense.bias"), {want, -want});
  }
  expect_near(made.slots.at("accumulate.sum/dense.bias"), {0, 0});
  EXPECT_EQ(made.slots.at("accumulate.step").item<int>(), 0);
}

TEST_F(Updates, slots_do_not_move_while_gradients_are_accumulated) {
  const Update inner = chain({updates::scale_by_adam(), updates::add_noise()});
  const Update update = updates::accumulate_gradients(2, inner);
  const Slots first = update.init(parameters);
  const Slots waiting = update.apply(gradients, first, parameters).slots;
  for (const char* name : {"adam.m/dense.bias", "adam.step", "noise.step", "noise.key"}) {
    EXPECT_EQ(waiting.at(name).spec().to_string(), first.at(name).spec().to_string()) << name;
    EXPECT_EQ(waiting.at(name).to_vector<double>(), first.at(name).to_vector<double>()) << name;
  }
  expect_near(waiting.at("accumulate.sum/dense.bias"), {3, -4});
  const Slots moved = update.apply(gradients, waiting, parameters).slots;
  EXPECT_EQ(moved.at("adam.step").item<int>(), 1);
  EXPECT_NE(moved.at("noise.key").to_vector<double>(), first.at("noise.key").to_vector<double>());
  expect_near(moved.at("adam.m/dense.bias"), {0.3, -0.4});
}

TEST_F(Updates, accumulating_one_step_is_the_update_itself) {
  const Update update = updates::accumulate_gradients(1, updates::scale(2));
  EXPECT_TRUE(update.init(parameters).empty());
  expect_near(after(update).updates.at("dense.bias"), {6, -8});
}

TEST_F(Updates, a_bad_gradient_that_waits_does_not_reach_the_parameters) {
  const Update update = updates::accumulate_gradients(2, updates::scale_by_adam());
  const Slots slots = update.init(parameters);
  const Parameters bad{{"dense.bias", tensor({std::nan(""), 1.0})}};
  expect_near(update.apply(bad, slots, parameters).updates.at("dense.bias"), {0, 0});
}

}  // namespace
}  // namespace stoker::nn
