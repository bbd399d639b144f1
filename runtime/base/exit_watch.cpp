#include "stoker/runtime/base/exit_watch.hpp"

#include <link.h>
#include <pthread.h>

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <cstdlib>
#include <memory>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

namespace stoker {
namespace {

constexpr std::chrono::seconds delay_patience{2};
constexpr std::chrono::seconds throw_patience{1};  // behind it
constinit std::atomic<bool> exit_begun{false};
// While a library is used for the first time: a few hundred handlers of 32 bytes.
constexpr std::chrono::microseconds renewal{200};

/// How many libraries were loaded so far. A handler installed when there were fewer may run after
/// those of the newest.
unsigned long long libraries_loaded() noexcept {
  unsigned long long count = 0;
  dl_iterate_phdr(
      [](dl_phdr_info* info, std::size_t, void* to) noexcept {
        *static_cast<unsigned long long*>(to) = info->dlpi_adds;
        return 1;
      },
      &count);
  return count;
}

}  // namespace

/// Process-wide by nature, as exit() is.
struct ExitWatches {
  // How many delay the exit, and a bit: it has begun.
  static constexpr std::uint32_t exiting = 1U << 31;
  std::atomic<std::uint32_t> delays{0};
  ProcessMutex first_use;
  ProcessMutex mutex;  // of what follows
  std::condition_variable_any no_delay;
  std::vector<ExitWatch*> all;
  std::chrono::steady_clock::time_point give_up{};  // written once, before exit_begun
  std::thread::id exiting_thread{};                 // likewise
  unsigned long long libraries_seen = 0;
  static const int handler;  ///< of pthread_atfork

  /// Never destroyed: other threads may still run while the process exits. Made before main(), because
  /// a child of fork() finds what another thread was making half made.
  static ExitWatches& get() {
    static ExitWatches& only = *std::make_unique<ExitWatches>().release();
    return only;
  }

  void add(ExitWatch& watch) {
    const std::scoped_lock lock{mutex};
    all.push_back(&watch);
    const unsigned long long libraries = libraries_loaded();
    if (libraries != std::exchange(libraries_seen, libraries)) renew();
  }

  void remove(ExitWatch& watch) {
    const std::scoped_lock lock{mutex};
    std::erase(all, &watch);
  }

  /// Our handler is the newest now.
  static void renew() noexcept {
    static_cast<void>(std::atexit([] { get().leave(); }));
  }

  /// In a child of fork(): watches and delays are those of threads that it does not have.
  void forget() noexcept {
    all.clear();
    delays.store(0);
    exit_begun.store(false);
  }

  /// False if the exit has begun.
  bool delay() noexcept {
    const bool in_time = (delays.fetch_add(1) & exiting) == 0;
    if (!in_time) end_delay();
    return in_time;
  }

  void end_delay() noexcept {
    if (delays.fetch_sub(1) != (exiting | 1)) return;
    const std::scoped_lock lock{mutex};
    no_delay.notify_all();
  }

  void leave() {
    std::unique_lock lock{mutex};
    // One limit for all of our handlers.
    if ((delays.fetch_or(exiting) & exiting) == 0) {
      give_up = std::chrono::steady_clock::now() + delay_patience;
      exiting_thread = std::this_thread::get_id();
      exit_begun.store(true, std::memory_order_release);
    }
    // Newest first: what is made from an instance leaves before it.
    for (auto watch = all.rbegin(); watch != all.rend(); ++watch) {
      if (std::exchange((*watch)->left_, true)) continue;
      (*watch)->leave_();
    }
    no_delay.wait_until(lock, give_up, [&] { return delays.load() == exiting; });
  }
};

const int ExitWatches::handler = (get(), pthread_atfork(nullptr, nullptr, [] { get().forget(); }));

ExitWatch::ExitWatch(std::function<void()> leave) : leave_{std::move(leave)} {
  ExitWatches::get().add(*this);
}

ExitWatch::~ExitWatch() { ExitWatches::get().remove(*this); }

Error process_exits(std::string_view op) {
  return Error{std::string{op}, ErrorCode::closed, "the process exits"};
}

ExitDelay::ExitDelay() noexcept : too_late_{!ExitWatches::get().delay()} {}

ExitDelay::~ExitDelay() {
  if (!too_late_) ExitWatches::get().end_delay();
}

FirstUse::FirstUse() : alone_{ExitWatches::get().first_use} {
  ExitWatches::renew();
  try {
    renewing_ = std::jthread{[](const std::stop_token& stop) {
      const ExitWatches& watches = ExitWatches::get();
      // Once exit() waits, what is still made goes before it goes on.
      while (!stop.stop_requested() && (watches.delays.load() & ExitWatches::exiting) == 0) {
        std::this_thread::sleep_for(renewal);
        ExitWatches::renew();
      }
    }};
  } catch (const std::system_error&) {  // no thread to be had: renewed at the end only
  }
}

FirstUse::~FirstUse() {
  if (renewing_.joinable()) {
    renewing_.request_stop();
    renewing_.join();
  }
  ExitWatches::renew();  // behind the last object that was made
}

bool first_use(std::atomic<bool>& done, const std::function<void()>& use) {
  if (done.load(std::memory_order_acquire)) return true;
  const FirstUse first;
  if (done.load(std::memory_order_relaxed)) return true;
  if (ExitDelay{}.too_late()) return false;
  use();
  done.store(true, std::memory_order_release);
  return true;
}

void give_exit_time() noexcept {
  if (!exit_begun.load(std::memory_order_acquire)) return;
  const ExitWatches& watches = ExitWatches::get();
  if (std::this_thread::get_id() != watches.exiting_thread)
    std::this_thread::sleep_until(watches.give_up + throw_patience);
}

}  // namespace stoker
