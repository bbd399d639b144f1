#include "stoker/runtime/base/fork_delay.hpp"

#include <pthread.h>

#include <chrono>
#include <thread>

namespace stoker {
namespace {

thread_local std::uint32_t delays_of_this_thread = 0;

/// How long this thread has given way to the fork that comes next.
struct Given {
  std::uint32_t fork = 0;
  int ms = 0;
};
thread_local constinit Given given;

[[nodiscard]] bool turn_of_forks() noexcept {
  constexpr std::chrono::milliseconds turn{8};
  return (std::chrono::steady_clock::now().time_since_epoch() / turn) % 2 == 0;
}

/// fork() is no place where a thread may be cancelled, and sleeping is one.
void pause_for(std::chrono::microseconds time) noexcept {
  int before = 0;
  pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &before);
  std::this_thread::sleep_for(time);
  pthread_setcancelstate(before, nullptr);
}

}  // namespace

constinit std::atomic<std::uint32_t> ForkDelays::state{0};
constinit std::atomic<std::uint32_t> ForkDelays::forks{0};

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
    } else if (gives_way(seen)) {
      pause_for(std::chrono::milliseconds{1});
      seen = state.load();  // looks again: a fork that arrives meanwhile misses nobody
    } else if (state.compare_exchange_weak(seen, seen + 1)) {
      return;
    }
  }
}

bool ForkDelays::gives_way(std::uint32_t seen) noexcept {
  if ((seen & (locking | waiting | arrived)) == 0) return false;
  if (const std::uint32_t next = forks.load(); given.fork != next) given = {.fork = next};
  const int patience_ms = seen & locking ? 10 : 500;
  if (given.ms >= patience_ms) return turn_of_forks();
  ++given.ms;
  return true;
}

void ForkDelays::arrive(std::chrono::steady_clock::time_point end) noexcept {
  state.fetch_add(one_arrived);
  while ((state.load() & delaying) != 0 && std::chrono::steady_clock::now() < end)
    pause_for(std::chrono::microseconds{200});
}

void ForkDelays::leave() noexcept { state.fetch_sub(one_arrived); }

void ForkDelays::end() noexcept { state.fetch_sub(1); }

bool ForkDelays::has_own() noexcept { return delays_of_this_thread > 0; }

bool ForkDelays::wait_for_none(std::chrono::steady_clock::time_point end) noexcept {
  std::uint32_t seen = state.load();
  for (;;) {
    const bool none = (seen & (delaying | forking)) == 0;
    if (!none && std::chrono::steady_clock::now() >= end) {
      state.fetch_and(~(waiting | locking));
      return false;
    }
    const std::uint32_t marked = none ? seen | waiting | locking : (seen | waiting) & ~locking;
    if (!state.compare_exchange_weak(seen, marked)) continue;
    if (none) return true;
    pause_for(std::chrono::microseconds{200});
    seen = state.load();
  }
}

bool ForkDelays::try_fork() noexcept {
  std::uint32_t none = state.load() & ~(delaying | forking);
  while ((none & (delaying | forking)) == 0)
    if (state.compare_exchange_weak(none, (none & arrived) | forking)) return true;
  return false;
}

void ForkDelays::forked() noexcept {
  forks.fetch_add(1);
  state.fetch_and(~forking);
  state.notify_all();
}

void ForkDelays::forget_others() noexcept { state.store(has_own() ? 1 : 0); }

}  // namespace stoker
