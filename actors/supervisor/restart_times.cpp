#include "stoker/actors/supervisor/restart_times.hpp"

namespace stoker {

void RestartTimes::add(Clock::time_point now) {
  while (!groups_.empty() && now - groups_.front().last > period_) {
    count_ -= groups_.front().count;
    groups_.pop_front();
  }
  ++count_;
  constexpr std::size_t exact = 1024;
  if (groups_.size() >= exact && now - groups_.back().first <= period_ / 512) {
    groups_.back().last = now;
    ++groups_.back().count;
    return;
  }
  groups_.push_back({now, now, 1});
}

}  // namespace stoker
