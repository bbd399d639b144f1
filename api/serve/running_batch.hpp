// A batch that a worker was given, and how it ends.
//
//     running->ended_with(outcome);     // the thread that has it: once, before the batcher is told
//     running->ended();                 // the batcher, whenever it looks
//     running->abandon();               // the batcher, if the worker is gone
//
// The call of a batch that is one whole request is answered by ended_with(): its caller need not wait for a turn of the
// batcher.
//
// Threads: ended_with() from any, the rest by the batcher.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <thread>
#include <utility>

#include "stoker/api/serve/batch_queue.hpp"
#include "stoker/runtime/futures/cancel.hpp"

namespace stoker::serve {

/// The outputs of each piece of a batch, in order. Shared, so that they are moved and not copied.
using BatchOutputs = std::shared_ptr<std::vector<NamedValues>>;

class RunningBatch {
 public:
  /// `is_new`: its plan may have to be made.
  RunningBatch(Batch batch, bool is_new) : batch_{std::move(batch)}, is_new_{is_new} {}

  [[nodiscard]] const Batch& batch() const noexcept { return batch_; }
  [[nodiscard]] bool is_new() const noexcept { return is_new_; }
  /// Ends it between its steps.
  [[nodiscard]] const CancelSource& cancel() const noexcept { return cancel_; }

  /// `outcome` is ready since `at`. Does nothing if the batch was abandoned.
  void ended_with(Future<BatchOutputs> outcome, Clock::time_point at) noexcept {
    auto running = Phase::running;
    if (!phase_.compare_exchange_strong(running, Phase::ending, std::memory_order_acq_rel)) return;
    const Result<BatchOutputs>& result = *outcome.poll();
    batch_.moments.ended = at;
    if (result && batch_.is_whole_request()) {
      ServedCall& call = *batch_.pieces.front().call;
      call.ran(batch_.moments, batch_.rows);
      static_cast<void>(call.complete(std::move((*result)->front())));
    }
    outcome_ = std::move(outcome);
    phase_.store(Phase::ended, std::memory_order_release);
  }
  [[nodiscard]] bool ended() const noexcept {
    return phase_.load(std::memory_order_acquire) == Phase::ended;
  }
  /// Returns when no other thread is in ended_with(), which takes a moment.
  void await_ending() const noexcept {
    while (phase_.load(std::memory_order_acquire) == Phase::ending) std::this_thread::yield();
  }
  /// From now on it answers no call. False if it has ended before.
  [[nodiscard]] bool abandon() noexcept {
    auto running = Phase::running;
    if (phase_.compare_exchange_strong(running, Phase::abandoned, std::memory_order_acq_rel))
      return true;
    await_ending();
    return false;
  }
  /// Once, when it has ended. A call that was answered has no outputs there any more.
  [[nodiscard]] Result<BatchOutputs> take_outcome() { return *std::exchange(outcome_, {}).poll(); }

 private:
  enum class Phase : std::uint8_t { running, ending, ended, abandoned };

  const Batch batch_;
  const bool is_new_;
  const CancelSource cancel_;
  Future<BatchOutputs> outcome_;
  std::atomic<Phase> phase_{Phase::running};
};

}  // namespace stoker::serve
