#include "stoker/pipeline/script/run/budget.hpp"

#include <time.h>

#include <algorithm>
#include <bit>
#include <cstdlib>
#include <limits>
#include <string>

namespace stoker::script {
namespace {

// Bytes that cost as much as one instruction to allocate and fill.
constexpr std::size_t bytes_per_step = 64;
// Allocations from here on look whether the script was cancelled: a run of them is slow.
constexpr std::size_t large_block = std::size_t{64} << 10;

// A step's usual time, and from when on an instruction is slow.
constexpr std::chrono::nanoseconds step_time{4};
constexpr std::chrono::nanoseconds slow_step{50};

// How long a script may keep its thread from others.
constexpr std::chrono::microseconds longest_turn{300};

std::chrono::nanoseconds processor_time() noexcept {
  timespec time{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return std::chrono::seconds{time.tv_sec} + std::chrono::nanoseconds{time.tv_nsec};
}

Error used_up(std::string what, std::string unit, std::uint64_t limit) {
  return {"script",
          ErrorCode::budget_exceeded,
          "the script used up its " + what,
          {{"budget", std::move(unit)}, {"limit", std::to_string(limit)}}};
}

}  // namespace

Budget::Budget(const ScriptLimits& limits, CancelToken cancel)
    : limits_{limits}, cancel_{std::move(cancel)} {}

bool Budget::spend(std::uint64_t steps) noexcept {
  steps_ += steps;
  if (why_) return false;
  if (cancel_.cancelled()) {
    exhaust(error_or_out_of_memory([&] {
      auto cause = cancel_.cause();
      return cause ? *std::move(cause) : cancelled_error("script");
    }));
    return false;
  }
  if (limits_.instructions != 0 && steps_ + overtime_ > limits_.instructions) {
    exhaust(error_or_out_of_memory(
        [&] { return used_up("instructions", "instructions", limits_.instructions); }));
    return false;
  }
  return true;
}

bool Budget::count(std::uint64_t instructions) noexcept {
  // The cheap clock, which also runs while the thread does not, only raises the suspicion.
  const auto now = std::chrono::steady_clock::now();
  const bool slow = now - counted_at_ > slow_step * instructions;
  counted_at_ = now;
  if (slow_) {
    const auto used = slow_->used + processor_time() - slow_->since;
    const auto measured = static_cast<std::uint64_t>(used / step_time);
    const std::uint64_t charged = steps_ + instructions - slow_->steps;
    if (measured > charged * (slow_step / step_time)) overtime_ += measured - charged;
  }
  const bool goes_on = spend(instructions);
  slow_.reset();
  if (slow) slow_ = Measurement{steps_, processor_time()};
  return goes_on;
}

bool Budget::turn_is_over() noexcept {
  if (steps_ - turn_steps_ < base_period) return false;
  turn_steps_ = steps_;
  return std::chrono::steady_clock::now() - turn_began_ > longest_turn;
}

Budget::Away::Away(Budget& budget) noexcept : budget_{budget} {
  if (budget_.slow_) budget_.slow_->used += processor_time() - budget_.slow_->since;
}

Budget::Away::~Away() {
  if (budget_.slow_) budget_.slow_->since = processor_time();
  budget_.counted_at_ += std::chrono::steady_clock::now() - since_;
}

void Budget::exhaust(const Error& why) noexcept {
  if (!why_) why_ = why;
}

void Budget::exhaust_memory() noexcept {
  exhaust(error_or_out_of_memory(
      [&] { return used_up("memory", "memory_bytes", limits_.memory_bytes); }));
}

int Budget::hook_period() const noexcept {
  if (why_) return 1;
  constexpr std::uint64_t small = std::uint64_t{4} << 20;
  // By halves: to change the period takes time that grows with the depth of the calls.
  return static_cast<int>(
      std::max<std::uint64_t>(base_period / std::bit_ceil(memory_ / small + 1), 10));
}

void* Budget::reallocate(void* block, std::size_t before, std::size_t after) noexcept {
  // Lua passes the kind of object, not a size, with a new block.
  const std::size_t held = block != nullptr ? before : 0;
  if (after == 0) {
    std::free(block);
    memory_ -= held;
    return nullptr;
  }
  if (after > held) {
    const std::size_t growth = after - held;
    if (limits_.memory_bytes != 0 && memory_ + growth > limits_.memory_bytes) return nullptr;
    steps_ += growth / bytes_per_step;
    if (growth >= large_block && !spend(0)) return nullptr;
  }
  void* moved = std::realloc(block, after);
  // Shrinking must not fail; what stays is merely larger than needed.
  if (moved == nullptr) return after <= held ? block : nullptr;
  memory_ = memory_ - held + after;
  peak_memory_ = std::max(peak_memory_, memory_);
  return moved;
}

bool Budget::take_memory(std::size_t bytes) noexcept {
  if (limits_.memory_bytes != 0 &&
      (bytes > limits_.memory_bytes || memory_ > limits_.memory_bytes - bytes))
    return false;
  memory_ += bytes;
  peak_memory_ = std::max(peak_memory_, memory_);
  return true;
}

bool Budget::take_buffer(std::size_t bytes) noexcept {
  if (limits_.buffer_bytes != 0 &&
      (bytes > limits_.buffer_bytes || buffers_ > limits_.buffer_bytes - bytes))
    return false;
  buffers_ += bytes;
  return true;
}

std::size_t Budget::memory_left() const noexcept {
  if (limits_.memory_bytes == 0) return std::numeric_limits<std::size_t>::max();
  return limits_.memory_bytes - std::min(limits_.memory_bytes, memory_);
}

Error Budget::memory_used_up(std::size_t wanted) const {
  return used_up("memory", "memory_bytes", limits_.memory_bytes)
      .with("in_use", std::to_string(memory_))
      .with("requested", std::to_string(wanted));
}

Error Budget::buffers_used_up(std::size_t wanted) const {
  return used_up("device memory", "buffer_bytes", limits_.buffer_bytes)
      .with("in_use", std::to_string(buffers_))
      .with("requested", std::to_string(wanted));
}

}  // namespace stoker::script
