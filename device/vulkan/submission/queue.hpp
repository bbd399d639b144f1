// One VkQueue, its timeline semaphore, and the submissions in flight on it.
//
// The timeline semaphore counts what callers count: it is at v when the queue has reached value v.
// Signals of a queue come in the order of submission, so then everything before is done, too. A
// submission of several segments also raises a second semaphore, by one at the end of each segment
// but the last, so that its progress can be seen. Both are only ever waited for at values that are,
// or will be, signalled exactly: validation layers lose track of others.
//
// Life of a Flight: take() → filled by the submitting thread → launch() → in flight, in order →
// pop_complete() → the completer reports it → recycle(). Flights are recycled, so a steady
// stream allocates nothing.
//
// Threads: take and launch are the submitting thread's; the rest may be called by any.
#pragma once

#include <array>
#include <atomic>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <vector>

#include "stoker/device/vulkan/pipelines/executable.hpp"
#include "stoker/device/vulkan/submission/command_list.hpp"
#include "stoker/device/vulkan/submission/synchronization.hpp"

namespace stoker::device::vulkan {

/// A submission between submit() and its report.
struct Flight {
  Flight(std::shared_ptr<DeviceHandle> device, std::uint32_t family)
      : own{std::move(device), family, false} {}

  std::uint64_t value = 0;
  CommandList own;                    ///< for steps that are encoded for this run only
  const CommandList* list = nullptr;  ///< what runs: `own` or a recording's; null: no steps
  std::uint64_t first_mark = 0;       ///< the marks semaphore before its first segment's end
  std::size_t marks = 0;              ///< how often it raises that
  std::span<const Step> recorded;     ///< the steps of a recording, to name them
  std::uint32_t steps = 0;
  bool has_timestamps = false;
  bool wants_timings = false;
  std::atomic<std::uint32_t>* progress = nullptr;
  std::uint64_t launched_ns = 0;                     ///< on the steady clock
  std::atomic<std::uint64_t>* typical_ns = nullptr;  ///< how long a recording takes, if it is one
  std::vector<const VulkanExecutable*> executables;  ///< of each step, if it has timestamps
  std::array<const VulkanExecutable*, 8> last{};     ///< the last kernels, to name them
  Flight* next = nullptr;
};

class Queue {
 public:
  [[nodiscard]] static Result<std::unique_ptr<Queue>> create(std::shared_ptr<DeviceHandle> device,
                                                             QueueKind kind);
  Queue(std::shared_ptr<DeviceHandle> device, QueueKind kind);
  ~Queue();
  Queue(const Queue&) = delete;
  Queue& operator=(const Queue&) = delete;

  [[nodiscard]] QueueKind kind() const noexcept { return kind_; }
  [[nodiscard]] std::uint32_t family() const noexcept { return family_; }
  [[nodiscard]] std::uint32_t timestamp_bits() const noexcept { return timestamp_bits_; }
  [[nodiscard]] VkSemaphore timeline() const noexcept { return timeline_; }
  // --- the submitting thread -------------------------------------------------------------------
  [[nodiscard]] Flight& take();
  /// Submits the flight's command buffers in one call. `barrier_first`: they wait for everything
  /// submitted to this queue before (a recording cannot begin with a barrier of its own: it does
  /// not know its predecessors). After a failure the flight still belongs to the caller.
  [[nodiscard]] VkResult launch(Flight& flight, std::span<const SemaphoreValue> waits,
                                bool barrier_first);
  /// Raises the timeline by one, when nothing is in flight and nothing more will come: wakes whoever
  /// waits for a next submission. Returns when that has happened or a second has passed.
  void ring_out() noexcept;
  [[nodiscard]] std::uint64_t last_submitted() const noexcept {
    return last_submitted_.load(std::memory_order_relaxed);
  }

  // --- any thread ------------------------------------------------------------------------------
  /// The value reached.
  [[nodiscard]] VkResult read(std::uint64_t& value) const noexcept;
  /// Blocks until `value` is reached or the time is up (VK_TIMEOUT).
  [[nodiscard]] VkResult wait(std::uint64_t value, std::uint64_t timeout_ns) const noexcept;
  /// What will happen next on this queue, as far as is known: the end of a segment, of the oldest
  /// flight, or of the next submission that comes.
  [[nodiscard]] SemaphoreValue next_event() const noexcept;
  /// The oldest flight, taken out, if it is complete when `value` is reached.
  [[nodiscard]] Flight* pop_complete(std::uint64_t value) noexcept;
  /// Raises the progress of the oldest flight; true if another segment is done.
  bool note_progress() noexcept;
  /// When the oldest flight should be complete, if it is the one that reaches `value` and a recording
  /// that ran before; else 0. On the steady clock.
  [[nodiscard]] std::uint64_t expected_end_ns(std::uint64_t value) const noexcept;
  /// Takes back a flight that was reported, or never launched.
  void recycle(Flight& flight) noexcept;
  /// "blur_rows, sobel": the last kernels of what is in flight, oldest submission first.
  [[nodiscard]] std::string labels() const;

  /// Held while completions of this queue are reported: they come in order, one at a time.
  std::mutex report_mutex;
  std::atomic<std::uint64_t> seen{0};      ///< the value reached at the last look
  std::atomic<std::uint64_t> reported{0};  ///< the value whose completion has been reported

 private:
  [[nodiscard]] Result<void> start();
  [[nodiscard]] Result<VkSemaphore> make_timeline(const char* name);

  const std::shared_ptr<DeviceHandle> device_;
  const QueueKind kind_;
  const std::uint32_t family_;
  const std::uint32_t timestamp_bits_;
  VkQueue handle_ = VK_NULL_HANDLE;
  VkSemaphore timeline_ = VK_NULL_HANDLE;
  VkSemaphore marks_ = VK_NULL_HANDLE;
  std::unique_ptr<CommandList> prologue_;  // one barrier, run before recordings that must wait

  std::mutex submit_mutex_;  // Vulkan wants calls on a VkQueue one at a time
  Submitter submitter_;
  std::vector<Batch> batches_;
  std::vector<VkCommandBuffer> commands_;
  std::uint64_t marks_submitted_ = 0;
  std::atomic<std::uint64_t> last_submitted_{0};

  mutable std::mutex flights_mutex_;  // guards the lists below, never held across a call
  std::vector<std::unique_ptr<Flight>> all_;
  Flight* first_ = nullptr;
  Flight* last_ = nullptr;
  Flight* free_ = nullptr;
  std::uint64_t marks_seen_ = 0;
};

}  // namespace stoker::device::vulkan
