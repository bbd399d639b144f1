// The actor that owns a device: its strand is the only place from which the device's scheduler is
// driven. Buffers of the device are actors on the same strand.
//
// Messages come from DeviceClient. Its handlers note what they ask for; the turn's end does it (DeviceTurn), so
// that commands which arrived together become one submission.
#pragma once

#include <array>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "stoker/actors/actor.hpp"
#include "stoker/actors/device/device_buffer.hpp"
#include "stoker/device/commands/command_scheduler.hpp"
#include "stoker/runtime/execution/clock.hpp"

namespace stoker {

class DeviceClient;

/// Ends a command that its device never got.
void fail_unsent(CommandState& command, const Error& why);
/// What `send` returns. If it refuses, the caller is told and the commands count as looked at; if it
/// throws, they fail, so that what watches them lets go of them.
template <class Send>
[[nodiscard]] Result<void> send_watched(std::span<const CommandPtr> commands, Send&& send) {
  Result<void> sent;
  try {
    sent = send();
  } catch (...) {
    for (const CommandPtr& command : commands) {
      command->observe();
      fail_unsent(*command, out_of_memory_error());
    }
    throw;
  }
  if (!sent)
    for (const CommandPtr& command : commands) command->observe();
  return sent;
}

struct SubmitCommand {
  CommandPtr command;
  void refused(const Error& why) const { fail_unsent(*command, why); }
};
struct SubmitCommands {
  std::vector<CommandPtr> commands;
  void refused(const Error& why) const {
    for (const CommandPtr& command : commands) fail_unsent(*command, why);
  }
};
struct CancelCommand {
  CommandPtr command;
  Error why;
  bool overdue = false;  ///< its deadline has passed
};
/// Whether the device has come back from what should have ended long ago.
struct CheckHung {
  QueuePoint point;
  std::string kernel;
};
/// Refuses new work and fails what queues; what runs goes on. Answers with the points to wait for.
struct CloseDevice {
  Error why;
};
/// Ends what runs, too: nobody waits for it any more. After CloseDevice.
struct AbandonDevice {
  Error why;
};
/// Nobody can reach the buffer any more but the commands that were sent before.
struct DropBuffer {
  std::shared_ptr<BufferState> buffer;
};
/// Completions are waiting; sent by the backend's thread.
struct SettleCompletions {};

/// As cast(), for what may not be lost: in its order, though the mailbox is full.
template <class A, class M>
void cast_surely(const ActorRef<A>& to, const M& message, Run run = Run::posted) {
  if (!to.cast(message, run))
    to.strand()->send_signal(std::make_unique<CastMessage<A, M>>(to.cell(), message));
}
/// The same of call().
template <class A, class M>
[[nodiscard]] Future<ReplyOf<A, M>> call_surely(const ActorRef<A>& to, const M& message) {
  auto answer = to.call(message, Run::here);
  const auto* refused = answer.poll();
  if (!refused || *refused || refused->error().code() != ErrorCode::overloaded) return answer;
  auto envelope = std::make_unique<CallMessage<A, M>>(to.cell(), message);
  answer = envelope->answer().future();
  to.strand()->send_signal(std::move(envelope));
  return answer;
}

class DeviceActor final : public Actor {
 public:
  DeviceActor(std::shared_ptr<CommandScheduler> scheduler, std::weak_ptr<DeviceClient> client)
      : scheduler_{std::move(scheduler)}, client_{std::move(client)} {}

  void on(const SubmitCommand& message) { scheduler_->submit(message.command); }
  void on(const SubmitCommands& message);
  void on(const CancelCommand& message);
  void on(const CheckHung& message);
  [[nodiscard]] std::array<QueuePoint, queue_kinds> on(const CloseDevice& message);
  void on(const AbandonDevice& message) { scheduler_->abandon(message.why); }
  void on(const DropBuffer& message) { scheduler_->release(*message.buffer); }
  void on(SettleCompletions) { forget_ended(); }  // DeviceTurn does the rest

  void terminate(const ExitReason& why) override;

 private:
  /// A command that still ran after its deadline.
  struct Overdue {
    QueuePoint point;
    Timer check;  ///< sends CheckHung
  };
  void forget_ended() {
    std::erase_if(overdue_, [this](const Overdue& one) { return scheduler_->reached(one.point); });
  }

  std::shared_ptr<CommandScheduler> scheduler_;
  std::weak_ptr<DeviceClient> client_;
  std::vector<Overdue> overdue_;  // of those that have ended the checks would keep a host's loop
};

/// Drops the buffer's memory once nobody in flight uses it; commands queued before still run.
struct ReleaseBuffer {};
struct DescribeBuffer {};
/// The memory itself, as CommandScheduler::share().
struct ShareMemory {};
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
  [[nodiscard]] std::shared_ptr<MemoryLease> on(ShareMemory) const;

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
  ~BufferCell() override;
  [[nodiscard]] const std::type_info& type() const noexcept override { return typeid(BufferActor); }
  [[nodiscard]] const BufferActor& buffer() const noexcept { return buffer_; }

 private:
  void release() noexcept override {}
  BufferActor buffer_;

  friend class LiveBuffers;
  BufferCell* previous_ = nullptr;
  BufferCell* next_ = nullptr;
};

/// A buffer's actor as DeviceBuffer's own functions see it, without a call for each question.
[[nodiscard]] inline const BufferActor& actor_behind(const DeviceBuffer& buffer) noexcept {
  return buffer.cell()->buffer();
}

}  // namespace stoker
