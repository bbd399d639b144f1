// The actor that owns a device: its strand is the only place from which the device's shell is
// driven. Buffers of the device are actors on the same strand.
//
// Messages come from DeviceClient; a turn ends with DeviceShell::turn(), so that commands which
// arrived together become one submission.
#pragma once

#include <memory>
#include <vector>

#include "stoker/actors/actor.hpp"
#include "stoker/device/shell.hpp"

namespace stoker {

class DeviceClient;

struct SubmitCommand {
  CommandPtr command;
};
struct SubmitCommands {
  std::vector<CommandPtr> commands;
};
struct CancelCommand {
  CommandPtr command;
  Error why;
};
/// Refuses new work and fails what queues; what runs goes on. Answers with the points to wait for.
struct CloseDevice {
  Error why;
};
/// Completions are waiting; sent by the backend's thread.
struct SettleCompletions {};

class DeviceActor final : public Actor {
 public:
  explicit DeviceActor(std::shared_ptr<DeviceShell> shell) : shell_{std::move(shell)} {}

  void on(SubmitCommand message) { shell_->submit(std::move(message.command)); }
  void on(SubmitCommands message);
  void on(CancelCommand message) { shell_->cancel(*message.command, message.why); }
  [[nodiscard]] std::array<QueuePoint, queue_kinds> on(const CloseDevice& message);
  void on(SettleCompletions) {}  // the end of the turn does it

  void terminate(const ExitReason& why) override {
    shell_->close(why.as_error("device", shell_->info().name));
  }

 private:
  std::shared_ptr<DeviceShell> shell_;
};

/// Drops the buffer's memory once nobody in flight uses it; commands queued before still run.
struct ReleaseBuffer {};
struct DescribeBuffer {};
struct BufferDescription {
  std::uint64_t id = 0;
  TensorSpec spec;
  bool released = false;
  std::optional<Error> undefined_because;  ///< why its contents mean nothing
};

class BufferActor final : public Actor {
 public:
  BufferActor(std::shared_ptr<DeviceClient> device, std::shared_ptr<BufferState> state) noexcept
      : device_{std::move(device)}, state_{std::move(state)} {}

  void on(ReleaseBuffer);
  [[nodiscard]] BufferDescription on(DescribeBuffer) const;

  [[nodiscard]] const std::shared_ptr<DeviceClient>& device() const noexcept { return device_; }
  [[nodiscard]] const std::shared_ptr<BufferState>& state() const noexcept { return state_; }

 private:
  const std::shared_ptr<DeviceClient> device_;
  const std::shared_ptr<BufferState> state_;
};

/// A buffer's actor with its identity. What the buffer is stays readable when the actor has ended.
class BufferCell final : public ActorCell {
 public:
  BufferCell(std::shared_ptr<Strand> strand, std::shared_ptr<DeviceClient> device,
             std::shared_ptr<BufferState> state);
  ~BufferCell() override { end_unreachable(); }
  [[nodiscard]] const std::type_info& type() const noexcept override { return typeid(BufferActor); }
  [[nodiscard]] const BufferActor& buffer() const noexcept { return buffer_; }

 private:
  void release() noexcept override {}
  BufferActor buffer_;
};

}  // namespace stoker
