// A device with injected faults behind its scheduler, driven by hand.
#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <semaphore>
#include <string>
#include <string_view>

#include "stoker/device/commands/command_pool.hpp"
#include "stoker/device/commands/command_scheduler.hpp"
#include "stoker/device/fault/fault_injection.hpp"

namespace stoker {

/// A built-in driver, with faults.
inline std::shared_ptr<Driver> faulty_driver(std::string_view name, const Faults& faults) {
  for (const auto& driver : with_faults(faults))
    if (driver->name() == name) return driver;
  throw std::invalid_argument{"no such driver"};
}

class FaultyDevice {
 public:
  FaultyDevice(std::string_view driver, const Faults& faults, std::size_t window = 3) {
    SchedulerOptions options;
    options.submissions_in_flight = window;
    // One command a submission, so that the nth command is the nth submission.
    options.steps_per_submission = 1;
    scheduler = CommandScheduler::open(*faulty_driver(driver, faults), 0, {}, options).value();
    SchedulerHooks hooks;
    hooks.notify = [notifications = notifications_] { notifications->release(); };
    hooks.run_later = [](const std::function<void()>& work) { work(); };
    scheduler->set_hooks(std::move(hooks));
  }
  ~FaultyDevice() {
    while (!scheduler->idle()) {
      if (!await_poke()) break;
      scheduler->turn();
    }
  }
  FaultyDevice(const FaultyDevice&) = delete;
  FaultyDevice& operator=(const FaultyDevice&) = delete;

  std::shared_ptr<BufferState> buffer(std::int64_t elements = 16) {
    return scheduler->make_buffer({DType::f32, {elements}}, "test").value();
  }
  /// Queues a copy between new buffers, or from one to another.
  CommandPtr copy() { return copy(buffer(), buffer()); }
  CommandPtr copy(const std::shared_ptr<BufferState>& from,
                  const std::shared_ptr<BufferState>& to) {
    CommandPtr command = make("copy");
    command->work.step = copy_step(from, to);
    scheduler->submit(command);
    return command;
  }
  CommandPtr run(const std::string& kernel, const std::shared_ptr<BufferState>& from,
                 const std::shared_ptr<BufferState>& to) {
    CommandPtr command = make(kernel);
    command->work.step = kernel_step(kernel, from, to);
    scheduler->submit(command);
    return command;
  }
  CommandPtr replay(const std::shared_ptr<Replay>& what) {
    CommandPtr command = make("pipeline");
    command->work.replay = what;
    command->set_steps(static_cast<std::uint32_t>(what->plan->steps.size()));
    what->busy = true;
    scheduler->submit(command);
    return command;
  }

  struct Link {
    std::string kernel;
    std::shared_ptr<BufferState> from, to;
  };
  /// Each reads what the one before has written.
  std::shared_ptr<Replay> replay_of(const std::vector<Link>& chain) {
    ReplayPlan plan;
    BufferStates bound{chain.front().from};
    plan.uses.push_back({0, false, false});
    for (std::uint32_t i = 0; i < chain.size(); ++i) {
      const std::uint64_t bytes = chain[i].to->spec.bytes();
      ReplayPlan::Step& step = plan.steps.emplace_back();
      step.executable = prepare(chain[i].kernel, chain[i].from->spec).value()->executable;
      step.inputs.push_back({i, 0, bytes});
      step.outputs.push_back({i + 1, 0, bytes});
      if (i > 0) step.after = {i - 1};
      bound.push_back(chain[i].to);
      plan.uses.push_back({i + 1, true, true});
    }
    auto made = std::make_shared<Replay>();
    made->plan = std::make_shared<const ReplayPlan>(std::move(plan));
    made->bound = std::make_shared<const BufferStates>(std::move(bound));
    return made;
  }

  static CommandStep copy_step(const std::shared_ptr<BufferState>& from,
                               const std::shared_ptr<BufferState>& to) {
    CommandStep step;
    step.kind = StepKind::copy;
    step.inputs.push_back({from, 0, from->spec.bytes()});
    step.outputs.push_back({to, 0, to->spec.bytes()});
    return step;
  }
  CommandStep kernel_step(const std::string& kernel, const std::shared_ptr<BufferState>& from,
                          const std::shared_ptr<BufferState>& to) {
    CommandStep step = copy_step(from, to);
    step.kind = StepKind::dispatch;
    step.executable = prepare(kernel, from->spec).value()->executable;
    return step;
  }
  Result<std::shared_ptr<const Prepared>> prepare(const std::string& name, const TensorSpec& spec) {
    const auto kernel = KernelRegistry::builtin().find(name).value();
    const ParamSet params = ParamSet::resolve(name, kernel->params, {}).value();
    return scheduler->executables().get(kernel, {&spec, 1}, params);
  }

  /// Gives the device turns until the command has ended, and says how: nothing if it is well.
  std::optional<ErrorCode> outcome(const CommandPtr& command) {
    command->observe();
    for (scheduler->turn(); !command->ready(); scheduler->turn())
      if (!await_poke()) return ErrorCode::deadline_exceeded;
    if (command->result()) return std::nullopt;
    return command->result().error().code();
  }
  /// As outcome(), without waiting for the device: what is known after one turn.
  std::optional<ErrorCode> outcome_now(const CommandPtr& command) {
    scheduler->turn();
    return command->ready() ? outcome(command) : ErrorCode::deadline_exceeded;
  }
  [[nodiscard]] Backend& backend() { return *scheduler->backend(); }

  std::shared_ptr<CommandScheduler> scheduler;

 private:
  CommandPtr make(std::string_view kernel) { return commands_->make(++ids_, kernel); }
  /// False only if the device never says anything again: the test has failed then.
  bool await_poke() {
    const bool notified = notifications_->try_acquire_for(std::chrono::minutes{1});
    EXPECT_TRUE(notified) << "the device says nothing";
    return notified;
  }

  using Pokes = std::counting_semaphore<>;
  std::shared_ptr<Pokes> notifications_ =
      std::make_shared<Pokes>(0);  // a device may outlive the test
  std::shared_ptr<CommandPool> commands_ = std::make_shared<CommandPool>(std::weak_ptr<Backend>{});
  std::uint64_t ids_ = 0;
};

constexpr std::nullopt_t well = std::nullopt;

}  // namespace stoker
