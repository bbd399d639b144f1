#include "stoker/device/memory/settled_reads.hpp"

#include <algorithm>
#include <thread>

#include "stoker/runtime/base/thread_local.hpp"

namespace stoker {
namespace {

/// A run that ended less than this ago is likely to be followed by another.
constexpr std::chrono::microseconds moment{100};

thread_local std::size_t this_thread_place = 0;

std::chrono::nanoseconds::rep now() noexcept {
  return std::chrono::nanoseconds{std::chrono::steady_clock::now().time_since_epoch()}.count();
}

bool is_usable(const BufferState& buffer) noexcept {
  return buffer.unsettled.load(std::memory_order_seq_cst) == 0 &&
         !buffer.released.load(std::memory_order_seq_cst);
}

}  // namespace

// Processes may begin a reading, and wake on other threads afterwards.
STOKER_THREAD_LOCAL_ACCESS static std::size_t& own_place() noexcept { return this_thread_place; }

SettledReads::SettledReads() = default;
SettledReads::~SettledReads() = default;

SettledReads::Place* SettledReads::take_place() noexcept {
  std::size_t& own = own_place();
  for (std::size_t tried = 0; tried < most; ++tried) {
    Place& place = places_[own];
    State expected = State::idle;
    if (place.state.compare_exchange_strong(expected, State::taken, std::memory_order_acq_rel)) {
      // Acquired: whoever relies on what another thread has stored comes behind it in the order of all.
      std::size_t used = used_.load(std::memory_order_acquire);
      while (used <= own && !used_.compare_exchange_weak(used, own + 1, std::memory_order_seq_cst,
                                                         std::memory_order_acquire)) {
      }
      return &place;
    }
    // Another thread has it: from now on this one begins with the next.
    own = (own + 1) % most;
  }
  return nullptr;
}

SettledReads::Reading SettledReads::begin(std::span<BufferState* const> buffers) noexcept {
  const auto all_usable = [&] {
    return !closed_.load(std::memory_order_seq_cst) &&
           std::ranges::all_of(buffers, [](BufferState* one) { return is_usable(*one); });
  };
  // Who asks in vain again and again shall not hold up the writers.
  Place* const place = all_usable() ? take_place() : nullptr;
  if (!place) return {};
  place->buffers = buffers;
  // Sequentially consistent with what follows, and so are a sender's count and the strand's look.
  place->state.store(State::reading, std::memory_order_seq_cst);
  if (all_usable()) return {*this, *place};
  end(*place);
  return {};
}

void SettledReads::end(Place& place) noexcept {
  State expected = State::reading;
  while (!place.state.compare_exchange_weak(expected, State::idle, std::memory_order_seq_cst)) {
    expected = State::reading;
    std::this_thread::yield();  // the strand looks at it, for a few loads
  }
  if (is_waited_for_.load(std::memory_order_seq_cst) &&
      is_waited_for_.exchange(false, std::memory_order_seq_cst) && notify_)
    notify_();
}

void SettledReads::Reading::count_done(bool is_run) noexcept {
  place_->done.store(place_->done.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
  if (is_run) place_->ran.store(now(), std::memory_order_relaxed);
}

std::uint64_t SettledReads::done() const noexcept {
  std::uint64_t done = 0;
  for (const Place& place : used()) done += place.done.load(std::memory_order_relaxed);
  return done;
}

bool SettledReads::others_run() const noexcept {
  const std::size_t own = own_place();
  const std::span<const Place> all = used();
  const auto since = now() - std::chrono::nanoseconds{moment}.count();
  for (std::size_t i = 0; i < all.size(); ++i)
    if (i != own && all[i].ran.load(std::memory_order_relaxed) > since) return true;
  return false;
}

bool SettledReads::none() const noexcept {
  return std::ranges::all_of(used(), [](const Place& place) {
    return place.state.load(std::memory_order_seq_cst) == State::idle;
  });
}

bool SettledReads::find(const BufferState& buffer) noexcept {
  for (Place& place : std::span{places_}.first(used_.load(std::memory_order_seq_cst))) {
    State expected = State::reading;
    if (place.state.load(std::memory_order_seq_cst) != expected ||
        !place.state.compare_exchange_strong(expected, State::looked_at, std::memory_order_seq_cst))
      continue;
    const bool found = std::ranges::find(place.buffers, &buffer) != place.buffers.end();
    place.state.store(State::reading, std::memory_order_seq_cst);
    if (found) return true;
  }
  return false;
}

bool SettledReads::is_read(const BufferState& buffer) noexcept {
  if (!find(buffer)) return false;
  // The reading may end just now: then either it sees the flag, or it is not found again.
  is_waited_for_.store(true, std::memory_order_seq_cst);
  if (!find(buffer)) return false;
  left_something_ = true;
  return true;
}

bool SettledReads::has_ended() noexcept {
  if (!left_something_ || is_waited_for_.load(std::memory_order_seq_cst)) return false;
  left_something_ = false;
  return true;
}

}  // namespace stoker
