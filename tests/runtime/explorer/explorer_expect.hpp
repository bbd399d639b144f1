// What tests say of an exploration.
#pragma once

#include <gtest/gtest.h>

#include "explorer.hpp"

namespace stoker::explore {

/// Every schedule holds, and there were so many that the scenario is not an empty one.
inline void expect_holds(const Report& report, std::size_t more_than) {
  EXPECT_EQ(report.failure, "") << to_string(report);
  EXPECT_TRUE(report.complete) << to_string(report);
  EXPECT_GT(report.schedules, more_than);
  testing::Test::RecordProperty("schedules", to_string(report));
}

/// A defect that was put in is found, and found again by its schedule.
template <class Explore> void expect_found(Explore&& explore, Options options = {}) {
  const Report report = explore(options);
  EXPECT_NE(report.failure, "") << to_string(report);
  testing::Test::RecordProperty("found", to_string(report));
  options.replay = report.schedule;
  EXPECT_EQ(explore(options).failure, report.failure);
}

}  // namespace stoker::explore
