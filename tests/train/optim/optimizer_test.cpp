// Optimizers by name, against what NumPy computed (golden/optimizers.py).
#include <algorithm>
#include <array>
#include <cmath>
#include <fstream>
#include <nlohmann/json.hpp>

#include "stoker/api/train/optim/optimizer.hpp"
#include "stoker/api/train/optim/updates.hpp"
#include "stoker/tests/checkout/checkout.hpp"
#include "stoker/tests/tensor/fixture.hpp"

namespace stoker::nn {
namespace {

using Json = nlohmann::json;

const Json& golden() {
  static const Json read = [] {
    std::ifstream file{checkout_folder() / "tests/nn/golden/optimizers.json"};
    return Json::parse(file);
  }();
  return read;
}

Parameters parameters_of(const Json& values) {
  Parameters made;
  for (const auto& [name, list] : values.items()) {
    const auto shape = golden()["shapes"][name].get<std::vector<std::int64_t>>();
    made[name] = tensor(list.get<std::vector<float>>(), Shape::make(shape, "test"));
  }
  return made;
}

/// Nearer than `tolerance` of the largest element.
void expect_like(const Tensor& got, const Json& want, double tolerance, const std::string& where) {
  const auto values = got.to_vector<double>();
  const auto expected = want.get<std::vector<double>>();
  ASSERT_EQ(values.size(), expected.size()) << where;
  double largest = 0;
  for (const double x : expected) largest = std::max(largest, std::abs(x));
  for (std::size_t i = 0; i < values.size(); ++i)
    EXPECT_NEAR(values[i], expected[i], tolerance * largest) << where << ", element " << i;
}

Optimizer optimizer_of(const Json& one) {
  TrainingOptions options;
  options.weight_decay = one.value("weight_decay", 0.0);
  if (one.contains("clip_norm")) options.clip_norm = one["clip_norm"].get<double>();
  if (one.contains("clip_value")) options.clip_value = one["clip_value"].get<double>();
  options.accumulate_gradients = one.value("accumulate_gradients", 1);
  if (one.contains("schedule")) options.schedule = schedule(one["schedule"].get<std::string>());
  return training_optimizer(one["optimizer"].get<std::string>(), options);
}

class OptimizersOnDevices : public TensorsOnDevices {};
INSTANTIATE_TEST_SUITE_P(Devices, OptimizersOnDevices, every_device(), device_name);

TEST_P(OptimizersOnDevices, come_to_what_numpy_computed) {
  ASSERT_EQ(golden()["cases"].size(), 30u);
  for (const Json& one : golden()["cases"]) {
    const Optimizer made = optimizer_of(one);
    int traced = 0;
    const auto step = jit([&](const Parameters& p, const Slots& s, const Parameters& g) {
      ++traced;
      const Updated updated = made.update.apply(g, s, p);
      return std::pair{apply_updates(p, updated.updates), updated};
    });
    Parameters parameters = parameters_of(golden()["parameters"]);
    Slots slots = made.update.init(parameters);
    for (std::size_t t = 0; t < golden()["gradients"].size(); ++t) {
      const auto [next, updated] = step(parameters, slots, parameters_of(golden()["gradients"][t]));
      parameters = next;
      slots = updated.slots;
      const auto wanted = one["updates"].find(std::to_string(t + 1));
      if (wanted == one["updates"].end()) continue;
      for (const auto& [name, update] : updated.updates)
        expect_like(update, (*wanted)[name], 1e-5,
                    made.text + " step " + std::to_string(t + 1) + " " + name);
    }
    for (const auto& [name, parameter] : parameters)
      expect_like(parameter, one["parameters"][name], 1e-5, made.text + " at the end, " + name);
    EXPECT_EQ(traced, 1) << made.text;
  }
}

class Optimizers : public Tensors {
 protected:
  const Parameters parameters{{"b", tensor({1.0, 2.0})}, {"w", tensor({{3.0, -4.0}})}};
  const Parameters gradients{{"b", tensor({0.5, -0.25})}, {"w", tensor({{1.0, 2.0}})}};
};

const char* const every_name[] = {"sgd",  "adam",      "adamw", "adabelief", "adagrad",
                                  "lamb", "noisy_sgd", "radam", "rmsprop",   "yogi"};

TEST_F(Optimizers, give_the_same_traced_and_not_traced) {
  for (const char* name : every_name) {
    const Optimizer made = optimizer(name);
    const auto step = jit([&](const Parameters& p, const Slots& s, const Parameters& g) {
      return take_step(made.update, g, s, p);
    });
    Stepped plain{parameters, made.update.init(parameters)};
    Stepped traced = plain;
    for (int i = 0; i < 3; ++i) {
      plain = take_step(made.update, gradients, plain.slots, plain.parameters);
      traced = step(traced.parameters, traced.slots, gradients);
    }
    for (const auto& [key, value] : plain.parameters)
      expect_near(traced.parameters.at(key), value.to_vector<double>(), 1e-6);
    ASSERT_EQ(traced.slots.size(), plain.slots.size()) << name;
    for (const auto& [key, value] : plain.slots)
      expect_near(traced.slots.at(key), value.to_vector<double>(), 1e-6);
  }
}

TEST_F(Optimizers, go_downhill) {
  // A bowl with its bottom at 1; 300 steps are enough for all.
  using namespace optimizers;
  for (const OptimizerName& named : std::vector<OptimizerName>{
           Sgd{.learning_rate = 0.1}, Sgd{.learning_rate = 0.02, .momentum = 0.9},
           Adam{.learning_rate = 0.05}, AdamW{.learning_rate = 0.05},
           AdaBelief{.learning_rate = 0.05}, AdaGrad{.learning_rate = 0.5},
           Lamb{.learning_rate = 0.02}, RAdam{.learning_rate = 0.1}, RmsProp{.learning_rate = 0.05},
           Yogi{.learning_rate = 0.05}, NoisySgd{.learning_rate = 0.1, .eta = 0.01}}) {
    const Optimizer made = optimizer(named);
    const auto bowl = [](const Parameters& p) {
      return sum(pow(p.at("w") - 1, 2)) + sum(pow(p.at("b") - 1, 2));
    };
    const auto step = jit([&](const Parameters& p, const Slots& s) {
      return take_step(made.update, grad(bowl)(p), s, p);
    });
    Stepped now{parameters, made.update.init(parameters)};
    for (int i = 0; i < 300; ++i) now = step(now.parameters, now.slots);
    EXPECT_LT(bowl(now.parameters).item<double>(), 0.05) << made.text;
  }
}

TEST_F(Optimizers, keep_the_text_they_were_made_from) {
  EXPECT_EQ(optimizer("adam").text, "adam");
  EXPECT_EQ(optimizer(optimizers::Adam{.b1 = 0.8, .eps = 1e-3}).text, "adam(b1=0.8, eps=0.001)");
  EXPECT_EQ(optimizer("adam( b1 = 0.8,eps=1e-3 )").text, "adam(b1=0.8, eps=0.001)");
  EXPECT_EQ(training_optimizer("sgd(momentum=0.9)", {.clip_norm = 1.0}).text, "sgd(momentum=0.9)");
}

TEST_F(Optimizers, have_named_slots) {
  const auto names = [&](const Named& named) {
    std::string found;
    for (const auto& [name, slot] : optimizer(named).update.init({{"w", tensor(1.0)}}))
      found += name + ' ';
    return found;
  };
  EXPECT_EQ(names("sgd"), "learning_rate_scale ");
  EXPECT_EQ(names("sgd(momentum=0.9)"), "learning_rate_scale trace.v/w ");
  EXPECT_EQ(names("adam"), "adam.m/w adam.step adam.v/w learning_rate_scale ");
  EXPECT_EQ(names("rmsprop(centered=true)"), "learning_rate_scale stddev.m/w stddev.v/w ");
  EXPECT_EQ(names("noisy_sgd"), "learning_rate_scale noise.key noise.step ");
}

TEST_F(Optimizers, take_a_schedule_in_the_place_of_their_learning_rate) {
  const Optimizer made =
      optimizer("sgd(learning_rate=100)", schedule("step(base=2, size=1, gamma=0.5)"));
  const Slots slots = made.update.init(parameters);
  const Updated first = made.update.apply(gradients, slots, parameters);
  expect_near(first.updates.at("b"), {-1, 0.5});
  expect_near(made.update.apply(gradients, first.slots, parameters).updates.at("b"), {-0.5, 0.25});
}

TEST_F(Optimizers, learning_rates_change_between_steps_without_tracing_again) {
  for (const char* name : every_name) {
    if (std::string{name} == "noisy_sgd") continue;  // its noise is not scaled
    const Optimizer made = training_optimizer(name, {.clip_norm = 100.0});
    int traced = 0;
    const auto step = jit([&](const Parameters& p, const Slots& s) {
      ++traced;
      return made.update.apply(gradients, s, p).updates;
    });
    const Slots slots = made.update.init(parameters);
    const auto whole = step(parameters, slots).at("b").to_vector<double>();
    const Slots lowered = with_learning_rate_scale(slots, 0.25);
    expect_near(step(parameters, lowered).at("b"), {whole[0] * 0.25, whole[1] * 0.25});
    expect_near(learning_rate_scale(lowered), {0.25});
    EXPECT_EQ(traced, 1) << name;
  }
}

TEST_F(Optimizers, learning_rate_scales_survive_steps) {
  const Optimizer made = training_optimizer("adam", {.accumulate_gradients = 2});
  Slots slots = with_learning_rate_scale(made.update.init(parameters), 0.25);
  for (int i = 0; i < 3; ++i) slots = made.update.apply(gradients, slots, parameters).slots;
  expect_near(learning_rate_scale(slots), {0.25});
}

TEST_F(Optimizers, leave_frozen_parameters_alone) {
  for (const char* name : every_name) {
    const Optimizer made =
        training_optimizer(name, {.accumulate_gradients = 1, .weight_decay = 0.1});
    const Parameters only{{"b", gradients.at("b")}};
    const Slots slots = made.update.init(parameters);
    const Stepped next = take_step(made.update, only, slots, parameters);
    expect_near(next.parameters.at("w"), {3, -4});
    EXPECT_NE(next.parameters.at("b").to_vector<float>(), parameters.at("b").to_vector<float>());
    ASSERT_EQ(next.slots.size(), slots.size()) << name;
    for (const auto& [key, slot] : slots)
      if (key.ends_with("/w")) {
        EXPECT_EQ(next.slots.at(key).to_vector<float>(), slot.to_vector<float>()) << key;
      }
  }
}

TEST_F(Optimizers, train_short_floats_with_slots_of_f32) {
  for (const char* name : every_name) {
    const Optimizer made = optimizer(name);
    const Parameters shorts{{"w", as_type(tensor({1.0, -2.0}), DType::bf16)}};
    const Slots slots = made.update.init(shorts);
    const Stepped next = take_step(made.update, shorts, slots, shorts);
    EXPECT_EQ(next.parameters.at("w").dtype(), DType::bf16) << name;
    for (const auto& [key, slot] : next.slots)
      EXPECT_EQ(slot.spec().to_string(), slots.at(key).spec().to_string()) << key;
  }
}

TEST_F(Optimizers, noisy_sgd_draws_the_same_numbers_for_a_seed) {
  const Parameters flat{{"w", zeros({5000})}};
  const auto update = [&](const Named& named) {
    const Optimizer made = optimizer(named);
    return made.update.apply({{"w", ones({5000})}}, made.update.init(flat), flat).updates.at("w");
  };
  const Tensor drawn = update("noisy_sgd(seed=4)");
  EXPECT_EQ(drawn.to_vector<float>(), update("noisy_sgd(seed=4)").to_vector<float>());
  EXPECT_NE(drawn.to_vector<float>(), update("noisy_sgd(seed=5)").to_vector<float>());
  EXPECT_NEAR(mean(drawn).item<double>(), -0.01, 0.006);
  EXPECT_NEAR(standard_deviation(drawn).item<double>(), 0.1, 0.005);
}

TEST_F(Optimizers, clip_before_they_trace) {
  // Clipped to norm 1 (5·0.2), then to 0.7, then momentum: 1 + 1.5 times it after two steps.
  const Optimizer made = training_optimizer("sgd(learning_rate=1, momentum=0.5)",
                                            {.clip_norm = 1.0, .clip_value = 0.7});
  const Parameters p{{"w", tensor({0.0, 0.0})}};
  Stepped now{p, made.update.init(p)};
  for (int i = 0; i < 2; ++i)
    now = take_step(made.update, {{"w", tensor({3.0, -4.0})}}, now.slots, now.parameters);
  expect_near(now.parameters.at("w"), {-0.6 * 2.5, 0.7 * 2.5});
}

TEST_F(Optimizers, a_step_is_a_kernel_for_each_parameter_and_two_scalar_ones) {
  for (const char* name : {"adam", "adamw(decay=0.1)", "adabelief", "yogi"}) {
    const Optimizer made = optimizer(name);
    const auto step = jit([&](const Parameters& p, const Slots& s, const Parameters& g) {
      return take_step(made.update, g, s, p);
    });
    const std::string plan = step.plan(parameters, made.update.init(parameters), gradients);
    EXPECT_NE(plan.find("pipeline of 4 kernels"), std::string::npos) << made.text << '\n' << plan;
  }
}

TEST_F(Optimizers, steps_of_doubles_are_as_exact_as_doubles) {
  const double b1 = 0.9, b2 = 0.999, eps = 1e-8;
  const Update adam = updates::scale_by_adam({.b1 = b1, .b2 = b2, .eps = eps});
  Parameters w{{"short", tensor({0.5})}, {"w", tensor<double>({1.0, -2.0})}};
  Slots slots = adam.init(w);
  std::array<double, 2> m{}, v{};
  for (int t = 1; t <= 5; ++t) {
    const std::array<double, 2> g{0.1 * t, -0.7 / t};
    const Updated made = adam.apply(
        {{"short", tensor({0.25})}, {"w", tensor(std::vector<double>(g.begin(), g.end()))}}, slots,
        w);
    slots = made.slots;
    const auto got = made.updates.at("w").to_vector<double>();
    for (std::size_t i = 0; i < 2; ++i) {
      m[i] = b1 * m[i] + (1 - b1) * g[i];
      v[i] = b2 * v[i] + (1 - b2) * g[i] * g[i];
      const double of_m = -1 / std::expm1(t * std::log(b1)),
                   of_v = -1 / std::expm1(t * std::log(b2));
      EXPECT_NEAR(got[i], m[i] * of_m / (std::sqrt(v[i] * of_v) + eps), 1e-14);
    }
    EXPECT_EQ(made.updates.at("short").dtype(), DType::f32);
  }
}

TEST_F(Optimizers, unknown_names_are_refused_with_the_nearest) {
  const Error error = error_of([] { return optimizer("adamm"); });
  EXPECT_EQ(error.code(), ErrorCode::not_found);
  EXPECT_NE(std::string{error.reason()}.find("did you mean 'adam"), std::string::npos)
      << error.what();
}

TEST_F(Optimizers, options_are_checked) {
  for (const char* text :
       {"sgd(learning_rate=-1)", "sgd(momentum=2)", "sgd(nesterov=1)", "adam(b1=1)", "adam(b2=1.5)",
        "adam(beta=0.5)", "adagrad(eps=-1)", "radam(threshold=2)", "noisy_sgd(seed=-1)",
        "rmsprop(decay=-0.1)", "lamb(min_norm=-1)", "yogi(b1=-1)"})
    EXPECT_EQ(code_of([&] { return optimizer(text); }), ErrorCode::invalid_parameter) << text;
  const auto training = [](const TrainingOptions& options) {
    return code_of([&] { return training_optimizer("sgd", options); });
  };
  EXPECT_EQ(training({.accumulate_gradients = 0}), ErrorCode::invalid_parameter);
  EXPECT_EQ(training({.weight_decay = -0.1}), ErrorCode::invalid_parameter);
  EXPECT_EQ(training({.clip_norm = 0.0}), ErrorCode::invalid_parameter);
  EXPECT_EQ(training({.clip_value = -1.0}), ErrorCode::invalid_parameter);
}

TEST_F(Optimizers, name_themselves_in_errors_and_not_the_updates_that_they_are_made_of) {
  const Error option = error_of([] { return optimizer(optimizers::Adam{.b1 = 1}); });
  EXPECT_EQ(option.op(), "adam");
  EXPECT_EQ(option.reason(), "expected 'b1' from 0 up to 1, without 1, got 1.000000");
  const Optimizer sgd = optimizer(optimizers::Sgd{.momentum = 0.5});
  const Parameters parameters{{"w", ones({2})}};
  const Error gradient = error_of([&] {
    return sgd.update.apply({{"w", ones({3})}}, sgd.update.init(parameters), parameters);
  });
  EXPECT_EQ(gradient.op(), "sgd");
  EXPECT_EQ(gradient.code(), ErrorCode::shape_mismatch);
  EXPECT_FALSE(gradient.detail("part").empty()) << "which of them it was";
  const Error training =
      error_of([] { return training_optimizer(optimizers::Sgd{}, {.weight_decay = -1}); });
  EXPECT_EQ(training.op(), "training_optimizer");
  EXPECT_EQ(training.detail("parameter"), "weight_decay");
}

TEST_F(Optimizers, say_whose_an_error_of_a_schedule_is) {
  const Schedule torn = [](const Tensor&) -> Tensor {
    throw Error{"my_schedule", ErrorCode::io_error, "the table is gone", {{"file", "rates.csv"}}};
  };
  const Optimizer sgd = optimizer("sgd", torn);
  const Parameters parameters{{"w", ones({2})}};
  const Error error = error_of(
      [&] { return sgd.update.apply(parameters, sgd.update.init(parameters), parameters); });
  EXPECT_EQ(error.op(), "sgd");
  EXPECT_EQ(error.code(), ErrorCode::io_error);
  EXPECT_EQ(error.detail("file"), "rates.csv");
  EXPECT_EQ(error.detail("part"), "my_schedule");
}

/// What the reference page and scripts are told of an option is what the optimizer takes.
TEST_F(Optimizers, take_both_ends_of_the_ranges_that_they_say) {
  for (const NamedKind& kind : optimizer_kinds())
    for (const ParamSpec& option : kind.options)
      for (const std::optional<double>& end : {option.min, option.max}) {
        if (!end || (*end == 1 && option.doc.ends_with("below 1")) ||
            (*end == 0 && option.doc.find("above 0") != std::string::npos))
          continue;
        Named named;
        named.name = kind.name;
        named.options.set(option.name, *end);
        EXPECT_NO_THROW((void)optimizer(OptimizerName{named.text()})) << named.text();
      }
}

TEST_F(Optimizers, learning_rate_scales_are_checked) {
  const Slots slots = optimizer("sgd").update.init(parameters);
  EXPECT_EQ(code_of([&] { return with_learning_rate_scale(slots, -1); }),
            ErrorCode::invalid_parameter);
  EXPECT_EQ(code_of([] { return with_learning_rate_scale({}, 1); }), ErrorCode::not_found);
  EXPECT_EQ(code_of([] { return learning_rate_scale({}); }), ErrorCode::not_found);
}

}  // namespace
}  // namespace stoker::nn
