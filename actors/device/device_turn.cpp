#include "stoker/actors/device/device_turn.hpp"

#include <utility>

#include "stoker/actors/device/device_actor.hpp"
#include "stoker/actors/device/device_client.hpp"
#include "stoker/runtime/observe/trace.hpp"

namespace stoker {

void DeviceTurn::operator()() {
  const auto scheduler = scheduler_.lock();
  if (!scheduler) return;
  if (!observer_ || !observer_->wants_timing()) {
    run(*scheduler);
  } else {
    const std::uint64_t begin = TraceRecorder::now_ns();
    run(*scheduler);
    observer_->on_turn(begin, TraceRecorder::now_ns());
  }
  tell_if_lost(*scheduler);
}

void DeviceTurn::run(CommandScheduler& scheduler) const {
  const auto all_delivered = [this] { return strand_->depth() == 0; };
  do {
    scheduler.release_dropped(all_delivered);
    scheduler.turn();
  } while (scheduler.has_dropped() && all_delivered());
}

void DeviceTurn::tell_if_lost(const CommandScheduler& scheduler) {
  if (!scheduler.is_lost() || std::exchange(told_, true)) return;
  if (const auto client = client_.lock())
    static_cast<void>(client->actor().stop({.reason = ExitReason::failure(*scheduler.lost())}));
}

}  // namespace stoker
