// An executor for tests: nothing runs until the test says so, and the order can be shuffled.
//
// Threads: post from any thread; run_one and run_all from one thread at a time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <mutex>
#include <optional>
#include <random>
#include <vector>

#include "stoker/runtime/execution/clock.hpp"
#include "stoker/runtime/execution/executor.hpp"

namespace stoker {

class ManualExecutor final : public Executor {
 public:
  /// Runs tasks in the order they were posted. `clock` outlives the executor.
  explicit ManualExecutor(Clock& clock) : clock_(&clock) {}
  /// Runs any task that is ready, picked by a generator started from `seed`: the same seed gives
  /// the same order. Tasks may overtake each other as they may on a pool.
  ManualExecutor(Clock& clock, std::uint64_t seed) : clock_(&clock), random_(std::in_place, seed) {}
  /// Drops tasks that never ran.
  ~ManualExecutor() override { drop_all(); }

  using Executor::post;
  void post(Task& task) noexcept override;
  [[nodiscard]] bool in_executor() const noexcept override;
  [[nodiscard]] Clock& clock() const noexcept override { return *clock_; }

  /// An actor handles one message per turn.
  void set_turn_budget(int messages) noexcept { turn_budget_ = messages; }
  [[nodiscard]] int turn_budget() const noexcept override { return turn_budget_; }

  /// Runs one task; false if none was ready.
  bool run_one() noexcept;
  /// Runs this task before all others; false if it is not ready.
  bool run_one(const Task& task) noexcept;
  /// Runs until nothing is ready and returns how many tasks ran; `limit` stops a livelock.
  std::size_t run_all(std::size_t limit = 1'000'000) noexcept;
  [[nodiscard]] std::size_t ready() const noexcept;
  /// Drops ready tasks, as the destructor does, so that tasks that keep this executor alive release it.
  void drop_all() noexcept;

 private:
  [[nodiscard]] Task* take() noexcept;
  void run(Task& task) noexcept;

  Clock* clock_;
  int turn_budget_ = Executor::turn_budget();
  std::optional<std::mt19937_64> random_;
  mutable std::mutex mutex_;
  TaskQueue queue_;
  std::size_t size_ = 0;
};

}  // namespace stoker
