#include "stoker/runtime/turn_watch.hpp"

#include <algorithm>
#include <cstring>
#include <vector>

#include "stoker/runtime/thread_local.hpp"

namespace stoker {
namespace {

/// The slot this thread used last, and whose it is.
struct Kept {
  std::uint64_t watch = 0;
  TurnWatch::Slot* slot = nullptr;
};
thread_local Kept kept_slot;

std::uint64_t next_number() noexcept {
  static std::atomic<std::uint64_t> last{0};
  return last.fetch_add(1, std::memory_order_relaxed) + 1;
}

}  // namespace

STOKER_THREAD_LOCAL_ACCESS static Kept& kept() noexcept { return kept_slot; }

bool TurnWatch::Slot::begin(std::uint64_t id, std::string_view name) noexcept {
  if (step_.load(std::memory_order_relaxed) % 2 != 0) return false;
  if (id_.load(std::memory_order_relaxed) != id) {
    std::array<std::uint64_t, words> text{};
    std::memcpy(text.data(), name.data(), std::min(name.size(), sizeof(text)));
    for (std::size_t i = 0; i < words; ++i) name_[i].store(text[i], std::memory_order_relaxed);
    id_.store(id, std::memory_order_relaxed);
  }
  step_.fetch_add(1, std::memory_order_release);
  return true;
}

TurnWatch::TurnWatch() : number_{next_number()} {}

void TurnWatch::start(Clock& clock, std::chrono::nanoseconds limit, Report report) {
  stop();
  const std::scoped_lock starting{starting_};
  {
    const std::scoped_lock lock{mutex_};
    limit_ = limit;
    report_ = std::move(report);
  }
  clock_ = &clock;
  watching_.store(true, std::memory_order_relaxed);
  clock.arm(*this, clock.now() + limit / 2);
}

void TurnWatch::stop() noexcept {
  if (fork_.forked()) return;  // the clock is the parent's
  const std::scoped_lock starting{starting_};
  if (!watching_.exchange(false, std::memory_order_relaxed)) return;
  // Twice, because a look that runs meanwhile may have armed it again.
  clock_->disarm(*this);
  clock_->disarm(*this);
  const std::scoped_lock lock{mutex_};
  report_ = nullptr;
}

TurnWatch::Slot* TurnWatch::here() {
  if (!watching_.load(std::memory_order_relaxed)) return nullptr;
  Kept& here = kept();
  if (here.watch != number_) {
    const std::scoped_lock lock{mutex_};
    here = {number_, &slots_.emplace_back()};
  }
  return here.slot;
}

void TurnWatch::expired() noexcept {
  for (const HoggedThread& one : look()) report_(one);
  if (watching_.load(std::memory_order_relaxed)) clock_->arm(*this, clock_->now() + limit_ / 2);
}

std::vector<HoggedThread> TurnWatch::look() {
  std::vector<HoggedThread> found;
  const std::scoped_lock lock{mutex_};
  const auto now = clock_->now();
  for (Slot& slot : slots_) {
    const std::uint64_t step = slot.step_.load(std::memory_order_acquire);
    if (step % 2 == 0 || step != slot.seen_) {
      slot.seen_ = step;
      slot.since_ = now;
      slot.reported_ = false;
    } else if (!slot.reported_ && now - slot.since_ >= limit_) {
      std::array<std::uint64_t, Slot::words> text{};
      for (std::size_t i = 0; i < Slot::words; ++i)
        text[i] = slot.name_[i].load(std::memory_order_relaxed);
      if (slot.step_.load(std::memory_order_acquire) != step) continue;  // it has just ended
      slot.reported_ = true;
      const auto* name = reinterpret_cast<const char*>(text.data());
      found.push_back({std::string{name, strnlen(name, sizeof(text))}, now - slot.since_});
    }
  }
  return found;
}

}  // namespace stoker
