// Numbers that change as training goes on.
#include <algorithm>
#include <numbers>

#include "stoker/api/train/optim/schedule.hpp"
#include "stoker/tests/tensor/fixture.hpp"

namespace stoker::nn {
namespace {

class Schedules : public Tensors {
 protected:
  static double at(const Schedule& rate, int t) { return rate(tensor(t)).item<double>(); }
  static void expect_at(const Schedule& rate, const std::vector<std::pair<int, double>>& values) {
    for (const auto& [t, value] : values)
      EXPECT_NEAR(at(rate, t), value, 1e-6 * std::max(1.0, std::abs(value))) << "at step " << t;
  }
};

double wave(double x) { return 0.5 * (1 + std::cos(std::numbers::pi * x)); }

TEST_F(Schedules, constants_stay) {
  expect_at(schedule("constant(value=0.25)"), {{0, 0.25}, {7, 0.25}});
  expect_at(schedule(0.125), {{0, 0.125}, {1000, 0.125}});
}

TEST_F(Schedules, give_a_scalar_f32_for_a_scalar_s32) {
  for (const char* text :
       {"constant(value=1)", "linear_decay(value=1)", "exponential_decay(value=1)",
        "cosine_decay(value=1)", "polynomial_decay(value=1)", "step(base=1, size=2, gamma=0.5)",
        "exponential(base=1, gamma=0.5)", "cosine(base=1, epochs=3)", "cosine(base=1, epochs=1)",
        "warmup(steps=2, then=\"constant(value=1)\")"}) {
    const Tensor value = schedule(text)(tensor(3));
    EXPECT_EQ(value.spec().to_string(), tensor(1.0).spec().to_string()) << text;
  }
}

TEST_F(Schedules, linear_decay_ends_at_0) {
  expect_at(schedule("linear_decay(value=2)"), {{0, 2}, {250, 1.5}, {1000, 0}, {2000, 0}});
}

TEST_F(Schedules, linear_decay_rises_over_its_warmup_first) {
  expect_at(schedule("linear_decay(value=2, warmup=4, steps=12)"),
            {{0, 0}, {1, 0.5}, {3, 1.5}, {4, 2}, {6, 1.5}, {12, 0}, {13, 0}});
}

TEST_F(Schedules, linear_decay_may_be_all_warmup) {
  expect_at(schedule("linear_decay(value=2, warmup=4, steps=4)"), {{2, 1}, {4, 0}, {5, 0}});
}

TEST_F(Schedules, exponential_decay_is_smooth) {
  expect_at(
      schedule("exponential_decay(value=0.5)"),
      {{0, 0.5}, {5, 0.5 * std::pow(0.95, 0.5)}, {10, 0.475}, {200, 0.5 * std::pow(0.95, 20)}});
}

TEST_F(Schedules, exponential_decay_may_be_a_staircase_and_begin_later) {
  expect_at(schedule("exponential_decay(value=8, decay_rate=0.5, transition_steps=3, "
                     "transition_begin=2, staircase=true)"),
            {{0, 8}, {2, 8}, {4, 8}, {5, 4}, {7, 4}, {8, 2}});
}

TEST_F(Schedules, cosine_decay_stays_at_its_end) {
  expect_at(schedule("cosine_decay(value=3)"),
            {{0, 3}, {2, 3 * wave(0.2)}, {5, 1.5}, {10, 0}, {11, 0}});
}

TEST_F(Schedules, cosine_decay_adds_alpha_to_the_wave) {
  expect_at(schedule("cosine_decay(value=3, decay_steps=4, alpha=0.5)"),
            {{0, 4.5}, {1, 3 * (wave(0.25) + 0.5)}, {4, 1.5}, {9, 1.5}});
}

TEST_F(Schedules, polynomial_decay_goes_to_its_end_value) {
  expect_at(schedule("polynomial_decay(value=1)"),
            {{0, 1}, {5, 0.999 * 0.25 + 0.001}, {10, 0.001}, {20, 0.001}});
  expect_at(schedule("polynomial_decay(value=1, end_value=3, power=1, transition_steps=4, "
                     "transition_begin=2)"),
            {{0, 1}, {2, 1}, {3, 1.5}, {6, 3}, {7, 3}});
}

TEST_F(Schedules, steps_drop_after_a_number_of_epochs) {
  expect_at(schedule("step(base=1, size=3, gamma=0.1)"),
            {{0, 1}, {2, 1}, {3, 0.1}, {5, 0.1}, {6, 0.01}});
}

TEST_F(Schedules, epochs_may_have_more_than_one_step) {
  expect_at(schedule("step(base=1, size=2, gamma=0.5, steps_per_epoch=3)"),
            {{0, 1}, {5, 1}, {6, 0.5}, {11, 0.5}, {12, 0.25}});
  expect_at(schedule("exponential(base=1, gamma=0.5, steps_per_epoch=3)"),
            {{0, 1}, {2, 1}, {3, 0.5}, {5, 0.5}, {6, 0.25}});
  expect_at(schedule("cosine(base=1, epochs=3, steps_per_epoch=2)"),
            {{0, 1}, {1, 1}, {2, 0.5}, {3, 0.5}, {4, 0}, {6, 0}});
}

TEST_F(Schedules, exponential_falls_every_epoch) {
  expect_at(schedule("exponential(base=2, gamma=0.9)"),
            {{0, 2}, {1, 1.8}, {4, 2 * std::pow(0.9, 4)}});
}

TEST_F(Schedules, cosine_ends_in_the_last_epoch) {
  expect_at(schedule("cosine(base=1, min=0.2, epochs=5)"),
            {{0, 1}, {1, 0.2 + 0.8 * wave(0.25)}, {2, 0.6}, {4, 0.2}, {5, 0.2}});
  expect_at(schedule("cosine(base=1, min=0.2, epochs=1)"), {{0, 1}, {3, 1}});
}

TEST_F(Schedules, warmup_goes_to_the_first_value_of_what_follows) {
  expect_at(schedules::warmup(4, 0.1, schedule(0.5)),
            {{0, 0.1}, {1, 0.2}, {3, 0.4}, {4, 0.5}, {9, 0.5}});
}

TEST_F(Schedules, what_follows_a_warmup_counts_from_0) {
  for (const ScheduleName& warm : std::vector<ScheduleName>{
           "warmup(steps=2, then=\"exponential(base=8, gamma=0.5)\")",
           schedules::Warmup{.steps = 2, .then = schedules::Exponential{.base = 8, .gamma = 0.5}}})
    expect_at(schedule(warm), {{0, 0}, {1, 4}, {2, 8}, {3, 4}, {5, 1}});
}

TEST_F(Schedules, sequences_go_on_with_the_last) {
  const Schedule falling = schedule("exponential(base=8, gamma=0.5)");
  const Schedule made = schedules::sequence(
      {{2, schedule(1.0)}, {3, falling}, {0, schedule("linear_decay(value=4, steps=4)")}});
  expect_at(made, {{0, 1}, {1, 1}, {2, 8}, {3, 4}, {4, 2}, {5, 4}, {6, 3}, {9, 0}, {12, 0}});
}

TEST_F(Schedules, sequences_of_one_are_that_one) {
  expect_at(schedules::sequence({{1, schedule("exponential(base=8, gamma=0.5)")}}),
            {{0, 8}, {3, 1}});
}

TEST_F(Schedules, products_multiply) {
  expect_at(schedules::multiply(schedule("exponential(base=8, gamma=0.5)"), schedule(3.0)),
            {{0, 24}, {2, 6}});
}

TEST_F(Schedules, run_inside_a_traced_function_that_is_called_once) {
  int calls = 0;
  const Schedule rate = schedules::warmup(2, 0, schedule("exponential(base=8, gamma=0.5)"));
  const auto traced = jit([&](const Tensor& step) {
    ++calls;
    return rate(step);
  });
  expect_near(traced(tensor(1)), {4});
  expect_near(traced(tensor(2)), {8});
  expect_near(traced(tensor(5)), {1});
  EXPECT_EQ(calls, 1);
}

TEST_F(Schedules, unknown_names_are_refused_with_the_nearest) {
  const Error error = error_of([] { return schedule("cosine_deca(value=1)"); });
  EXPECT_EQ(error.code(), ErrorCode::not_found);
  EXPECT_NE(std::string{error.reason()}.find("did you mean 'cosine_decay'"), std::string::npos)
      << error.what();
}

TEST_F(Schedules, options_are_checked) {
  for (const char* text :
       {"constant", "linear_decay(value=1, steps=0)", "linear_decay(value=1, warmup=-1)",
        "exponential_decay(value=1, transition_steps=0)",
        "exponential_decay(value=1, decay_rate=-1)", "cosine_decay(value=1, decay_steps=0)",
        "polynomial_decay(value=1, power=-1)", "step(base=1, size=0, gamma=0.5)",
        "step(base=1, gamma=0.5)", "cosine(base=1)",
        "exponential(base=1, gamma=0.5, steps_per_epoch=0)", "constant(value=1, rate=2)",
        "warmup(steps=0, then=\"constant(value=1)\")", "warmup(steps=3)"})
    EXPECT_EQ(code_of([&] { return schedule(text); }), ErrorCode::invalid_parameter) << text;
  EXPECT_EQ(code_of([] { return schedule("warmup(steps=3, then=\"polynomial\")"); }),
            ErrorCode::not_found);
}

TEST_F(Schedules, composition_wants_steps_and_schedules) {
  using schedules::sequence;
  EXPECT_EQ(code_of([] { return schedules::warmup(0, 0, schedule(1.0)); }),
            ErrorCode::invalid_parameter);
  EXPECT_EQ(code_of([] { return schedules::warmup(3, 0, {}); }), ErrorCode::invalid_argument);
  EXPECT_EQ(code_of([] { return sequence({}); }), ErrorCode::invalid_argument);
  EXPECT_EQ(code_of([] {
              return sequence({{0, schedule(1.0)}, {1, schedule(2.0)}});
            }),
            ErrorCode::invalid_parameter);
  EXPECT_EQ(code_of([] { return sequence({{1, {}}}); }), ErrorCode::invalid_argument);
  EXPECT_EQ(code_of([] { return schedules::multiply(schedule(1.0), {}); }),
            ErrorCode::invalid_argument);
}

}  // namespace
}  // namespace stoker::nn
