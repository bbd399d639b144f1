#include "stoker/kernels/rows/row_teams.hpp"

#include <gtest/gtest.h>

#include <bit>

namespace stoker::kernels::rows {
namespace {

constexpr std::uint32_t threads = 256;
constexpr std::int64_t most_in_registers = threads * 16 * 4;

TEST(RowTeams, divide_a_group_evenly) {
  for (std::int64_t length = 1; length < 40'000; length += 1 + length / 7) {
    const RowTeams teams = RowTeams::of(length, threads);
    EXPECT_TRUE(std::has_single_bit(teams.lanes)) << length;
    EXPECT_LE(teams.lanes, threads) << length;
    EXPECT_GE(teams.quads, 1U) << length;
  }
}

TEST(RowTeams, hold_a_row_in_one_batch_as_long_as_registers_reach) {
  for (std::int64_t length = 1; length <= most_in_registers; length += 1 + length / 7) {
    const RowTeams teams = RowTeams::of(length, threads);
    EXPECT_GE(std::int64_t{4} * teams.lanes * teams.quads, length);
    EXPECT_LE(teams.quads, 16U);
  }
  const RowTeams longest = RowTeams::of(most_in_registers, threads);
  EXPECT_EQ(longest.lanes, threads);
  EXPECT_EQ(longest.quads, 16U);
}

TEST(RowTeams, leave_no_thread_a_whole_quad_to_spare_in_one_batch) {
  for (std::int64_t length = 1; length <= most_in_registers; length += 1 + length / 7) {
    const RowTeams teams = RowTeams::of(length, threads);
    EXPECT_LT(std::int64_t{4} * teams.lanes * (teams.quads - 1), length);
  }
}

TEST(RowTeams, take_longer_rows_in_batches_of_equal_size) {
  const RowTeams teams = RowTeams::of(most_in_registers + 4, threads);
  EXPECT_EQ(teams.lanes, threads);
  EXPECT_EQ(teams.quads, 9U);
}

}  // namespace
}  // namespace stoker::kernels::rows
