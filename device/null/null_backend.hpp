// The device that does nothing: it accepts every command and completes it inside submit().
//
// It measures Stoker's own overhead and lets everything above the device run in tests without
// computing. Buffers hold real host memory; dispatches leave their outputs as they are.
// It is also the skeleton to clone for a new backend: see docs/backends.md.
#pragma once

#include <atomic>

#include "stoker/device/backend.hpp"

namespace stoker::device::null {

class NullBackend final : public Backend {
 public:
  explicit NullBackend(CompletionSink& sink);

  [[nodiscard]] const DeviceInfo& info() const noexcept override { return info_; }
  [[nodiscard]] Result<std::unique_ptr<MemoryBlock>> allocate(std::uint64_t bytes,
                                                              MemoryKind kind) override;
  [[nodiscard]] Result<std::shared_ptr<const Executable>> prepare(
      std::shared_ptr<const Kernel> kernel, const KernelCall& call,
      std::span<const TensorSpec> outputs) override;
  [[nodiscard]] Result<std::unique_ptr<Recording>> record(std::span<const Step> steps) override;
  [[nodiscard]] Result<void> submit(const Submission& submission) override;
  bool wait(QueuePoint point, std::chrono::steady_clock::time_point deadline) noexcept override;
  [[nodiscard]] BackendCounters counters() const noexcept override;

  [[nodiscard]] static DeviceInfo describe();

 private:
  CompletionSink& sink_;
  const DeviceInfo info_;
  std::atomic<std::uint64_t> submissions_{0};
  std::atomic<std::uint64_t> recordings_{0};
};

}  // namespace stoker::device::null
