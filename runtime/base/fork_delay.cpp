#include "stoker/runtime/base/fork_delay.hpp"

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

void ForkDelays::end() noexcept {
  state.fetch_sub(1);
  state.notify_all();
}

bool ForkDelays::has_own() noexcept { return delays_of_this_thread > 0; }

void ForkDelays::wait_for_none() noexcept {
  for (std::uint32_t seen = state.load(); seen != 0; seen = state.load()) state.wait(seen);
}

bool ForkDelays::try_fork() noexcept {
  std::uint32_t none = 0;
  return state.compare_exchange_strong(none, forking);
}

void ForkDelays::forked() noexcept {
  state.fetch_and(~forking);
  state.notify_all();
}

void ForkDelays::forget_others() noexcept { state.store(has_own() ? 1 : 0); }

}  // namespace stoker
