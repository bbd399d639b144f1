#include "stoker/runtime/base/fork_delay.hpp"

#include <chrono>
#include <thread>

namespace stoker {
namespace {

thread_local std::uint32_t delays_of_this_thread = 0;

}  // namespace

constinit std::atomic<std::uint32_t> ForkDelays::state{0};

ForkDelay::ForkDelay() noexcept {
  if (delays_of_this_thread++ == 0) ForkDelays::begin();
}

ForkDelay::~ForkDelay() {
  if (--delays_of_this_thread == 0) ForkDelays::end();
}

void ForkDelays::begin() noexcept {
  give_way();
  std::uint32_t seen = state.load();
  for (;;) {
    if (seen & forking) {
      state.wait(seen);
      seen = state.load();
    } else if (state.compare_exchange_weak(seen, seen + 1)) {
      return;
    }
  }
}

void ForkDelays::give_way() noexcept {
  for (int i = 0; i < 500; ++i) {
    const std::uint32_t seen = state.load();
    if ((seen & waiting) == 0 || ((seen & locking) != 0 && i >= 10)) return;
    std::this_thread::sleep_for(std::chrono::milliseconds{1});
  }
}

void ForkDelays::end() noexcept {
  state.fetch_sub(1);
  state.notify_all();
}

bool ForkDelays::has_own() noexcept { return delays_of_this_thread > 0; }

bool ForkDelays::wait_for_none(std::chrono::steady_clock::time_point end) noexcept {
  std::uint32_t seen = state.load();
  for (;;) {
    const bool none = (seen & ~(waiting | locking)) == 0;
    if (!none && std::chrono::steady_clock::now() >= end) {
      state.fetch_and(~(waiting | locking));
      return false;
    }
    const std::uint32_t marked = none ? waiting | locking : (seen | waiting) & ~locking;
    if (!state.compare_exchange_weak(seen, marked)) continue;
    if (none) return true;
    std::this_thread::sleep_for(std::chrono::microseconds{200});
    seen = state.load();
  }
}

bool ForkDelays::try_fork() noexcept {
  std::uint32_t none = state.load() & (waiting | locking);
  return state.compare_exchange_strong(none, forking);
}

void ForkDelays::forked() noexcept {
  state.fetch_and(~forking);
  state.notify_all();
}

void ForkDelays::forget_others() noexcept { state.store(has_own() ? 1 : 0); }

}  // namespace stoker
