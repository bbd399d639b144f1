// The scheduler against a backend in the test's hands: it completes, fails and dies when told.
#pragma once

#include <gtest/gtest.h>

#include <deque>

#include "stoker/device/commands/command_pool.hpp"
#include "stoker/device/commands/command_scheduler.hpp"
#include "stoker/device/memory/host_memory.hpp"

namespace stoker {

class ScriptedBackend final : public Backend {
 public:
  struct Submitted {
    QueueKind queue;
    std::uint64_t value;
    std::vector<QueuePoint> waits;
    std::vector<std::vector<std::uint32_t>> after;
  };

  ScriptedBackend(CompletionSink& sink, bool transfer_queue) : sink_{sink} {
    info_.name = "scripted";
    info_.memory_bytes = 64 << 20;
    info_.has_transfer_queue = transfer_queue;
  }
  const DeviceInfo& info() const noexcept override { return info_; }
  Result<std::unique_ptr<MemoryBlock>> allocate(std::uint64_t bytes, MemoryKind kind) override {
    if (fail_allocation) return Error{"allocate", ErrorCode::out_of_memory, "the device is full"};
    return allocate_host_block(bytes, kind);
  }
  Result<std::shared_ptr<const Executable>> prepare(std::shared_ptr<const Kernel>,
                                                    const KernelCall&,
                                                    std::span<const TensorSpec>) override {
    return std::shared_ptr<const Executable>{std::make_shared<Executable>()};
  }
  Result<std::unique_ptr<Recording>> record(std::span<const Step> steps) override {
    ++recorded;
    last_recorded.assign(steps.begin(), steps.end());
    return std::unique_ptr<Recording>{std::make_unique<Recording>()};
  }
  bool rebind(Recording&, std::span<const Step> steps) noexcept override {
    if (!can_rebind) return false;
    ++rebound;
    last_recorded.assign(steps.begin(), steps.end());
    return true;
  }
  void run_ended(Recording&) noexcept override { ++ended; }
  Result<void> submit(const Submission& submission) override {
    if (fail_submit) return Error{"submit", ErrorCode::out_of_memory, "no room for a submission"};
    Submitted noted{
        submission.queue, submission.value, {submission.waits.begin(), submission.waits.end()}, {}};
    for (const Step& step : submission.steps) {
      noted.after.emplace_back(step.after.begin(), step.after.end());
      if (step.stop) stop_signs.push_back(step.stop);
    }
    moving = submission.recording_moves;
    submitted.push_back(std::move(noted));
    return {};
  }
  bool wait(QueuePoint, std::chrono::steady_clock::time_point) noexcept override { return false; }
  BackendCounters counters() const noexcept override { return {}; }

  void complete(std::size_t index, std::vector<StepFailure> failures = {}) {
    sink_.on_completed({{submitted[index].queue, submitted[index].value}, std::move(failures), {}});
  }
  void lose() { sink_.on_lost(Error{"device", ErrorCode::device_lost, "gone"}); }

  std::deque<Submitted> submitted;
  std::vector<StopSign*> stop_signs;  ///< of the steps that have one
  bool fail_submit = false;
  bool fail_allocation = false;
  bool can_rebind = false;
  int recorded = 0;
  int rebound = 0;
  int ended = 0;                    ///< runs of recordings that stay
  bool moving = false;              ///< what the last submission said of its recording
  std::vector<Step> last_recorded;  ///< or bound anew

 private:
  CompletionSink& sink_;
  DeviceInfo info_;
};

class ScriptedDriver final : public Driver {
 public:
  explicit ScriptedDriver(bool transfer_queue) : transfer_queue_{transfer_queue} {}
  std::string_view name() const noexcept override { return "scripted"; }
  std::vector<DeviceInfo> devices() override { return {}; }
  std::vector<Diagnosis> diagnose() override { return {}; }
  Result<std::unique_ptr<Backend>> open(std::size_t, CompletionSink& sink,
                                        const OpenOptions&) override {
    auto backend = std::make_unique<ScriptedBackend>(sink, transfer_queue_);
    opened = backend.get();
    return std::unique_ptr<Backend>{std::move(backend)};
  }
  ScriptedBackend* opened = nullptr;

 private:
  bool transfer_queue_;
};

class Scheduler : public testing::Test {
 protected:
  void open(bool transfer_queue = false, std::size_t window = 3, std::uint64_t budget = 0) {
    ScriptedDriver driver{transfer_queue};
    SchedulerOptions options;
    options.memory.budget = budget;
    options.submissions_in_flight = window;
    scheduler = CommandScheduler::open(driver, 0, {}, options).value();
    backend = driver.opened;
    SchedulerHooks hooks;
    hooks.notify = [this] { ++notifications; };
    hooks.run_later = [](const std::function<void()>& work) { work(); };
    scheduler->set_hooks(std::move(hooks));
  }
  void TearDown() override {
    // Whatever a test leaves in flight ends with the device, as in life.
    if (!scheduler->idle()) backend->lose();
    scheduler->turn();
    EXPECT_TRUE(scheduler->idle());
  }

  std::shared_ptr<BufferState> buffer() {
    return scheduler->make_buffer({DType::f32, {16}}, "test").value();
  }

  /// Queues a command that reads `from` and overwrites `to`.
  CommandPtr submit(const std::shared_ptr<BufferState>& from,
                    const std::shared_ptr<BufferState>& to, QueueKind queue = QueueKind::compute) {
    CommandPtr command = commands->make(++ids, "copy");
    CommandWork& work = command->work;
    work.step.kind = StepKind::copy;
    work.queue = queue;
    work.step.inputs.push_back({from, 0, 64});
    work.step.outputs.push_back({to, 0, 64});
    scheduler->submit(command);
    return command;
  }
  static ErrorCode code_of(const CommandPtr& command) {
    command->observe();
    if (!command->ready()) return ErrorCode::internal;
    return command->result() ? ErrorCode::internal : command->result().error().code();
  }

  std::shared_ptr<CommandScheduler> scheduler;
  ScriptedBackend* backend = nullptr;
  std::shared_ptr<CommandPool> commands = std::make_shared<CommandPool>(std::weak_ptr<Backend>{});
  int notifications = 0;
  std::uint64_t ids = 0;
};

}  // namespace stoker
