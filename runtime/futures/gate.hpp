// Lets work in until it is closed, then waits for what is inside (after Seastar's gate). For
// orderly shutdown: close() refuses newcomers; the future that it returns is ready
// when the last one has left.
//
// Threads: every function may be called from any thread.
#pragma once

#include <atomic>
#include <cstdint>
#include <utility>

#include "stoker/runtime/base/error.hpp"
#include "stoker/runtime/futures/future.hpp"

namespace stoker {

class Gate {
 public:
  /// Proof of being inside; leaves when destroyed. Must not outlive the gate.
  class [[nodiscard]] Pass {
   public:
    Pass() noexcept = default;
    Pass(Pass&& other) noexcept : gate_(std::exchange(other.gate_, nullptr)) {}
    Pass& operator=(Pass&& other) noexcept {
      std::swap(gate_, other.gate_);
      return *this;
    }
    ~Pass() {
      if (gate_) gate_->leave();
    }

   private:
    friend class Gate;
    explicit Pass(Gate& gate) noexcept : gate_(&gate) {}
    Gate* gate_ = nullptr;
  };

  Gate() = default;
  Gate(const Gate&) = delete;
  Gate& operator=(const Gate&) = delete;

  /// A pass, or Error{op, closed} if the gate is closed.
  [[nodiscard]] Result<Pass> enter(const char* op);
  /// Refuses newcomers and returns a future that is ready when the last pass has gone. Every call
  /// returns the same future.
  Future<void> close() noexcept;
  [[nodiscard]] bool is_closed() const noexcept { return (state_.load() & closed_bit) != 0; }
  [[nodiscard]] std::uint64_t inside() const noexcept { return state_.load() & ~closed_bit; }

 private:
  void leave() noexcept;

  static constexpr std::uint64_t closed_bit = std::uint64_t{1} << 63;
  std::atomic<std::uint64_t> state_{0};
  Promise<void> empty_;
};

}  // namespace stoker
