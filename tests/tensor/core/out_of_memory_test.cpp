// Allocations that fail while a function is traced, planned and started: each is an error of the call,
// which changes nothing. The tests fail every one, one after the other.
#include <thread>

#include "stoker/runtime/execution/manual_executor.hpp"
#include "stoker/tests/actors/failing_allocation.hpp"
#include "stoker/tests/tensor/fixture.hpp"

namespace stoker {
namespace {

class TensorsOutOfMemory : public testing::Test {
 protected:
  /// The turns of the device are not those of the call.
  void until_known(const Tensor& y) const {
    const Future<> done = y.computed();
    while (!done.ready()) {
      turns->run_all();
      std::this_thread::yield();
    }
  }
  /// Makes the allocation `which` of `call` fail. False if there are not that many.
  template <class F> bool fails(std::size_t which, F&& call) const {
    const FailingAllocation failing{which};
    try {
      call();
    } catch (const std::bad_alloc&) {
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::out_of_memory) << "allocation " << which;
    }
    return failing.failed();
  }
  /// Fused steps, products, sums and what the host drives.
  static Tensor function(const Tensor& x) {
    const Tensor y = matmul(x * 2 + 1, transpose(x));
    return sum(exp(y - reduce_max(y))) + cumulative_sum(x, 1)[{-1, -1}];
  }

  const std::shared_ptr<ManualClock> clock = std::make_shared<ManualClock>();
  const std::shared_ptr<ManualExecutor> turns = std::make_shared<ManualExecutor>(*clock);
  /// What the end of the system leaves to do holds the executor, which nobody else runs.
  struct LastTurns {
    ManualExecutor& turns;
    ~LastTurns() { turns.run_all(); }
  };
  const LastTurns last_turns{*turns};
  const System system{[this] {
    SystemOptions options;
    options.executor = turns;
    options.clock = clock;
    options.stall_limit = std::chrono::nanoseconds{0};
    return options;
  }()};
  const DeviceScope scope{system.device("cpu")};
};

TEST_F(TensorsOutOfMemory, a_plan_that_cannot_be_made_is_an_error_of_the_call) {
  std::size_t which = 0;
  // Of another shape each time, so that no plan is found that was made before.
  const auto planned = [&] {
    const std::int64_t columns = static_cast<std::int64_t>(which) + 1;
    const Tensor x = ones({2, columns});
    return jit(&function).compile(current_device(), x);
  };
  while (fails(which, [&] { static_cast<void>(planned()); })) ++which;
  EXPECT_GT(which, 100U);
}

TEST_F(TensorsOutOfMemory, expressions_of_any_length_go_without_memory_or_stack) {
  Tensor x = ones({2});
  Tensor early;
  for (int i = 0; i < 200'000; ++i) {
    x = i % 2 == 0 ? x + x : x * 0.5 + (x - x);
    if (i == 2) early = x;
  }
  EXPECT_FALSE(fails(0, [&] { x = Tensor{}; }));
  until_known(early);
  EXPECT_FALSE(fails(0, [&] { early = Tensor{}; })) << "one that is known";
}

TEST_F(TensorsOutOfMemory, a_run_that_cannot_be_started_is_an_error_of_the_call) {
  const Tensor x = ones({2, 3}).eval();
  until_known(x);
  const auto ready = jit(&function).compile(current_device(), x);
  const Tensor wanted = ready(x);
  until_known(wanted);
  std::size_t which = 0;
  while (fails(which, [&] { static_cast<void>(ready(x)); })) {
    turns->run_all();
    const Tensor y = ready(x);
    until_known(y);
    ++which;
  }
  EXPECT_GT(which, 5U);
}

}  // namespace
}  // namespace stoker
