#include "stoker/device/vulkan/submission/schedule.hpp"

#include <gtest/gtest.h>

#include <algorithm>

namespace stoker::device::vulkan {
namespace {

Step step_of(StepKind kind, std::initializer_list<std::uint32_t> after = {}) {
  Step step;
  step.kind = kind;
  step.after.assign(after.begin(), after.end());
  return step;
}

Step kernel(std::initializer_list<std::uint32_t> after = {}) {
  return step_of(StepKind::dispatch, after);
}
Step copy(std::initializer_list<std::uint32_t> after = {}) {
  return step_of(StepKind::copy, after);
}

std::vector<Stage> stages_of(const std::vector<Step>& steps) {
  std::vector<Stage> stages;
  for (const Step& step : steps)
    stages.push_back(step.kind == StepKind::dispatch ? Stage::compute : Stage::transfer);
  return stages;
}

/// The positions before which barriers are placed.
std::vector<std::uint32_t> barriers(const std::vector<Step>& steps) {
  Schedule schedule;
  schedule.plan(steps);
  Hazards hazards;
  const std::vector<Stage> stages = stages_of(steps);
  std::vector<std::uint32_t> places;
  for (std::uint32_t position = 0; position < steps.size(); ++position) {
    const std::uint32_t step = schedule.order()[position];
    const Stage from = hazards.needed(stages, schedule, stages[step], steps[step].after);
    if (from == Stage::none) continue;
    hazards.placed(from, stages[step], position);
    places.push_back(position);
  }
  return places;
}

using Places = std::vector<std::uint32_t>;

TEST(Schedule, keeps_the_order_of_independent_steps) {
  Schedule schedule;
  schedule.plan(std::vector<Step>{kernel(), kernel(), kernel()});
  EXPECT_TRUE(std::ranges::equal(schedule.order(), Places{0, 1, 2}));
}

TEST(Schedule, interleaves_chains_by_level) {
  Schedule schedule;
  schedule.plan(std::vector<Step>{kernel(), kernel({0}), kernel(), kernel({2})});
  EXPECT_TRUE(std::ranges::equal(schedule.order(), Places{0, 2, 1, 3}));
  EXPECT_EQ(schedule.position(2), 1U);
}

TEST(Schedule, never_moves_a_step_before_what_it_depends_on) {
  std::vector<Step> steps;
  for (std::uint32_t i = 0; i < 200; ++i) {
    Step step = kernel();
    for (std::uint32_t k = 1; k <= 3; ++k)
      if (i >= k * k && (i * 7 + k) % 3 == 0) step.after.push_back(i - k * k);
    steps.push_back(step);
  }
  Schedule schedule;
  schedule.plan(steps);
  for (std::uint32_t i = 0; i < steps.size(); ++i)
    for (const std::uint32_t earlier : steps[i].after)
      EXPECT_LT(schedule.position(earlier), schedule.position(i));
}

TEST(Hazards, independent_steps_need_no_barrier) {
  EXPECT_EQ(barriers({kernel(), copy(), kernel()}), Places{});
}

TEST(Hazards, a_chain_needs_one_barrier_per_link) {
  EXPECT_EQ(barriers({kernel(), kernel({0}), kernel({1})}), (Places{1, 2}));
}

TEST(Hazards, two_chains_share_their_barriers) {
  EXPECT_EQ(barriers({kernel(), kernel({0}), kernel(), kernel({2})}), Places{2});
}

TEST(Hazards, a_barrier_covers_everything_before_it) {
  EXPECT_EQ(barriers({kernel(), kernel(), kernel({0}), kernel({1})}), Places{2});
}

TEST(Hazards, a_barrier_between_kernels_does_not_cover_copies) {
  // The copy (1) is still unordered after the barrier between the kernels.
  EXPECT_EQ(barriers({kernel(), copy(), kernel({0}), kernel({1})}), (Places{2, 3}));
}

TEST(Hazards, a_barrier_towards_copies_does_not_cover_kernels) {
  EXPECT_EQ(barriers({kernel(), copy({0}), kernel({0})}), (Places{1, 2}));
}

}  // namespace
}  // namespace stoker::device::vulkan
