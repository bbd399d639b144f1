#include "stoker/runtime/futures/gate.hpp"

#include <gtest/gtest.h>

#include <memory>
#include <optional>
#include <thread>
#include <vector>

namespace stoker {
namespace {

TEST(Gate, lets_in_until_it_is_closed_and_then_waits_for_those_inside) {
  Gate gate;
  std::optional<Gate::Pass> first{std::move(gate.enter("op").value())};
  std::optional<Gate::Pass> second{std::move(gate.enter("op").value())};
  EXPECT_EQ(gate.inside(), 2U);
  const Future<void> empty = gate.close();
  EXPECT_TRUE(gate.is_closed());
  EXPECT_EQ(gate.enter("op").error().code(), ErrorCode::closed);
  first.reset();
  EXPECT_FALSE(empty.ready());
  second.reset();
  EXPECT_TRUE(empty.ready());
  EXPECT_TRUE(gate.close().ready());
}

TEST(Gate, an_empty_gate_is_done_at_once) {
  Gate gate;
  EXPECT_TRUE(gate.close().wait().has_value());
}

TEST(Gate, stress_may_be_destroyed_when_the_last_one_has_left) {
  for (int round = 0; round < 200; ++round) {
    auto gate = std::make_unique<Gate>();
    std::vector<std::jthread> threads;
    std::vector<Gate::Pass> passes;
    for (int i = 0; i < 3; ++i) passes.push_back(std::move(gate->enter("op").value()));
    for (Gate::Pass& pass : passes)
      threads.emplace_back(
          [mine = std::move(pass)]() mutable { const Gate::Pass leaving = std::move(mine); });
    gate->close().wait();
    gate.reset();
  }
}

}  // namespace
}  // namespace stoker
