// A Vulkan device behind the backend interface.
//
// A submission's way: steps are encoded (Encoder) into a recycled command list, or a recording's
// command buffers are used as they are; one queue call hands them over with the timeline points
// they wait for and signal (Queue); the completer sees the timeline advance and reports.
//
//     submit ─▶ Encoder ─▶ CommandList ─▶ Queue::launch ─▶ (device) ─▶ Completer ─▶ sink
//                 ▲ hazards, segments        ▲ timeline                 ▲ timestamps
//
// Points of the same queue: waiting for the newest one is a barrier, which costs no semaphore;
// older ones are waited for on the timeline, so that newer work need not end first.
//
// Threads: as backend.hpp says. Lifetime: may end on any thread, also inside a report of its own
// completer's; the completer then destroys the queues and the device when it has left the sink.
#pragma once

#include <sys/types.h>

#include <memory>
#include <vector>

#include "stoker/device/backend.hpp"
#include "stoker/device/vulkan/pipelines/pipelines.hpp"
#include "stoker/device/vulkan/submission/completer.hpp"
#include "stoker/device/vulkan/submission/encoder.hpp"
#include "stoker/device/vulkan/submission/queue.hpp"
#include "stoker/runtime/base/exit_watch.hpp"

namespace stoker::device::vulkan {

class VulkanBackend final : public Backend {
 public:
  [[nodiscard]] static Result<std::unique_ptr<Backend>> open(std::shared_ptr<Instance> instance,
                                                             const PhysicalDevice& physical,
                                                             CompletionSink& sink,
                                                             const OpenOptions& options);
  VulkanBackend(std::shared_ptr<DeviceHandle> device, std::unique_ptr<Pipelines> pipelines,
                Queues queues, CompletionSink& sink, const OpenOptions& options);
  ~VulkanBackend() override;

  [[nodiscard]] const DeviceInfo& info() const noexcept override { return device_->info(); }
  [[nodiscard]] Result<std::unique_ptr<MemoryBlock>> allocate(std::uint64_t bytes,
                                                              MemoryKind kind) override;
  [[nodiscard]] std::uint64_t free_bytes() const noexcept override;
  [[nodiscard]] Result<std::shared_ptr<const Executable>> prepare(
      std::shared_ptr<const Kernel> kernel, const KernelCall& call,
      std::span<const TensorSpec> outputs) override;
  [[nodiscard]] Result<std::unique_ptr<Recording>> record(std::span<const Step> steps) override;
  [[nodiscard]] bool rebind(Recording& recording, std::span<const Step> steps) noexcept override;
  void run_ended(Recording& recording) noexcept override;
  [[nodiscard]] Result<void> submit(const Submission& submission) override;
  bool wait(QueuePoint point, std::chrono::steady_clock::time_point deadline) noexcept override;
  [[nodiscard]] BackendCounters counters() const noexcept override;

 private:
  [[nodiscard]] Queue* queue_of(QueueKind kind) noexcept;
  /// Splits a submission's waits into semaphores and "everything before" (a barrier).
  [[nodiscard]] bool collect_waits(const Submission& submission, const Queue& queue);
  [[nodiscard]] Result<void> fill_and_launch(const Submission& submission, Queue& queue,
                                             Flight& flight);
  /// Encodes steps into the flight's own list.
  [[nodiscard]] Result<void> encode_once(std::span<const Step> steps, const Submission& submission,
                                         const Queue& queue, Flight& flight, bool barrier_first);
  /// The process exits: ends the thread inside the driver and leaves everything as it is.
  void leave() noexcept;
  /// Passes a failure on; a lost device is told to the sink first.
  [[nodiscard]] Error noted(Error error) noexcept;

  const pid_t process_;
  const std::shared_ptr<DeviceHandle> device_;
  std::optional<DriverUse> ending_;  ///< of the destructor, and of those of all that follows
  const std::unique_ptr<Pipelines> pipelines_;
  Encoder encoder_;
  std::vector<SemaphoreValue> waits_;
  const std::shared_ptr<Completer> completer_;  // shared with its thread
  const Queues& queues_;                        // the completer's: compute, then transfer if any
  const ExitWatch exit_watch_;                  // last: it uses all of the above
};

}  // namespace stoker::device::vulkan
