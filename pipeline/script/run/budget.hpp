// What one script has used of its limits, and whether it must end.
//
// Steps are Lua instructions, counted by a hook, and the work of library functions, charged by
// spend(). They depend on nothing but the script: what runs again takes as many again. The hook
// fires every hook_period() instructions.
//
// Single instructions can be long (comparing large strings), so the period shrinks as the state
// grows, and instructions that take far longer than usual use up the limit by the processor time
// they took. That overtime is the machine's, so it is no part of steps().
//
// Once something is used up, or the script is cancelled, exhausted() stays true: every later step
// fails, whatever the script catches.
//
// Threads: the script's process only; a cancellation comes in through the token.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>

#include "stoker/pipeline/script/run/script_host.hpp"

namespace stoker::script {

class Budget {
 public:
  Budget(const ScriptLimits& limits, CancelToken cancel);

  /// The steps so far were the host's, to make the script ready.
  void restart() noexcept { steps_ = overtime_ = turn_steps_ = 0; }
  /// Charges steps. False once the script must end.
  [[nodiscard]] bool spend(std::uint64_t steps) noexcept;
  /// The same for the hook, which comes after every `instructions` of them.
  [[nodiscard]] bool count(std::uint64_t instructions) noexcept;
  /// Whether the script has run for so long that other work of its executor should have a turn.
  /// Looks at the clock now and then only.
  [[nodiscard]] bool turn_is_over() noexcept;
  /// Other work had a turn.
  void begin_turn() noexcept { turn_began_ = std::chrono::steady_clock::now(); }
  /// While one lives, the process does not do the script's work: it waits, or compiles. It may come
  /// back on another thread.
  class Away {
   public:
    explicit Away(Budget& budget) noexcept;
    ~Away();
    Away(const Away&) = delete;
    Away& operator=(const Away&) = delete;

   private:
    Budget& budget_;
    const std::chrono::steady_clock::time_point since_ = std::chrono::steady_clock::now();
  };
  [[nodiscard]] bool exhausted() const noexcept { return why_.has_value(); }
  /// Why the script must end. Only if exhausted().
  [[nodiscard]] const Error& why() const noexcept { return *why_; }
  /// Ends the script; the first cause stays.
  void exhaust(const Error& why) noexcept;
  void exhaust_memory() noexcept;

  /// Instructions between two calls of the hook.
  [[nodiscard]] int hook_period() const noexcept;
  static constexpr int base_period = 1000;

  /// lua_Alloc: counts what the Lua state holds and refuses what is beyond the limit.
  [[nodiscard]] void* reallocate(void* block, std::size_t before, std::size_t after) noexcept;
  /// The same account for what the script makes outside of the Lua state. False: not granted.
  [[nodiscard]] bool take_memory(std::size_t bytes) noexcept;
  void give_memory(std::size_t bytes) noexcept { memory_ -= bytes; }
  /// The most that would be granted.
  [[nodiscard]] std::size_t memory_left() const noexcept;
  [[nodiscard]] Error memory_used_up(std::size_t wanted) const;

  /// Device memory. False: not granted; collecting garbage may help.
  [[nodiscard]] bool take_buffer(std::size_t bytes) noexcept;
  void give_buffer(std::size_t bytes) noexcept { buffers_ -= bytes; }
  [[nodiscard]] Error buffers_used_up(std::size_t wanted) const;

  [[nodiscard]] const CancelToken& cancel() const noexcept { return cancel_; }
  [[nodiscard]] std::uint64_t steps() const noexcept { return steps_; }
  [[nodiscard]] std::uint64_t peak_memory() const noexcept { return peak_memory_; }

 private:
  /// Instructions that seem slow and are measured.
  struct Measurement {
    std::uint64_t steps;                 ///< when it began
    std::chrono::nanoseconds since;      ///< processor time of this thread when it last went on
    std::chrono::nanoseconds used = {};  ///< before that
  };

  const ScriptLimits limits_;
  const CancelToken cancel_;
  std::uint64_t steps_ = 0;
  std::uint64_t overtime_ = 0;  // in steps
  std::uint64_t memory_ = 0;
  std::uint64_t peak_memory_ = 0;
  std::uint64_t buffers_ = 0;
  std::optional<Error> why_;
  std::chrono::steady_clock::time_point counted_at_{};
  std::optional<Measurement> slow_;
  std::chrono::steady_clock::time_point turn_began_ = std::chrono::steady_clock::now();
  std::uint64_t turn_steps_ = 0;  // when turn_is_over() last looked at the clock
};

/// Memory that was taken outside of the Lua state and is given back at the end.
class MemoryLoan {
 public:
  MemoryLoan(Budget& budget, std::size_t bytes) noexcept : budget_{&budget}, bytes_{bytes} {}
  MemoryLoan(MemoryLoan&& other) noexcept
      : budget_{other.budget_}, bytes_{std::exchange(other.bytes_, 0)} {}
  MemoryLoan& operator=(MemoryLoan&&) = delete;
  ~MemoryLoan() { budget_->give_memory(bytes_); }

 private:
  Budget* budget_;
  std::size_t bytes_;
};

}  // namespace stoker::script
