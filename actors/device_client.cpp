#include "stoker/actors/device_client.hpp"

#include <algorithm>
#include <cstring>

#include "stoker/actors/device_slot.hpp"
#include "stoker/actors/read_target.hpp"
#include "stoker/device/adopted_memory.hpp"
#include "stoker/device/host_memory.hpp"
#include "stoker/runtime/trace.hpp"

namespace stoker {
namespace {

/// Up to here new buffers are written through mapped memory of a GPU; beyond, staging is faster.
constexpr std::uint64_t small_write = std::uint64_t{256} * 1024;
/// Up to this the strand itself copies what was read.
constexpr std::uint64_t small_read = std::uint64_t{16} * 1024;
constexpr std::uint32_t strand_capacity = 1U << 16;

Operand whole(const DeviceBuffer& buffer) { return {buffer.state(), 0, buffer.spec().bytes()}; }

Operand part(const DeviceBuffer& buffer, std::uint64_t offset, std::uint64_t bytes) {
  return {buffer.state(), offset, bytes};
}

DeviceBuffer handle(const std::shared_ptr<DeviceClient>& device,
                    std::shared_ptr<BufferState> state) {
  return DeviceBuffer{
      std::make_shared<BufferCell>(device->actor().strand(), device, std::move(state))};
}

}  // namespace

std::shared_ptr<DeviceClient> DeviceClient::start(std::shared_ptr<DeviceShell> shell,
                                                  const ClientContext& context) {
  auto client = std::make_shared<DeviceClient>(shell, context);
  auto strand = std::make_shared<Strand>(context.executor, strand_capacity);
  // The shell and its owners refer to each other weakly: a turn's last message may end them all.
  struct EndOfTurn {
    std::weak_ptr<DeviceShell> weak_shell;
    std::shared_ptr<ShellObserver> observer;
    std::weak_ptr<DeviceClient> client;
    bool told = false;
    void operator()() {
      const auto shell = weak_shell.lock();
      if (!shell) return;
      if (!observer || !observer->wants_timing()) {
        shell->turn();
      } else {
        const std::uint64_t begin = TraceRecorder::now_ns();
        shell->turn();
        observer->on_turn(begin, TraceRecorder::now_ns());
      }
      // A lost device is its actor's crash: behind what came before, so that nothing is forgotten.
      if (!shell->is_lost() || std::exchange(told, true)) return;
      if (const auto lost = client.lock())
        static_cast<void>(lost->actor_.stop({.reason = ExitReason::failure(*shell->lost())}));
    }
  };
  strand->set_end_of_turn(EndOfTurn{shell, context.observer, client});
  client->actor_ = spawn_on<DeviceActor>(strand, shell->info().name, shell, client);
  DeviceShell::Hooks hooks;
  hooks.poke = [weak = std::weak_ptr{client->actor_.cell()}] {
    if (const auto cell = weak.lock())
      static_cast<void>(ActorRef<DeviceActor>{cell}.cast(SettleCompletions{}, Run::here));
  };
  hooks.run_later = [executor = context.executor](std::function<void()> work) {
    executor->post(std::move(work));
  };
  hooks.observer = context.observer;
  shell->set_hooks(std::move(hooks));
  return client;
}

DeviceClient::DeviceClient(std::shared_ptr<DeviceShell> shell, const ClientContext& context)
    : shell_{std::move(shell)},
      context_{context},
      commands_{std::make_shared<CommandPool>(shell_->backend())} {}

CommandPtr DeviceClient::new_command(std::string_view kernel) {
  return commands_->make(next_command_.fetch_add(1, std::memory_order_relaxed), kernel);
}

// --- checks --------------------------------------------------------------------------------------

Result<void> DeviceClient::check_buffer(const DeviceBuffer& buffer, std::string_view op) const {
  // Before any lock is taken: a thread of the parent may hold it for ever.
  STOKER_TRY(context_.fork.check(op));
  if (!buffer)
    return Error{std::string{op}, ErrorCode::invalid_argument, "an empty buffer handle was passed"};
  if (buffer.device().get() != this && buffer.device()->is_lost())
    return buffer.device()->shell().lost()->with("buffer", std::to_string(buffer.state()->id));
  if (buffer.device().get() != this)
    return Error{std::string{op},
                 ErrorCode::wrong_device,
                 "the buffer is on another device",
                 {{"buffer", buffer.device()->info().name}, {"device", info().name}}};
  if (buffer.state()->released.load(std::memory_order_acquire))
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
  if (const auto lost = shell_->lost()) return *lost;
  const std::uint64_t queued = shell_->stats().queued;
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
  for (const TimelinePoint& point : options.waits)
    command->work.waits.push_back(std::make_unique<HostWait>(point));
  watch(command, options);
  return {};
}

Result<CommandPtr> DeviceClient::send(CommandPtr command, const CommandOptions& options) {
  STOKER_TRY(admit(command, options));
  const auto sent = actor_.cast(SubmitCommand{command}, Run::here);
  if (!sent) return sent.error();
  return command;
}

void DeviceClient::watch(const CommandPtr& command, const CommandOptions& options) {
  if (!options.deadline) return;
  command->set_deadline(Timer{
      *context_.clock, *options.deadline, *context_.executor, [self = weak_from_this(), command] {
        if (const auto client = self.lock())
          static_cast<void>(client->actor_.cast(
              CancelCommand{
                  command,
                  Error{command->kernel(), ErrorCode::deadline_exceeded, "the deadline passed"},
                  true},
              Run::here));
      }});
}

void DeviceClient::cancel(const CommandPtr& command, Error why) {
  static_cast<void>(actor_.cast(CancelCommand{command, std::move(why)}, Run::here));
}

// --- buffers -------------------------------------------------------------------------------------

Result<DeviceBuffer> DeviceClient::make_buffer(const TensorSpec& spec) {
  STOKER_TRY(admit(0, "buffer"));
  STOKER_ASSIGN(auto state, shell_->make_buffer(spec, "buffer"));
  return handle(shared_from_this(), std::move(state));
}

Result<DeviceBuffer> DeviceClient::make_result(const TensorSpec& spec) {
  if (spec.bytes() < MemoryPool::large_bytes) return make_buffer(spec);
  STOKER_TRY(admit(0, "buffer"));
  STOKER_ASSIGN(auto state, shell_->make_late_buffer(spec, "buffer"));
  return handle(shared_from_this(), std::move(state));
}

Result<DeviceBuffer> DeviceClient::make_buffer(const TensorSpec& spec,
                                               std::span<const std::byte> data) {
  if (data.size() != spec.bytes())
    return Error{"buffer",
                 ErrorCode::invalid_argument,
                 "the data does not fill the shape",
                 {{"expected_bytes", std::to_string(spec.bytes())},
                  {"got_bytes", std::to_string(data.size())},
                  {"spec", spec.to_string()}}};
  STOKER_ASSIGN(DeviceBuffer buffer, make_buffer(spec));
  // Nobody else knows the buffer yet, so mapped memory is written in place.
  const MemoryView view = buffer.state()->memory->view();
  const bool in_place = view.block->host && (info().host_addressable || data.size() <= small_write);
  if (data.empty()) return buffer;
  if (in_place) {
    std::memcpy(view.host(), data.data(), data.size());
    return buffer;
  }
  STOKER_ASSIGN(const CommandPtr command, write(buffer, 0, data));
  command->observe();  // a failure reaches whoever uses the buffer
  return buffer;
}

Result<DeviceBuffer> DeviceClient::adopt_buffer(const TensorSpec& spec, std::span<std::byte> memory,
                                                std::shared_ptr<const void> owner) {
  STOKER_TRY(admit(0, "adopt"));
  if (!info().host_addressable)
    return Error{"adopt",
                 ErrorCode::unsupported,
                 "the device cannot address memory of the host",
                 {{"device", info().name}}};
  const bool aligned = reinterpret_cast<std::uintptr_t>(memory.data()) % host_alignment == 0;
  if (memory.size() != spec.bytes() || !aligned)
    return Error{"adopt",
                 ErrorCode::invalid_argument,
                 "the memory has another size, or does not begin where kernels can read it",
                 {{"expected_bytes", std::to_string(spec.bytes())},
                  {"got_bytes", std::to_string(memory.size())},
                  {"alignment", std::to_string(host_alignment)}}};
  return handle(shared_from_this(),
                shell_->make_buffer(spec, adopt_memory(memory, std::move(owner))));
}

Result<CommandPtr> DeviceClient::write(const DeviceBuffer& buffer, std::uint64_t offset,
                                       std::span<const std::byte> data,
                                       const CommandOptions& options) {
  STOKER_TRY(check_range(buffer, offset, data.size(), "write"));
  STOKER_ASSIGN(auto staging, shell_->pool().lease(data.size(), MemoryKind::upload, "write"));
  if (!data.empty()) std::memcpy(staging->view().host(), data.data(), data.size());
  CommandPtr command = new_command("write");
  CommandWork& work = command->work;
  work.queue = QueueKind::transfer;
  work.step.kind = StepKind::copy;
  work.step.inputs.push_back({std::move(staging), 0, data.size()});
  work.step.outputs.push_back(part(buffer, offset, data.size()));
  return send(std::move(command), options);
}

Result<CommandPtr> DeviceClient::read_into(const DeviceBuffer& buffer, std::uint64_t offset,
                                           std::span<std::byte> target,
                                           std::function<void(const Error*)> done,
                                           const CommandOptions& options) {
  STOKER_TRY(check_range(buffer, offset, target.size(), "read"));
  CommandPtr command = new_command("read");
  CommandWork& work = command->work;
  work.queue = QueueKind::transfer;
  work.step.kind = StepKind::copy;
  work.step.inputs.push_back(part(buffer, offset, target.size()));
  Operand output;
  output.bytes = target.size();
  if (info().host_addressable) {
    output.memory = std::make_shared<HostBlock>(target.data(), target.size());
    work.on_result = std::move(done);
    work.quick_result = true;  // the bytes are where they belong
  } else {
    STOKER_ASSIGN(const std::shared_ptr<MemoryLease> staging,
                  shell_->pool().lease(target.size(), MemoryKind::readback, "read"));
    output.memory = staging;
    work.on_result = [target, staging, done = std::move(done)](const Error* failure) {
      if (!failure && !target.empty())
        std::memcpy(target.data(), staging->view().host(), target.size());
      done(failure);
    };
    work.quick_result = target.size() <= small_read;
  }
  work.step.outputs.push_back(std::move(output));
  return send(std::move(command), options);
}

Result<Future<std::vector<std::byte>>> DeviceClient::read(const DeviceBuffer& buffer,
                                                          std::uint64_t offset, std::uint64_t bytes,
                                                          const CommandOptions& options) {
  STOKER_TRY(check_range(buffer, offset, bytes, "read"));
  auto target = std::make_shared<ReadTarget<std::byte>>(bytes);
  auto result = target->promise.future();
  STOKER_ASSIGN(const CommandPtr command,
                read_into(buffer, offset, target->bytes(), target->completion(target), options));
  command->observe();  // the future carries the outcome
  return result;
}

Result<CommandPtr> DeviceClient::copy(const DeviceBuffer& from, std::uint64_t from_offset,
                                      const DeviceBuffer& to, std::uint64_t to_offset,
                                      std::uint64_t bytes, const CommandOptions& options) {
  if (!from || !to)
    return Error{"copy", ErrorCode::invalid_argument, "an empty buffer handle was passed"};
  STOKER_TRY(from.device()->check_range(from, from_offset, bytes, "copy"));
  STOKER_TRY(to.device()->check_range(to, to_offset, bytes, "copy"));
  if (from.device() != to.device())
    return copy_between(from, from_offset, to, to_offset, bytes, options);
  if (from.device().get() != this)
    return from.device()->copy(from, from_offset, to, to_offset, bytes, options);
  const bool same = from.state() == to.state();
  if (same && bytes > 0 && from_offset < to_offset + bytes && to_offset < from_offset + bytes)
    return Error{"copy",
                 ErrorCode::invalid_argument,
                 "the ranges overlap",
                 {{"from", std::to_string(from_offset)},
                  {"to", std::to_string(to_offset)},
                  {"bytes", std::to_string(bytes)}}};
  CommandPtr command = new_command("copy");
  CommandWork& work = command->work;
  work.step.kind = StepKind::copy;
  work.step.inputs.push_back(part(from, from_offset, bytes));
  work.step.outputs.push_back(part(to, to_offset, bytes));
  return send(std::move(command), options);
}

Result<CommandPtr> DeviceClient::copy_between(const DeviceBuffer& from, std::uint64_t from_offset,
                                              const DeviceBuffer& to, std::uint64_t to_offset,
                                              std::uint64_t bytes, const CommandOptions& options) {
  // The target's command waits for a point of a host timeline that the read reaches, so whoever
  // uses the target afterwards is ordered behind the copy from this moment on.
  DeviceClient& source = *from.device();
  DeviceClient& target = *to.device();
  STOKER_ASSIGN(std::shared_ptr<MemoryLease> staging,
                target.shell_->pool().lease(bytes, MemoryKind::upload, "copy"));
  STOKER_ASSIGN(auto read, source.read(from, from_offset, bytes, options));
  auto arrived = std::make_shared<Timeline>();
  CommandPtr command = target.new_command("copy");
  CommandWork& work = command->work;
  work.queue = QueueKind::transfer;
  work.step.kind = StepKind::copy;
  work.step.inputs.push_back({staging, 0, bytes});
  work.step.outputs.push_back(part(to, to_offset, bytes));
  CommandOptions target_options = options;
  target_options.waits = {TimelinePoint{arrived, 1}};
  auto sent = target.send(std::move(command), target_options);
  static_cast<void>(
      read.then(*context_.executor, [staging, arrived](const Result<std::vector<std::byte>>& data) {
        if (!data) {
          arrived->fail(data.error());
          return;
        }
        if (!data->empty()) std::memcpy(staging->view().host(), data->data(), data->size());
        arrived->advance(1);
      }));
  return sent;
}

Result<void> DeviceClient::hold(const DeviceBuffer& buffer, const TimelinePoint& open) {
  STOKER_TRY(check_buffer(buffer, "hold"));
  if (buffer.state()->late)
    return Error{"hold", ErrorCode::invalid_argument, "the buffer has no memory of its own yet"};
  // A write of nothing: it takes its place among the hazards and leaves the bytes alone.
  CommandPtr command = new_command("hold");
  CommandWork& work = command->work;
  work.step.kind = StepKind::copy;
  work.step.inputs.push_back({buffer.state()->memory, 0, 0});
  work.step.outputs.push_back(part(buffer, 0, 0));
  CommandOptions options;
  options.waits = {open};
  STOKER_ASSIGN(const CommandPtr sent, send(std::move(command), options));
  sent->observe();  // who uses the buffer hears of a failure
  return {};
}

Result<CommandPtr> DeviceClient::write_held(const DeviceBuffer& from, const DeviceBuffer& held,
                                            std::uint64_t offset) {
  const std::uint64_t bytes = from ? from.spec().bytes() : 0;
  STOKER_TRY(check_buffer(from, "copy"));
  STOKER_TRY(check_range(held, offset, bytes, "copy"));
  CommandPtr command = new_command("copy");
  CommandWork& work = command->work;
  work.step.kind = StepKind::copy;
  work.step.inputs.push_back(part(from, 0, bytes));
  work.step.outputs.push_back({held.state()->memory, offset, bytes});
  return send(std::move(command), {});
}

Result<CommandPtr> DeviceClient::fill(const DeviceBuffer& buffer,
                                      std::span<const std::byte> pattern,
                                      const CommandOptions& options) {
  STOKER_TRY(check_buffer(buffer, "fill"));
  const std::size_t size = pattern.size();
  if ((size != 1 && size != 2 && size != 4 && size != 8) || buffer.spec().bytes() % size != 0)
    return Error{"fill",
                 ErrorCode::invalid_argument,
                 "the pattern must be 1, 2, 4 or 8 bytes and divide the buffer",
                 {{"pattern_bytes", std::to_string(size)},
                  {"buffer_bytes", std::to_string(buffer.spec().bytes())}}};
  CommandPtr command = new_command("fill");
  CommandWork& work = command->work;
  work.step.kind = StepKind::fill;
  std::ranges::copy(pattern, work.step.pattern.begin());
  work.step.pattern_bytes = static_cast<std::uint8_t>(size);
  work.step.outputs.push_back(whole(buffer));
  return send(std::move(command), options);
}

void DeviceClient::release(const DeviceBuffer& buffer) {
  if (!buffer || buffer.state()->released.exchange(true, std::memory_order_acq_rel)) return;
  static_cast<void>(buffer.actor().cast(ReleaseBuffer{}, Run::here));
}

// --- kernels -------------------------------------------------------------------------------------

Result<std::shared_ptr<const Prepared>> DeviceClient::prepare(
    const std::shared_ptr<const Kernel>& kernel, std::span<const DeviceBuffer* const> inputs,
    const Params* params) {
  STOKER_TRY(context_.fork.check(kernel->name));
  boost::container::small_vector<TensorSpec, 4> specs;
  for (const DeviceBuffer* buffer : inputs) {
    STOKER_TRY(check_buffer(*buffer, kernel->name));
    specs.push_back(buffer->spec());
  }
  static const Params none;
  STOKER_ASSIGN(const ParamSet resolved,
                ParamSet::resolve(kernel->name, kernel->params, params ? *params : none));
  return shell_->executables().get(kernel, specs, resolved);
}

Result<CommandPtr> DeviceClient::compose(const KernelRequest& request) {
  const Kernel& kernel = *request.kernel;
  STOKER_ASSIGN(const auto prepared, prepare(request.kernel, request.inputs, request.params));
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
    if (output.spec() != made)
      return Error{
          kernel.name,
          output.spec().dtype != made.dtype ? ErrorCode::dtype_mismatch : ErrorCode::shape_mismatch,
          "the output does not fit what the kernel makes",
          {{"makes", made.to_string()}, {"output", output.spec().to_string()}}};
    for (std::size_t input = 0; input < request.inputs.size(); ++input) {
      const bool same = request.inputs[input]->state() == output.state();
      if (same && !(kernel.in_place && request.inputs[input]->spec() == made))
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
    for (const TimelinePoint& point : options.waits)
      (*command)->work.waits.push_back(std::make_unique<HostWait>(point));
    commands.push_back(*std::move(command));
  }
  for (const CommandPtr& command : commands) watch(command, options);
  const auto sent = actor_.cast(SubmitCommands{commands}, Run::here);
  if (!sent) return sent.error();
  return commands;
}

std::shared_ptr<DeviceClient> DeviceClient::successor() {
  if (const auto slot = context_.slot.lock())
    if (auto now = slot->current()) return now;
  return shared_from_this();
}

Result<std::shared_ptr<DeviceClient>> DeviceClient::stand_in() const {
  if (!context_.stand_in) return std::shared_ptr<DeviceClient>{};
  try {
    return context_.stand_in();
  } catch (const Error& error) {
    return error;
  }
}

Future<void> DeviceClient::when_ready() const {
  if (!is_lost()) return make_ready_future();
  if (const auto slot = context_.slot.lock()) return slot->when_open();
  return make_ready_future<void>(*shell_->lost());
}

// --- ending --------------------------------------------------------------------------------------

bool DeviceClient::close(std::chrono::nanoseconds patience) {
  if (context_.fork.forked()) return true;  // what runs is the parent's
  services_.close();
  if (is_lost()) return shell_->stats().muted == 0;
  const Error why{"device", ErrorCode::closed, "the system was stopped", {{"device", info().name}}};
  const auto until = std::chrono::steady_clock::now() + patience;
  const auto points = actor_.call(CloseDevice{why}, Run::here);
  if (!points.wait_until(until) || !points.poll()->has_value()) return false;
  for (const QueuePoint& point : **points.poll())
    if (point.value > 0) shell_->backend()->wait(point, until);
  return actor_.call(SettleCompletions{}, Run::here).wait_until(until) &&
         shell_->stats().in_flight == 0;
}

}  // namespace stoker
