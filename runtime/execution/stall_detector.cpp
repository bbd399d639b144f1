#include "stoker/runtime/execution/stall_detector.hpp"

#include <algorithm>
#include <cstring>
#include <deque>
#include <new>
#include <vector>

#include "stoker/runtime/base/thread_local.hpp"

namespace stoker {

struct StallDetector::Slots {
  [[nodiscard]] Slot& take() {
    const std::scoped_lock lock{mutex};
    for (Slot& slot : all)
      if (!std::exchange(slot.used_, true)) return slot;
    return all.emplace_back();
  }
  void give(Slot& slot) noexcept {
    if (fork.forked()) return;
    const std::scoped_lock lock{mutex};
    slot.used_ = false;
  }

  const ForkGuard fork;  // in a child a thread of the parent may hold the lock
  std::mutex mutex;
  std::deque<Slot> all;
};

/// Gives a thread's slot back when the thread ends.
struct StallDetector::Returned {
  Returned() = default;
  Returned(const Returned&) = delete;
  Returned& operator=(const Returned&) = delete;
  ~Returned();
  void give() noexcept {
    if (owner) owner->give(*slot);
    owner.reset();
  }

  std::shared_ptr<Slots> owner;
  Slot* slot = nullptr;
};

namespace {

/// The slot this thread used last, and whose it is. Still there when the thread's other objects have
/// gone: the destructor of a static object may send, too.
struct Kept {
  std::uint64_t watch = 0;
  StallDetector::Slot* slot = nullptr;
  bool ended = false;
};
thread_local Kept kept_slot;

std::uint64_t next_number() noexcept {
  static std::atomic<std::uint64_t> last{0};
  return last.fetch_add(1, std::memory_order_relaxed) + 1;
}

}  // namespace

STOKER_THREAD_LOCAL_ACCESS static Kept& kept() noexcept { return kept_slot; }

StallDetector::Returned::~Returned() {
  give();
  kept() = {.ended = true};
}

bool StallDetector::Slot::begin(std::uint64_t id, std::string_view name) noexcept {
  if (step_.load(std::memory_order_relaxed) % 2 != 0) return false;
  if (id_.load(std::memory_order_relaxed) != id) {
    std::array<std::uint64_t, words> text{};
    std::memcpy(text.data(), name.data(), std::min(name.size(), sizeof(text)));
    // Whoever reads a word of this name sees that what ran before has ended.
    for (std::size_t i = 0; i < words; ++i) name_[i].store(text[i], std::memory_order_release);
    id_.store(id, std::memory_order_relaxed);
  }
  step_.fetch_add(1, std::memory_order_release);
  return true;
}

StallDetector::StallDetector() : number_{next_number()}, slots_{std::make_shared<Slots>()} {}

void StallDetector::start(Clock& clock, std::chrono::nanoseconds limit, Report report) {
  auto shared = std::make_shared<const Report>(std::move(report));
  const std::scoped_lock starting{starting_};
  stop_locked();
  {
    const std::scoped_lock lock{mutex_};
    limit_ = limit;
    report_ = std::move(shared);
  }
  clock_ = &clock;
  watching_.store(true, std::memory_order_relaxed);
  clock.arm(*this, deadline_after(clock.now(), limit / 2));
}

void StallDetector::stop() noexcept {
  if (fork_.forked()) return;  // the clock is the parent's
  if (reporter_.load() == std::this_thread::get_id()) {
    // Another thread's stop() may wait for this report. It does not arm itself again.
    watching_.store(false, std::memory_order_relaxed);
    return;
  }
  const std::scoped_lock starting{starting_};
  stop_locked();
}

void StallDetector::stop_locked() noexcept {
  watching_.store(false, std::memory_order_relaxed);
  if (clock_ == nullptr) return;
  // Twice, because a look that runs meanwhile may have armed it again.
  clock_->disarm(*this);
  clock_->disarm(*this);
  clock_ = nullptr;
  const std::scoped_lock lock{mutex_};
  report_ = nullptr;
}

StallDetector::Slot* StallDetector::here() {
  // In a child a thread of the parent may hold the lock of the slots.
  if (!watching_.load(std::memory_order_relaxed) || fork_.forked()) return nullptr;
  Kept& here = kept();
  if (here.ended) return nullptr;
  if (here.watch != number_) try {
      thread_local Returned returned;
      returned.give();
      here = {};
      returned.slot = &slots_->take();
      returned.owner = slots_;
      here = {.watch = number_, .slot = returned.slot};
    } catch (const std::bad_alloc&) {  // a turn goes on unwatched
      return nullptr;
    }
  return here.slot;
}

std::size_t StallDetector::threads() const {
  const std::scoped_lock lock{slots_->mutex};
  return static_cast<std::size_t>(std::ranges::count_if(slots_->all, &Slot::used_));
}

void StallDetector::expired() noexcept {
  reporter_.store(std::this_thread::get_id());
  report_hogs();
  reporter_.store({});
  if (watching_.load(std::memory_order_relaxed))
    clock_->arm(*this, deadline_after(clock_->now(), limit_ / 2));
}

void StallDetector::report_hogs() noexcept {
  try {
    const std::vector<StalledThread> hogs = look();
    if (hogs.empty()) return;
    std::shared_ptr<const Report> report;
    {
      const std::scoped_lock lock{mutex_};
      report = report_;
    }
    for (const StalledThread& one : hogs)
      if (watching_.load(std::memory_order_relaxed)) (*report)(one);
  } catch (...) {
    detail::log_escaped_exception("stall_detector");
  }
}

std::vector<StalledThread> StallDetector::look() {
  std::vector<StalledThread> found;
  const std::scoped_lock lock{mutex_, slots_->mutex};
  const auto now = clock_->now();
  for (Slot& slot : slots_->all) {
    const std::uint64_t step = slot.step_.load(std::memory_order_acquire);
    if (step % 2 == 0 || step != slot.seen_) {
      slot.seen_ = step;
      slot.since_ = now;
      slot.reported_ = false;
    } else if (!slot.reported_ && now - slot.since_ >= limit_) {
      std::array<std::uint64_t, Slot::words> text{};
      for (std::size_t i = 0; i < Slot::words; ++i)
        text[i] = slot.name_[i].load(std::memory_order_acquire);
      if (slot.step_.load(std::memory_order_acquire) != step) continue;  // it has just ended
      slot.reported_ = true;
      const auto* name = reinterpret_cast<const char*>(text.data());
      found.push_back({std::string{name, strnlen(name, sizeof(text))}, now - slot.since_});
    }
  }
  return found;
}

}  // namespace stoker
