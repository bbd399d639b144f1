// What a buffer remembers of writers that have failed.
#include "stoker/device/memory/poison.hpp"

#include <gtest/gtest.h>

#include <string>

#include "stoker/runtime/futures/future.hpp"
#include "stoker/tests/actors/failing_allocation.hpp"

namespace stoker {
namespace {

Poison::Entry failed(std::uint64_t sequence) {
  return {sequence, Error{"command " + std::to_string(sequence), ErrorCode::internal, "broke"},
          Promise<void>{}.future().state()};
}

std::string_view cause_for(const Poison& poison, std::uint64_t sequence) {
  const Error* cause = poison.hand_on(sequence);
  return cause ? cause->op() : "none";
}

TEST(Poison, is_suffered_by_commands_behind_the_writer_only) {
  Poison poison;
  EXPECT_EQ(cause_for(poison, 9), "none");
  poison.add(failed(5));
  EXPECT_EQ(cause_for(poison, 5), "none");
  EXPECT_EQ(cause_for(poison, 6), "command 5");
}

TEST(Poison, is_lifted_by_what_overwrites_everything) {
  Poison poison;
  poison.add(failed(5));
  poison.add(failed(9));
  poison.overwritten(7);
  EXPECT_EQ(cause_for(poison, 8), "none");
  EXPECT_EQ(cause_for(poison, 10), "command 9");
  poison.overwritten(11);
  EXPECT_TRUE(poison.empty());
}

TEST(Poison, decides_by_the_oldest_writer_in_whatever_order_they_end) {
  Poison poison;
  poison.add(failed(9));
  poison.add(failed(5));
  EXPECT_EQ(cause_for(poison, 10), "command 5");
  EXPECT_EQ(poison.cause().op(), "command 5");
}

TEST(Poison, remembers_the_oldest_and_the_newest_of_many) {
  Poison poison;
  for (std::uint64_t i = 1; i <= 100; ++i) poison.add(failed(i));
  EXPECT_EQ(cause_for(poison, 101), "command 1");
  poison.overwritten(100);
  EXPECT_EQ(cause_for(poison, 101), "command 100");
}

TEST(Poison, remembers_the_oldest_and_the_newest_without_memory) {
  Poison poison;
  Poison::Entry entries[] = {failed(1), failed(2), failed(3)};
  for (Poison::Entry& entry : entries) {
    const FailingAllocation none{0};
    poison.add(std::move(entry));
  }
  EXPECT_EQ(cause_for(poison, 4), "command 1");
  poison.overwritten(3);
  EXPECT_EQ(cause_for(poison, 4), "command 3");
}

}  // namespace
}  // namespace stoker
