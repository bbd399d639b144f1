// A system all of whose work is done by the thread of the test, so that an allocation of it can fail where a test says.
#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <new>
#include <thread>

#include "stoker/api/system.hpp"
#include "stoker/api/tensor/core/tensor.hpp"
#include "stoker/runtime/execution/manual_executor.hpp"
#include "stoker/tests/actors/failing_allocation.hpp"

namespace stoker {

class OutOfMemory : public testing::Test {
 protected:
  /// Waits, and does meanwhile what turns of the device and processes leave to do.
  template <class T> T awaited(const Future<T>& future) const {
    while (!future.ready()) {
      turns->run_all();
      std::this_thread::yield();
    }
    return future.get();
  }
  /// Makes the allocation `which` of `call` fail. False if there are not that many.
  template <class F> bool fails(std::size_t which, F&& call) const {
    const FailingAllocation failing{which};
    try {
      call();
    } catch (const std::bad_alloc&) {
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::out_of_memory)
          << "allocation " << which << ": " << error.what();
    }
    return failing.failed();
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

}  // namespace stoker
