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

std::uint32_t ForkDelays::own() noexcept { return delays_of_this_thread == 0 ? 0 : 1; }

void ForkDelays::wait_for_others() noexcept {
  for (std::uint32_t seen = state.load(); seen != own(); seen = state.load()) state.wait(seen);
}

bool ForkDelays::try_fork() noexcept {
  std::uint32_t none = own();
  return state.compare_exchange_strong(none, none | forking);
}

void ForkDelays::forked() noexcept {
  state.fetch_and(~forking);
  state.notify_all();
}

}  // namespace stoker
