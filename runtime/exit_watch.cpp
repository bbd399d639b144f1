#include "stoker/device/vulkan/exit_watch.hpp"

#include <link.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdlib>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

namespace stoker::device::vulkan {
namespace {

constexpr std::chrono::seconds delay_patience{1};

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
  std::mutex mutex;
  std::condition_variable no_delay;
  std::vector<ExitWatch*> all;
  unsigned delays = 0;
  bool exiting = false;
  unsigned long long libraries_seen = 0;
  std::atomic<pid_t> process{0};  ///< whose watches they are

  /// Never destroyed: other threads may still run while the process exits.
  static ExitWatches& get() {
    static ExitWatches& only = *std::make_unique<ExitWatches>().release();
    return only;
  }

  void add(ExitWatch& watch) {
    const std::scoped_lock lock{mutex};
    all.push_back(&watch);
    process.store(getpid());
    const unsigned long long libraries = libraries_loaded();
    if (libraries == libraries_seen) return;
    libraries_seen = libraries;
    static_cast<void>(std::atexit([] { get().leave(); }));
  }

  void remove(ExitWatch& watch) {
    if (process.load() != getpid()) return;
    const std::scoped_lock lock{mutex};
    std::erase(all, &watch);
  }

  /// False if the exit has begun.
  bool delay() {
    const std::scoped_lock lock{mutex};
    if (!exiting) ++delays;
    return !exiting;
  }

  void end_delay() {
    const std::scoped_lock lock{mutex};
    --delays;
    no_delay.notify_all();
  }

  void leave() {
    // A forked child exits with the parent's watches, and perhaps with its mutex in use.
    if (process.load() != getpid()) return;
    std::unique_lock lock{mutex};
    exiting = true;
    // Newest first: what is made from an instance leaves before it.
    for (auto watch = all.rbegin(); watch != all.rend(); ++watch) {
      if (std::exchange((*watch)->left_, true)) continue;
      (*watch)->leave_();
    }
    no_delay.wait_for(lock, delay_patience, [&] { return delays == 0; });
  }
};

ExitWatch::ExitWatch(std::function<void()> leave) : leave_{std::move(leave)} {
  ExitWatches::get().add(*this);
}

ExitWatch::~ExitWatch() { ExitWatches::get().remove(*this); }

Error process_exits(std::string_view op) {
  return Error{std::string{op}, ErrorCode::closed, "the process exits"};
}

ExitDelay::ExitDelay() : too_late_{!ExitWatches::get().delay()} {}

ExitDelay::~ExitDelay() {
  if (!too_late_) ExitWatches::get().end_delay();
}

}  // namespace stoker::device::vulkan
