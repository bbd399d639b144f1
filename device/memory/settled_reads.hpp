// Buffers that threads use past the device's queue, because nothing is on the way that would change them.
//
//     the thread:   says which buffers it uses  ─▶  looks whether all are settled  ─▶  uses them
//     a sender:     counts as a writer of a buffer (BufferState::unsettled)  ─▶  sends the command
//     the strand:   looks whether a thread uses the buffer  ─▶  hands the writer over, or waits for the thread
//
// So one of the two sees the other. Each thread writes to a place of its own: those that read the same buffers do not
// disturb each other.
//
// Threads: as stated. Lifetime: the scheduler's; whoever has a Reading keeps its device's client, and its buffers.
#pragma once

#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <span>

#include "stoker/device/memory/buffer_state.hpp"

namespace stoker {

class SettledReads {
  struct Place;

 public:
  /// How many threads may read at the same time; one more gets nothing.
  static constexpr std::size_t most = 16;

  /// If it is one, its buffers keep contents and memory for as long as it lives. Its end may run a turn of the device's
  /// strand. Must not outlive a wait, or the handles of its buffers.
  class Reading {
   public:
    Reading() noexcept = default;
    ~Reading() {
      if (place_) all_->end(*place_);
    }
    Reading(const Reading&) = delete;
    Reading& operator=(const Reading&) = delete;
    [[nodiscard]] explicit operator bool() const noexcept { return place_ != nullptr; }
    /// Counts what was done; `is_run`: for others_run() of the other threads.
    void count_done(bool is_run) noexcept;

   private:
    friend class SettledReads;
    Reading(SettledReads& all, Place& place) noexcept : all_{&all}, place_{&place} {}
    SettledReads* all_ = nullptr;
    Place* place_ = nullptr;
  };

  SettledReads();
  ~SettledReads();
  SettledReads(const SettledReads&) = delete;
  SettledReads& operator=(const SettledReads&) = delete;

  /// Called when a reading ends that is_read() has met. Before the first begin(); any thread calls it.
  void set_notify(std::function<void()> notify) { notify_ = std::move(notify); }

  // --- any thread ------------------------------------------------------------------------------
  /// None if a buffer is not settled or was released, if this was closed, or if too many read.
  [[nodiscard]] Reading begin(std::span<BufferState* const> buffers) noexcept;
  /// What was done by readings, as commands are counted.
  [[nodiscard]] std::uint64_t done() const noexcept;
  /// Whether other threads compute by readings, or did a moment ago.
  [[nodiscard]] bool others_run() const noexcept;
  /// Refuses what begins from now on.
  void close() noexcept { closed_.store(true, std::memory_order_seq_cst); }
  /// Whether nothing is read. After close() that stays so.
  [[nodiscard]] bool none() const noexcept;

  // --- the device's strand ---------------------------------------------------------------------
  /// Whether a thread uses the buffer. Then notify is called, at some time after that thread has done.
  [[nodiscard]] bool is_read(const BufferState& buffer) noexcept;
  /// Whether is_read() met a reading, and one has ended since.
  [[nodiscard]] bool has_ended() noexcept;

 private:
  enum class State : std::uint8_t {
    idle,
    taken,      ///< its buffers are not said yet
    reading,    ///< it uses its buffers, or finds out that it may not
    looked_at,  ///< the strand looks through its buffers
  };
  /// Two cache lines, as processors fetch them in pairs.
  struct alignas(128) Place {
    std::atomic<State> state{State::idle};
    std::span<BufferState* const> buffers;
    std::atomic<std::uint64_t> done{0};
    std::atomic<std::chrono::nanoseconds::rep> ran{0};  ///< when a run ended, on the steady clock
  };

  [[nodiscard]] Place* take_place() noexcept;
  void end(Place& place) noexcept;
  [[nodiscard]] bool find(const BufferState& buffer) noexcept;
  [[nodiscard]] std::span<const Place> used() const noexcept {
    return std::span{places_}.first(used_.load(std::memory_order_seq_cst));
  }

  std::array<Place, most> places_;
  std::atomic<std::size_t> used_{0};  ///< places that were ever taken: the first ones
  std::atomic<bool> closed_{false};
  std::atomic<bool> is_waited_for_{false};
  bool left_something_ = false;  // strand only: is_read() was true
  std::function<void()> notify_;
};

}  // namespace stoker
