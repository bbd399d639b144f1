// How often something happens, averaged over about the last second.
//
//     RateMeter drained;
//     drained.add(rows, now);
//     drained.per_second(now);
//
// Threads: one at a time. `now` never goes back.
#pragma once

#include <cmath>

#include "stoker/runtime/execution/clock.hpp"

namespace stoker::serve {

class RateMeter {
 public:
  void add(double count, Clock::time_point now) noexcept {
    if (!begun_) {
      begun_ = true;
      first_ = last_ = now;
    }
    decay(now);
    weight_ += count;
  }
  /// Zero before the first add() and in its instant: nothing can be said yet.
  [[nodiscard]] double per_second(Clock::time_point now) const noexcept {
    if (!begun_ || now <= first_) return 0;
    RateMeter later = *this;
    later.decay(now);
    // In its first seconds the meter has seen only a part of its memory.
    return later.weight_ / -std::expm1(-seconds(now - first_));
  }

 private:
  [[nodiscard]] static double seconds(Clock::duration time) noexcept {
    return std::chrono::duration<double>(time).count();
  }
  void decay(Clock::time_point now) noexcept {
    if (now <= last_) return;
    weight_ *= std::exp(-seconds(now - last_));
    last_ = now;
  }

  bool begun_ = false;
  Clock::time_point first_ = {};
  Clock::time_point last_ = {};
  double weight_ = 0;  ///< of the counts, each decayed by its age in seconds
};

}  // namespace stoker::serve
