#include "stoker/actors/device/device_client.hpp"

#include <algorithm>

#include "stoker/actors/device/device_actor.hpp"
#include "stoker/actors/device/device_turn.hpp"
#include "stoker/actors/device/supervised_device.hpp"
#include "stoker/device/commands/command_pool.hpp"
#include "stoker/device/commands/command_scheduler.hpp"

namespace stoker {
namespace {

constexpr std::uint32_t strand_capacity = 1U << 16;

Error stopped(std::string_view op, const DeviceInfo& device) {
  return Error{
      std::string{op}, ErrorCode::closed, "the system was stopped", {{"device", device.name}}};
}

/// The whole of a buffer as a command's operand.
Operand whole(const DeviceBuffer& buffer) {
  const std::shared_ptr<BufferState>& state = actor_behind(buffer).state();
  return {state, 0, state->spec.bytes()};
}

/// The command runs when all points are reached.
Result<void> hold_for(std::span<const TimelinePoint> points, CommandState& command) {
  for (const TimelinePoint& point : points) {
    if (!point.timeline)
      return Error{command.kernel(), ErrorCode::invalid_argument,
                   "a point to wait for has no timeline"};
    command.work.waits.push_back(std::make_unique<HostWait>(point));
  }
  return {};
}

/// Until it has ended, nobody reads past it what the work writes.
void expect_writes(CommandWork& work) {
  for_each_use(work, [&](BufferState& buffer, bool writes, bool) {
    if (writes) work.writes.add(buffer);
  });
}

}  // namespace

std::shared_ptr<DeviceClient> DeviceClient::start(std::shared_ptr<CommandScheduler> scheduler,
                                                  const ClientContext& context) {
  auto client = std::make_shared<DeviceClient>(scheduler, context);
  auto strand = std::make_shared<Strand>(context.executor, strand_capacity);
  strand->set_end_of_turn(DeviceTurn{scheduler, client, context.observer, *strand});
  client->actor_ = spawn_on<DeviceActor>(strand, scheduler->info().name, scheduler, client);
  client->commands_->set_cancel(
      [weak = std::weak_ptr{client}](const CommandPtr& command, Error why) {
        if (const auto to = weak.lock()) to->cancel(command, std::move(why));
      });
  SchedulerHooks hooks;
  hooks.notify = [weak = std::weak_ptr{client->actor_.cell()}] {
    if (const auto cell = weak.lock())
      static_cast<void>(ActorRef<DeviceActor>{cell}.cast(SettleCompletions{}, Run::here));
  };
  hooks.run_later = [executor = context.executor](std::function<void()> work) {
    executor->post(std::move(work));
  };
  hooks.observer = context.observer;
  scheduler->set_hooks(std::move(hooks));
  return client;
}

DeviceClient::DeviceClient(std::shared_ptr<CommandScheduler> scheduler,
                           const ClientContext& context)
    : scheduler_{std::move(scheduler)},
      context_{context},
      commands_{std::make_shared<CommandPool>(scheduler_->backend(), context_.clock)} {}

bool DeviceClient::wants_timing() const noexcept {
  return context_.observer && context_.observer->wants_timing();
}

const DeviceInfo& DeviceClient::info() const noexcept { return scheduler_->info(); }

bool DeviceClient::is_lost() const noexcept { return scheduler_->is_lost(); }

CommandPtr DeviceClient::new_command(std::string_view kernel) {
  return commands_->make(next_command_.fetch_add(1, std::memory_order_relaxed), kernel);
}

// --- checks --------------------------------------------------------------------------------------

Result<void> DeviceClient::check_buffer(const DeviceBuffer& buffer, std::string_view op) const {
  // Before any lock is taken: a thread of the parent may hold it for ever.
  STOKER_TRY(context_.fork.check(op));
  if (!buffer)
    return Error{std::string{op}, ErrorCode::invalid_argument, "an empty buffer handle was passed"};
  const BufferActor& behind = actor_behind(buffer);
  const bool elsewhere = behind.device().get() != this;
  if (elsewhere && buffer.device()->is_lost())
    return buffer.device()->scheduler().lost()->with("buffer", std::to_string(buffer.state()->id));
  if (elsewhere)
    return Error{std::string{op},
                 ErrorCode::wrong_device,
                 buffer.device()->info().name == info().name ? "the buffer is of another system"
                                                             : "the buffer is on another device",
                 {{"buffer", buffer.device()->info().name}, {"device", info().name}}};
  if (behind.state()->released.load(std::memory_order_acquire))
    return Error{std::string{op},
                 ErrorCode::released,
                 "the buffer was released",
                 {{"buffer", std::to_string(buffer.state()->id)}}};
  return {};
}

Result<void> DeviceClient::check_range(const DeviceBuffer& buffer, std::uint64_t offset,
                                       std::uint64_t bytes, std::string_view op) const {
  STOKER_TRY(check_buffer(buffer, op));
  const std::uint64_t size = buffer.spec().bytes();
  if (offset <= size && bytes <= size - offset) return {};
  return Error{std::string{op},
               ErrorCode::invalid_argument,
               "the range is outside the buffer",
               {{"offset", std::to_string(offset)},
                {"bytes", std::to_string(bytes)},
                {"size", std::to_string(size)}}};
}

Result<void> DeviceClient::admit(std::size_t commands, std::string_view op) const {
  STOKER_TRY(context_.fork.check(op));
  if (const auto lost = scheduler_->lost()) return *lost;
  if (!actor_.cell()->alive()) return stopped(op, info());
  const std::uint64_t queued = scheduler_->queued();
  if (queued + commands <= context_.max_queued) return {};
  return Error{
      std::string{op},
      ErrorCode::overloaded,
      "too many commands queue on the device",
      {{"queued", std::to_string(queued)}, {"limit", std::to_string(context_.max_queued)}}};
}

// --- sending -------------------------------------------------------------------------------------

Result<void> DeviceClient::admit(const CommandPtr& command, const CommandOptions& options) {
  STOKER_TRY(admit(1, command->kernel()));
  STOKER_TRY(hold_for(options.waits, *command));
  expect_writes(command->work);
  watch(command, options);
  return {};
}

Result<CommandPtr> DeviceClient::send(CommandPtr command, const CommandOptions& options) {
  STOKER_TRY(admit(command, options));
  STOKER_TRY(
      send_watched({&command, 1}, [&] { return actor_.cast(SubmitCommand{command}, Run::here); }));
  return command;
}

void DeviceClient::watch(const CommandPtr& command, const CommandOptions& options) {
  if (!options.deadline && !options.cancel.valid()) return;
  command->set_limits(options.deadline ? Deadline{*options.deadline} : Deadline{}, options.cancel);
  if (command->must_end()) return;  // the scheduler will see it
  // What these call may end the command, and them with it: what they use lies on the stack then.
  Timer timer;
  if (options.deadline)
    timer = Timer{*context_.clock, *options.deadline, *context_.executor,
                  [weak = weak_from_this(), command, why = command->overdue_error()] {
                    // NOLINTNEXTLINE(performance-unnecessary-copy-initialization): see above
                    const CommandPtr overdue = command;
                    if (const auto self = weak.lock()) self->cancel(overdue, why, true);
                  }};
  auto registration =
      options.cancel.on_cancel([weak = weak_from_this(), command](const Error& cause) {
        // NOLINTNEXTLINE(performance-unnecessary-copy-initialization): see above
        const CommandPtr unwanted = command;
        if (const auto self = weak.lock()) try {
            self->cancel(unwanted, cause);
          } catch (...) {  // no memory for the message: the command is marked, and does not begin
            detail::log_escaped_exception("cancel");
          }
      });
  command->set_alarms(std::move(timer), std::move(registration));
}

void DeviceClient::cancel(const CommandPtr& command, Error why, bool overdue) {
  if (context_.fork.forked()) return;  // the work is the parent's
  // Marked here: it does not begin although the message comes late.
  static_cast<void>(command->mark_cancelled(why));
  // What waits for the outside would else hear of it when that comes, if ever.
  cast_surely(actor_, CancelCommand{command, std::move(why), overdue}, Run::here);
}

// --- kernels -------------------------------------------------------------------------------------

Result<std::shared_ptr<const Prepared>> DeviceClient::prepare(
    const std::shared_ptr<const Kernel>& kernel, std::span<const DeviceBuffer* const> inputs,
    const Params* params) {
  boost::container::small_vector<TensorSpec, 4> specs;
  for (const DeviceBuffer* buffer : inputs) {
    STOKER_TRY(check_buffer(*buffer, kernel->name));
    specs.push_back(actor_behind(*buffer).state()->spec);
  }
  const Params none;
  STOKER_ASSIGN(const ParamSet resolved,
                ParamSet::resolve(kernel->name, kernel->params, params ? *params : none));
  return scheduler_->executables().get(kernel, specs, resolved);
}

Result<CommandPtr> DeviceClient::compose(const KernelRequest& request) {
  const Kernel& kernel = *request.kernel;
  std::shared_ptr<const Prepared> prepared = request.prepared;
  if (!prepared) {
    STOKER_ASSIGN(prepared, prepare(request.kernel, request.inputs, request.params));
  }
  if (request.outputs.size() != prepared->outputs.size())
    return Error{kernel.name,
                 ErrorCode::arity_mismatch,
                 "wrong number of outputs",
                 {{"expected", std::to_string(prepared->outputs.size())},
                  {"got", std::to_string(request.outputs.size())}}};
  for (std::size_t i = 0; i < request.outputs.size(); ++i) {
    const DeviceBuffer& output = *request.outputs[i];
    STOKER_TRY(check_buffer(output, kernel.name));
    const TensorSpec& made = prepared->outputs[i];
    const BufferState& target = *actor_behind(output).state();
    if (target.spec != made)
      return Error{
          kernel.name,
          target.spec.dtype != made.dtype ? ErrorCode::dtype_mismatch : ErrorCode::shape_mismatch,
          "the output does not fit what the kernel makes",
          {{"makes", made.to_string()}, {"output", target.spec.to_string()}}};
    for (std::size_t input = 0; input < request.inputs.size(); ++input) {
      const BufferState& source = *actor_behind(*request.inputs[input]).state();
      if (&source == &target && !(kernel.in_place && source.spec == made))
        return Error{kernel.name,
                     ErrorCode::invalid_argument,
                     "the kernel cannot write over its input",
                     {{"input", std::to_string(input)}}};
    }
  }
  CommandPtr command = new_command(kernel.name);
  CommandWork& work = command->work;
  work.step.executable = prepared->executable;
  for (const DeviceBuffer* buffer : request.inputs) work.step.inputs.push_back(whole(*buffer));
  for (const DeviceBuffer* buffer : request.outputs) work.step.outputs.push_back(whole(*buffer));
  return command;
}

Result<CommandPtr> DeviceClient::submit(const KernelRequest& request,
                                        const CommandOptions& options) {
  STOKER_ASSIGN(CommandPtr command, compose(request));
  return send(std::move(command), options);
}

Result<std::vector<CommandPtr>> DeviceClient::submit(std::span<const KernelRequest> requests,
                                                     const CommandOptions& options) {
  STOKER_TRY(admit(requests.size(), "submit"));
  std::vector<CommandPtr> commands;
  commands.reserve(requests.size());
  for (std::size_t i = 0; i < requests.size(); ++i) {
    auto command = compose(requests[i]);
    if (!command) return command.error().with("request", std::to_string(i));
    STOKER_TRY(hold_for(options.waits, **command));
    commands.push_back(*std::move(command));
  }
  for (const CommandPtr& command : commands) expect_writes(command->work);
  for (const CommandPtr& command : commands) watch(command, options);
  STOKER_TRY(
      send_watched(commands, [&] { return actor_.cast(SubmitCommands{commands}, Run::here); }));
  return commands;
}

std::shared_ptr<DeviceClient> DeviceClient::successor() {
  if (context_.fork.forked()) return shared_from_this();  // it refuses
  if (const auto slot = context_.slot.lock())
    if (auto now = slot->current()) return now;
  return shared_from_this();
}

Result<std::shared_ptr<DeviceClient>> DeviceClient::fallback_device() const {
  if (!context_.fallback_device) return std::shared_ptr<DeviceClient>{};
  try {
    return context_.fallback_device();
  } catch (const Error& error) {
    return error;
  }
}

Future<void> DeviceClient::when_ready() const {
  if (!is_lost()) return make_ready_future();
  if (const auto here = context_.fork.check("when_ready"); !here)
    return make_ready_future<void>(here.error());
  if (const auto slot = context_.slot.lock()) return slot->when_open();
  return make_ready_future<void>(*scheduler_->lost());
}

// --- ending --------------------------------------------------------------------------------------

bool DeviceClient::close(Clock::time_point until, AwaitTurns turns) {
  if (context_.fork.forked()) return true;  // what runs is the parent's
  services_.close();
  const auto unread = [&] {
    return scheduler_->await_readers(turns == AwaitTurns::yes ? until : Clock::time_point::min());
  };
  if (is_lost()) return unread() && scheduler_->stats().quarantined == 0;
  const Error why = stopped("device", info());
  const auto answered = [&](const auto& answer) {
    return turns == AwaitTurns::yes ? answer.wait_until(until) : answer.ready();
  };
  const auto abandon = [&] {
    cast_surely(actor_, AbandonDevice{why}, Run::here);
    return false;
  };
  const auto points = call_surely(actor_, CloseDevice{why});
  if (!answered(points)) return abandon();
  if (!points.poll()->has_value())
    return unread() && scheduler_->stats().in_flight == 0;  // its actor has ended
  for (const QueuePoint& point : **points.poll())
    if (point.value > 0) scheduler_->backend()->wait(point, until);
  const bool settled = answered(call_surely(actor_, SettleCompletions{}));
  return (settled && unread() && scheduler_->stats().in_flight == 0) || abandon();
}

}  // namespace stoker
