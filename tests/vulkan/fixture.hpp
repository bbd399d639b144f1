// What the Vulkan tests share: a sink that remembers, an opened device, and kernels written in GLSL.
#pragma once

#include <gtest/gtest.h>

#include <condition_variable>
#include <cstring>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "stoker/device/backend.hpp"
#include "stoker/device/vulkan/driver.hpp"
#include "stoker/kernels/kernel.hpp"

namespace stoker::device::vulkan::testing {

/// Remembers every completion and the loss.
class RecordingSink final : public CompletionSink {
 public:
  void on_completed(Completion completion) noexcept override;
  void on_lost(Error reason) noexcept override;

  /// Blocks until the point has been reported (true) or the device is lost (false).
  bool await(QueuePoint point);
  [[nodiscard]] std::vector<QueuePoint> order() const;
  [[nodiscard]] std::vector<StepTiming> timings(QueuePoint point) const;
  [[nodiscard]] int losses() const;
  [[nodiscard]] std::optional<Error> loss() const;

 private:
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<Completion> completions_;
  std::optional<Error> loss_;
  int losses_ = 0;
};

/// The first device the driver finds (lavapipe in CI), opened, with what tests do all day.
class OpenDevice {
 public:
  /// Null, with a reason in `why`, where there is no Vulkan device.
  static std::unique_ptr<OpenDevice> open(std::string& why, OpenOptions options = {},
                                          DriverOptions driver = {});

  [[nodiscard]] Backend& backend() noexcept { return *backend_; }
  [[nodiscard]] RecordingSink& sink() noexcept { return sink_; }
  void close() { backend_.reset(); }

  /// Mapped memory holding `values`.
  template <class T> std::unique_ptr<MemoryBlock> filled(std::span<const T> values) {
    auto block = backend_->allocate(values.size_bytes(), MemoryKind::readback).value();
    std::memcpy(block->host, values.data(), values.size_bytes());
    return block;
  }

  /// Submits and waits; the point's value.
  std::uint64_t run(std::span<const Step> steps, bool timed = false);
  std::uint64_t submit(Submission submission);
  [[nodiscard]] bool wait(QueuePoint point);
  std::shared_ptr<const Executable> prepare(const Kernel& kernel, std::int64_t elements,
                                            DType dtype = DType::f32);

 private:
  RecordingSink sink_;
  std::unique_ptr<Driver> driver_;
  std::unique_ptr<Backend> backend_;
  std::map<QueueKind, std::uint64_t> next_;
};

/// Skips tests where there is no Vulkan at all; otherwise ends each with "no validation messages".
class VulkanTest : public ::testing::Test {
 protected:
  void SetUp() override;
  void TearDown() override;
  [[nodiscard]] virtual OpenOptions options() const;
  [[nodiscard]] virtual DriverOptions driver_options() const { return {}; }

  std::unique_ptr<OpenDevice> device_;
};

[[nodiscard]] MemoryView whole(const std::unique_ptr<MemoryBlock>& block);
[[nodiscard]] MemoryView part(const std::unique_ptr<MemoryBlock>& block, std::uint64_t offset,
                              std::uint64_t bytes);
template <class T>
[[nodiscard]] std::vector<T> values_of(const std::unique_ptr<MemoryBlock>& block) {
  std::vector<T> values(block->bytes / sizeof(T));
  std::memcpy(values.data(), block->host, values.size() * sizeof(T));
  return values;
}

[[nodiscard]] Step copy_step(MemoryView from, MemoryView to,
                             std::initializer_list<std::uint32_t> after = {});
template <class T>
[[nodiscard]] Step fill_step(MemoryView to, T value,
                             std::initializer_list<std::uint32_t> after = {}) {
  Step step;
  step.kind = StepKind::fill;
  step.outputs = {to};
  std::memcpy(step.pattern.data(), &value, sizeof value);
  step.pattern_bytes = sizeof value;
  step.after.assign(after.begin(), after.end());
  return step;
}
[[nodiscard]] Step dispatch_step(std::shared_ptr<const Executable> executable, MemoryView from,
                                 MemoryView to, std::initializer_list<std::uint32_t> after = {});

/// y = 2 x + 1, one thread per element, f32 or the dtype named. `name` is the shader's.
[[nodiscard]] Kernel affine_kernel(DType dtype = DType::f32, const std::string& name = "affine");
/// y = (x + 1) * 3 by way of a scratch buffer: two dependent passes.
[[nodiscard]] Kernel two_pass_kernel();
/// y = x + 0 + 1 + … + 39, numbers that are passed: more than can be pushed.
[[nodiscard]] Kernel many_numbers_kernel();
/// Adds 1 to every element `rounds` times: as slow as wanted.
[[nodiscard]] Kernel slow_kernel(std::uint32_t rounds, const std::string& name = "slow",
                                 DType dtype = DType::f32);

}  // namespace stoker::device::vulkan::testing
