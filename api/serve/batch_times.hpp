// When a batch and its requests did what.
//
// Values. Threads: as values; who writes a batch's moments, and when, is said at Batch::moments.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>

#include "stoker/runtime/execution/clock.hpp"

namespace stoker::serve {

/// Moments that nobody noted are the epoch: then the step is a part of the model's.
struct BatchMoments {
  Clock::time_point started = {};   ///< it was given to a worker
  Clock::time_point joined = {};    ///< its inputs were there
  Clock::time_point computed = {};  ///< the model's outputs were there
  Clock::time_point ended = {};

  [[nodiscard]] std::chrono::nanoseconds input() const noexcept { return input_end() - started; }
  [[nodiscard]] std::chrono::nanoseconds infer() const noexcept {
    return std::max<Clock::duration>(output_start() - input_end(), Clock::duration::zero());
  }
  [[nodiscard]] std::chrono::nanoseconds output() const noexcept { return ended - output_start(); }

 private:
  [[nodiscard]] Clock::time_point input_end() const noexcept {
    return std::clamp(joined, started, std::max(started, ended));
  }
  [[nodiscard]] Clock::time_point output_start() const noexcept {
    return computed == Clock::time_point{}
               ? ended
               : std::clamp(computed, started, std::max(started, ended));
  }
};

/// Of one request. Whoever gives it a part of its result adds that part's batch first.
struct RequestTimes {
  Clock::time_point arrived = {};
  Clock::time_point started = {};  ///< of its first batch
  Clock::time_point ended = {};    ///< of its last batch
  std::chrono::nanoseconds input = {};
  std::chrono::nanoseconds infer = {};
  std::chrono::nanoseconds output = {};
  std::int64_t rows = 1;        ///< its own
  std::int64_t batch_rows = 0;  ///< of its last batch, without padding
  std::uint32_t batches = 0;

  [[nodiscard]] std::chrono::nanoseconds queue() const noexcept { return started - arrived; }
  [[nodiscard]] std::chrono::nanoseconds whole() const noexcept { return ended - arrived; }

  void add(const BatchMoments& batch, std::int64_t rows) noexcept {
    started = batches == 0 ? batch.started : std::min(started, batch.started);
    ended = std::max(ended, batch.ended);
    input += batch.input();
    infer += batch.infer();
    output += batch.output();
    batch_rows = rows;
    ++batches;
  }
};

}  // namespace stoker::serve
