// Work between kernels that the host drives: branches and loops that depend on values, calls of the program's
// functions, and kernels that run on another device.
//
// Threads: a step is immutable and shared. Any thread may start it, also several at once.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "stoker/actors/device/command_options.hpp"
#include "stoker/actors/device/device_buffer.hpp"
#include "stoker/runtime/base/error.hpp"
#include "stoker/runtime/futures/future.hpp"

namespace stoker {
class DeviceClient;
class Timeline;
}  // namespace stoker

namespace stoker::expr {

class HostStep {
 public:
  virtual ~HostStep() = default;
  /// For people: "while_loop".
  [[nodiscard]] virtual std::string name() const = 0;
  /// Returns as soon as the work is under way, without waiting. From then on whoever uses one of
  /// `outputs` is ordered behind it, and hears of its failure. `options` are those of every command that
  /// it comes to. Errors: what the device refuses.
  [[nodiscard]] virtual Result<void> start(const std::shared_ptr<DeviceClient>& device,
                                           std::span<const DeviceBuffer> inputs,
                                           std::span<const DeviceBuffer> outputs,
                                           const CommandOptions& options) const = 0;
};

/// The results of work that goes on: held back from whoever uses them until they are there.
///
/// Shared by the callbacks that do the work. Threads: any, one at a time.
class HeldResults {
 public:
  /// Takes the buffers out of use. Errors: what the device refuses.
  [[nodiscard]] static Result<std::shared_ptr<HeldResults>> hold(
      std::shared_ptr<DeviceClient> device, std::span<const DeviceBuffer> outputs);
  HeldResults(std::shared_ptr<DeviceClient> device, std::span<const DeviceBuffer> outputs);
  /// What was not finished fails with `closed`.
  ~HeldResults();
  HeldResults(const HeldResults&) = delete;
  HeldResults& operator=(const HeldResults&) = delete;

  [[nodiscard]] const std::shared_ptr<DeviceClient>& device() const noexcept { return device_; }
  [[nodiscard]] std::size_t size() const noexcept { return outputs_.size(); }

  /// Copies a whole buffer to byte `offset` of result `i`.
  void write(std::size_t i, std::uint64_t offset, const DeviceBuffer& from);
  /// Opens the results when all that was written has arrived. Nothing may be written afterwards.
  void finish();
  /// Whoever uses the results fails with `why`. Only the first call of finish() and fail() counts.
  void fail(const Error& why);

 private:
  const std::shared_ptr<DeviceClient> device_;
  const std::vector<DeviceBuffer> outputs_;
  const std::shared_ptr<Timeline> open_;
  std::vector<Future<>> writes_;
  bool finished_ = false;
};

}  // namespace stoker::expr
