// What everything above the device talks to: checks calls on the caller's thread, turns them into
// work and sends them to the device's actor.
//
// Threads: any. Lifetime: buffers and pipelines share their client; it keeps the device's actor and
// scheduler in being, not alive: after close() every call answers `closed`.
#pragma once

#include <atomic>
#include <boost/container/small_vector.hpp>
#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "stoker/actors/actor.hpp"
#include "stoker/actors/device/command_options.hpp"
#include "stoker/actors/device/device_buffer.hpp"
#include "stoker/actors/device/device_extensions.hpp"
#include "stoker/actors/device/kernel_catalog.hpp"
#include "stoker/actors/device/live_buffers.hpp"
#include "stoker/device/commands/command_state.hpp"
#include "stoker/device/device_info.hpp"
#include "stoker/runtime/base/fork_guard.hpp"
#include "stoker/runtime/execution/clock.hpp"
#include "stoker/runtime/futures/cancel.hpp"

namespace stoker {

class CommandPool;
class DeviceActor;
class DeviceClient;
class CommandScheduler;  // device/commands/command_scheduler.hpp
class SupervisedDevice;
class SchedulerObserver;  // device/commands/command_scheduler.hpp
struct Prepared;          // device/executable_cache.hpp

/// Buffers that somebody else holds while a call lasts.
using BufferList = boost::container::small_vector<const DeviceBuffer*, 8>;

/// One kernel call on buffers.
struct KernelRequest {
  std::shared_ptr<const Kernel> kernel;
  std::span<const DeviceBuffer* const> inputs;
  std::span<const DeviceBuffer* const> outputs;
  const Params* params = nullptr;  ///< null: none given
  /// What the client's prepare() gave for these inputs and parameters. Null: submit() asks it.
  std::shared_ptr<const Prepared> prepared = nullptr;
};

/// What a client shares with the system that made it.
struct ClientContext {
  std::shared_ptr<Executor> executor = {};
  std::shared_ptr<Clock> clock = {};
  std::shared_ptr<SchedulerObserver> observer = {};  ///< of this device
  std::shared_ptr<KernelCatalog> kernels = {};
  std::weak_ptr<SupervisedDevice> slot = {};  ///< where the device is opened again
  /// Opens the device that runs what this one cannot; throws. None: there is no other.
  std::function<std::shared_ptr<DeviceClient>()> fallback_device = {};
  ForkGuard fork = {};
  std::size_t max_queued = 1 << 17;  ///< commands that may queue on the device before `overloaded`
};

class DeviceClient final : public std::enable_shared_from_this<DeviceClient> {
 public:
  [[nodiscard]] static std::shared_ptr<DeviceClient> start(
      std::shared_ptr<CommandScheduler> scheduler, const ClientContext& context);
  DeviceClient(std::shared_ptr<CommandScheduler> scheduler, const ClientContext& context);

  [[nodiscard]] const DeviceInfo& info() const noexcept;
  [[nodiscard]] CommandScheduler& scheduler() noexcept { return *scheduler_; }
  [[nodiscard]] const KernelCatalog& kernels() const noexcept { return *context_.kernels; }
  [[nodiscard]] Executor& executor() const noexcept { return *context_.executor; }
  [[nodiscard]] const ActorRef<DeviceActor>& actor() const noexcept { return actor_; }
  [[nodiscard]] LiveBuffers& buffers() noexcept { return buffers_; }
  /// Whether what runs now is timed (CommandState::step_timings()).
  [[nodiscard]] bool wants_timing() const noexcept;
  /// How many there are now; each counts itself.
  [[nodiscard]] std::atomic<std::size_t>& pipelines() noexcept { return pipelines_; }
  [[nodiscard]] DeviceExtensions& services() noexcept { return services_; }
  /// Lost for ever: what comes back is another client.
  [[nodiscard]] bool is_lost() const noexcept;
  /// The client of the device as it was opened again; this one if it was not.
  [[nodiscard]] std::shared_ptr<DeviceClient> successor();
  /// The system's CPU device, for kernels that this one lacks; null if this is it.
  [[nodiscard]] Result<std::shared_ptr<DeviceClient>> fallback_device() const;
  /// Ready when this or a successor can be used; see SupervisedDevice::when_open().
  [[nodiscard]] Future<void> when_ready() const;

  // Buffers ---------------------------------------------------------------------------------------
  /// Contents undefined.
  [[nodiscard]] Result<DeviceBuffer> make_buffer(const TensorSpec& spec);
  /// One that a command will write. If it is large it gets its memory when that goes to the device, so
  /// that what has been computed ahead takes none. Then a lack of memory is the command's failure;
  /// refused here is only what could never be had.
  [[nodiscard]] Result<DeviceBuffer> make_result(const TensorSpec& spec);
  /// Contents copied from `data` before the call returns. invalid_argument if the sizes differ.
  [[nodiscard]] Result<DeviceBuffer> make_buffer(const TensorSpec& spec,
                                                 std::span<const std::byte> data);
  /// In memory of the program's, which `owner` keeps for as long as the device may use it (see
  /// device/memory/adopted_memory.hpp). unsupported unless the device is host_addressable, invalid_argument if
  /// the sizes differ or the memory does not begin at a multiple of host_alignment.
  [[nodiscard]] Result<DeviceBuffer> adopt_buffer(const TensorSpec& spec,
                                                  std::span<std::byte> memory,
                                                  std::shared_ptr<const void> owner);

  /// Overwrites bytes from `offset` on; `data` is copied before the call returns.
  [[nodiscard]] Result<CommandPtr> write(const DeviceBuffer& buffer, std::uint64_t offset,
                                         std::span<const std::byte> data,
                                         const CommandOptions& options = {});
  /// Bytes from `offset` on, once everything queued before has written them.
  [[nodiscard]] Result<Future<std::vector<std::byte>>> read(const DeviceBuffer& buffer,
                                                            std::uint64_t offset,
                                                            std::uint64_t bytes,
                                                            const CommandOptions& options = {});
  /// The same into memory of the caller's. `done` is called once, or with a failure more than once,
  /// and owns the memory: the device may write there until `done` is destroyed.
  [[nodiscard]] Result<CommandPtr> read_into(const DeviceBuffer& buffer, std::uint64_t offset,
                                             std::span<std::byte> target,
                                             std::function<void(const Error* failure)> done,
                                             const CommandOptions& options = {});
  /// Whether all that was sent before has written the buffer, and well. False, too, for buffers of others, and when
  /// only a command can tell, as one with `options` that limit it.
  [[nodiscard]] bool is_written(const DeviceBuffer& buffer, const CommandOptions& options) const;
  /// Copies bytes; the buffers may be on different devices. Ranges of one buffer must not overlap.
  [[nodiscard]] Result<CommandPtr> copy(const DeviceBuffer& from, std::uint64_t from_offset,
                                        const DeviceBuffer& to, std::uint64_t to_offset,
                                        std::uint64_t bytes, const CommandOptions& options = {});
  /// Repeats `pattern` (1, 2, 4 or 8 bytes) over the whole buffer.
  [[nodiscard]] Result<CommandPtr> fill(const DeviceBuffer& buffer,
                                        std::span<const std::byte> pattern,
                                        const CommandOptions& options = {});
  /// Takes a buffer out of use for work that goes on: whatever is sent after this and uses it waits
  /// until `open` is reached, and fails with it. Meanwhile write_held() fills the buffer. Not one of
  /// make_result().
  [[nodiscard]] Result<void> hold(const DeviceBuffer& buffer, const TimelinePoint& open);
  /// Copies the whole of `from` to byte `offset` of a buffer that hold() took, past all that waits for
  /// it. Ready before the timeline is advanced, if the copy shall be seen.
  [[nodiscard]] Result<CommandPtr> write_held(const DeviceBuffer& from, const DeviceBuffer& held,
                                              std::uint64_t offset);
  /// Further use is an error; the memory goes when the device is done with it.
  void release(const DeviceBuffer& buffer);

  // Kernels ---------------------------------------------------------------------------------------
  /// What the call would produce, prepared for this device.
  [[nodiscard]] Result<std::shared_ptr<const Prepared>> prepare(
      const std::shared_ptr<const Kernel>& kernel, std::span<const DeviceBuffer* const> inputs,
      const Params* params);
  [[nodiscard]] Result<CommandPtr> submit(const KernelRequest& request,
                                          const CommandOptions& options = {});
  /// All or nothing: the first bad request is the answer, and then none of them is submitted.
  [[nodiscard]] Result<std::vector<CommandPtr>> submit(std::span<const KernelRequest> requests,
                                                       const CommandOptions& options = {});
  /// For actors on the device's strand that submit work of their own: a command, and the checks and
  /// promises (`options`) that come before it is sent. Errors: overloaded, device_lost,
  /// forked_process.
  [[nodiscard]] CommandPtr new_command(std::string_view kernel);
  [[nodiscard]] Result<void> admit(const CommandPtr& command, const CommandOptions& options);

  /// `overdue`: because its deadline has passed.
  void cancel(const CommandPtr& command, Error why, bool overdue = false);

  /// Whether close() may wait for the device's actor: not on a thread that has to run it.
  enum class AwaitTurns : std::uint8_t { no, yes };
  /// Refuses further work, fails what queues, and waits for what runs, until `until` at most. True if
  /// nothing runs any more; else whoever waits for what still does is told `closed`. AwaitTurns::no: an
  /// actor that is not idle does that when it comes to it; then false at once.
  bool close(Clock::time_point until, AwaitTurns turns = AwaitTurns::yes);

 private:
  [[nodiscard]] Result<void> check_buffer(const DeviceBuffer& buffer, std::string_view op) const;
  [[nodiscard]] Result<void> check_range(const DeviceBuffer& buffer, std::uint64_t offset,
                                         std::uint64_t bytes, std::string_view op) const;
  /// Copies a little out of a buffer now, if nothing is on the way that writes it.
  [[nodiscard]] bool copy_settled(BufferState& buffer, std::uint64_t offset,
                                  std::span<std::byte> target, const CommandOptions& options) const;
  [[nodiscard]] Result<CommandPtr> compose(const KernelRequest& request);
  [[nodiscard]] Result<CommandPtr> send(CommandPtr command, const CommandOptions& options);
  [[nodiscard]] Result<void> admit(std::size_t commands, std::string_view op) const;
  void watch(const CommandPtr& command, const CommandOptions& options);
  [[nodiscard]] Result<CommandPtr> copy_between(const DeviceBuffer& from, std::uint64_t from_offset,
                                                const DeviceBuffer& to, std::uint64_t to_offset,
                                                std::uint64_t bytes, const CommandOptions& options);

  const std::shared_ptr<CommandScheduler> scheduler_;
  const ClientContext context_;
  const std::shared_ptr<CommandPool> commands_;
  LiveBuffers buffers_;
  DeviceExtensions services_;
  std::atomic<std::size_t> pipelines_{0};
  ActorRef<DeviceActor> actor_;
  std::atomic<std::uint64_t> next_command_{1};
};

}  // namespace stoker
