#include "stoker/pipeline/script/evaluator.hpp"

#include <algorithm>

#include "stoker/pipeline/script/evaluation_plan.hpp"
#include "stoker/pipeline/script/waiting.hpp"

namespace stoker::script {
namespace {

constexpr std::size_t max_scalars = 32;
// The collector takes a step after this many bytes on the device.
constexpr std::size_t pressure_step = std::size_t{16} << 20;
// What a buffer takes at least, on the device and for its handles here.
constexpr std::size_t smallest_buffer = 256;
constexpr std::size_t handle_bytes = 1024;

}  // namespace

Evaluator::Evaluator(std::shared_ptr<DeviceClient> device, Budget& budget,
                     GarbageCollector& garbage, ScriptObserver* observer)
    : device_{std::move(device)},
      budget_{budget},
      garbage_{garbage},
      observer_{observer},
      pipelines_{device_} {}

Result<std::vector<LazyPtr>> Evaluator::call(std::shared_ptr<const Kernel> kernel,
                                             std::vector<LazyPtr> inputs, Params params, int line) {
  const auto call = std::make_shared<LazyCall>(budget_, std::move(kernel));
  call->line = line;
  const std::vector<TensorSpec> specs = specs_of(inputs);
  auto resolved = ParamSet::resolve(call->kernel->name, call->kernel->params, params);
  if (!resolved) return about_call(resolved.error(), *call->kernel, specs);
  call->resolved = *resolved;
  auto outputs = call->kernel->check(specs, call->resolved);
  if (!outputs) return about_call(outputs.error(), *call->kernel, specs);
  call->specs = *std::move(outputs);
  call->params = std::move(params);

  for (const LazyPtr& input : inputs)
    if (!input->evaluated()) call->depth = std::max(call->depth, input->call->depth + 1);
  if (call->depth > max_depth) {
    STOKER_TRY(evaluate(inputs));
    call->depth = 1;
  }

  // What the calls' own allocations come to, near enough.
  const std::size_t bytes = sizeof(LazyCall) +
                            call->specs.size() * (sizeof(LazyValue) + sizeof(TensorSpec) + 64) +
                            inputs.size() * sizeof(LazyPtr) + call->params.entries().size() * 160;
  STOKER_TRY(take_memory(bytes));
  call->charged = bytes;

  call->inputs = std::move(inputs);
  std::vector<LazyPtr> values;
  for (const TensorSpec& spec : call->specs) {
    values.push_back(std::make_shared<LazyValue>(budget_, spec));
    values.back()->call = call;
    call->outputs.push_back(values.back());
  }
  return values;
}

Result<void> Evaluator::take_memory(std::size_t bytes) {
  if (budget_.take_memory(bytes)) return {};
  garbage_.collect();
  if (budget_.take_memory(bytes)) return {};
  budget_.exhaust_memory();
  return budget_.why();
}

Result<LazyPtr> Evaluator::constant(const TensorSpec& spec, std::span<const std::byte> bytes) {
  auto value = std::make_shared<LazyValue>(budget_, spec);
  STOKER_TRY(make_buffer(*value, &bytes));
  return value;
}

Result<LazyPtr> Evaluator::scalar(DType dtype, std::span<const std::byte> bytes) {
  std::string key{to_string(dtype)};
  key.append(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  const auto found = std::ranges::find(scalars_, key, &std::pair<std::string, LazyPtr>::first);
  if (found != scalars_.end()) {
    scalars_.splice(scalars_.begin(), scalars_, found);
    return scalars_.front().second;
  }
  STOKER_ASSIGN(LazyPtr value, constant(TensorSpec{dtype, {}}, bytes));
  scalars_.emplace_front(std::move(key), value);
  if (scalars_.size() > max_scalars) scalars_.pop_back();
  return value;
}

Result<void> Evaluator::make_buffer(LazyValue& value, const std::span<const std::byte>* contents) {
  const std::size_t bytes = std::max(value.spec.bytes(), smallest_buffer);
  pressure_ += bytes;
  if (pressure_ >= pressure_step) garbage_.step(std::exchange(pressure_, 0));
  const auto free_memory = [&] {
    garbage_.collect();
    trim();
  };
  if (!budget_.take_buffer(bytes)) {
    free_memory();
    if (!budget_.take_buffer(bytes)) return budget_.buffers_used_up(bytes);
  }
  value.charged = bytes;
  STOKER_TRY(take_memory(handle_bytes));
  value.charged_memory = handle_bytes;
  const auto make = [&] {
    return contents != nullptr ? device_->make_buffer(value.spec, *contents)
                               : device_->make_buffer(value.spec);
  };
  auto buffer = make();
  if (!buffer && buffer.error().code() == ErrorCode::out_of_memory) {
    free_memory();
    buffer = make();
  }
  if (!buffer) return buffer.error();
  value.buffer = *std::move(buffer);
  return {};
}

Result<void> Evaluator::evaluate(std::span<const LazyPtr> values) {
  const std::vector<LazyCall*> order = calls_beneath(values);
  std::span<LazyCall* const> rest = order;
  while (!rest.empty()) {
    const std::size_t count = std::min(rest.size(), max_stages);
    STOKER_TRY(run(rest.first(count), rest.subspan(count), values));
    rest = rest.subspan(count);
  }
  return {};
}

Result<void> Evaluator::run(std::span<LazyCall* const> calls, std::span<LazyCall* const> later,
                            std::span<const LazyPtr> wanted) {
  STOKER_TRY(wait_for_room());
  const EvaluationPlan plan{calls, later, wanted};
  STOKER_ASSIGN(const std::shared_ptr<CompiledPipeline> pipeline, pipelines_.get(plan));

  // Buffers of results belong to their values only once the run was accepted.
  std::vector<DeviceBuffer> bound;
  std::vector<std::pair<LazyPtr, LazyPtr>> results;  // the value, and its buffer's owner until then
  for (const EvaluationPlan::Value& value : plan.values) {
    if (!value.external) continue;
    if (!value.written) {
      bound.push_back(value.lazy->buffer);
      continue;
    }
    auto owner = std::make_shared<LazyValue>(budget_, value.spec);
    STOKER_TRY(make_buffer(*owner, nullptr));
    bound.push_back(owner->buffer);
    results.emplace_back(value.lazy, std::move(owner));
  }
  STOKER_ASSIGN(const CommandPtr command, pipeline->run(bound));

  Flight flight{command, pipeline, {}};
  for (const EvaluationPlan::Stage& stage : plan.stages) {
    ScriptCommand call;
    call.kernel = stage.call->kernel->name;
    if (!stage.call->specs.empty()) call.output = stage.call->specs[0];
    call.line = stage.call->line;
    flight.calls.push_back(std::move(call));
  }
  flights_.push_back(std::move(flight));
  ++report_.evaluations;
  report_.commands += calls.size();

  for (LazyCall* call : calls) call->ran = true;
  for (auto& [value, owner] : results) {
    value->buffer = std::move(owner->buffer);
    value->charged = std::exchange(owner->charged, 0);
    value->charged_memory = std::exchange(owner->charged_memory, 0);
    value->writer = command;
  }
  // Last: this may be the end of the calls.
  for (auto& [value, owner] : results) value->call.reset();
  settle_finished();
  return {};
}

bool Evaluator::wait_until_ready(FutureCore& future) {
  const bool ready = wait_unless_cancelled(future, budget_.cancel());
  budget_.parked();
  return ready;
}

Result<void> Evaluator::wait_for_room() {
  while (flights_.size() >= max_flights) {
    // Its outcome is its readers' business, or that of finish().
    const CommandPtr oldest = flights_.front().command;
    if (!wait_until_ready(*oldest)) return cancelled();
    settle_finished();
  }
  return {};
}

Result<void> Evaluator::wait_for(const CommandPtr& command) {
  if (!wait_until_ready(*command)) return cancelled();
  if (command->result().has_error()) {
    mark_seen(command);
    settle_finished();
    return command->result().error();
  }
  settle_finished();
  return {};
}

Result<void> Evaluator::wait(std::span<const LazyPtr> values) {
  STOKER_TRY(evaluate(values));
  for (const LazyPtr& value : values)
    if (value->writer) STOKER_TRY(wait_for(value->writer));
  return {};
}

Result<std::vector<std::byte>> Evaluator::read(const LazyPtr& value, std::size_t offset,
                                               std::size_t bytes) {
  STOKER_TRY(wait({&value, 1}));
  if (bytes == 0) return std::vector<std::byte>{};
  // Shared with the command: after a cancellation the device may still write there.
  struct Target {
    explicit Target(std::size_t size) : memory(size) {}
    std::vector<std::byte> memory;
    Promise<void> filled;
  };
  const auto target = std::make_shared<Target>(bytes);
  const Future<void> filled = target->filled.future();
  STOKER_ASSIGN(
      const CommandPtr command,
      device_->read_into(value->buffer, offset, target->memory, [target](const Error* failure) {
        target->filled.set(failure != nullptr ? Result<void>{*failure} : Result<void>{});
      }));
  command->observe();
  if (!wait_until_ready(*filled.state())) {
    device_->cancel(command, budget_.cancel().cause().value_or(cancelled_error("read")));
    return cancelled();
  }
  STOKER_TRY(*filled.poll());
  return std::move(target->memory);
}

Result<void> Evaluator::finish() {
  while (!flights_.empty()) {
    const CommandPtr oldest = flights_.front().command;
    if (!wait_until_ready(*oldest)) return cancelled();
    settle_finished();
  }
  if (unseen_failure_) return *unseen_failure_;
  return {};
}

Error Evaluator::cancelled() {
  static_cast<void>(budget_.spend(0));  // takes the cause over
  abandon(budget_.why());
  return budget_.why();
}

void Evaluator::abandon(const Error& why) {
  for (const Flight& flight : flights_) {
    flight.command->observe();
    device_->cancel(flight.command, why);
  }
}

ScriptReport Evaluator::report() const {
  ScriptReport report = report_;
  report.pipelines_compiled = pipelines_.compiled();
  return report;
}

void Evaluator::trim() { pipelines_.trim(); }

void Evaluator::settle_finished() {
  while (!flights_.empty() && flights_.front().command->ready()) {
    settle(flights_.front());
    flights_.pop_front();
  }
}

void Evaluator::settle(Flight& flight) {
  const Result<void>& result = flight.command->result();
  flight.command->observe();
  // Every evaluation writes new buffers, so what the pipeline keeps for a next run on the same ones
  // would only hold their memory.
  flight.pipeline->trim();
  if (result.has_error() && !flight.seen && !unseen_failure_) unseen_failure_ = result.error();
  if (observer_ == nullptr) return;
  const std::vector<StepTiming> timings = flight.command->step_timings();
  const auto stages = flight.pipeline->stages();
  for (std::size_t i = 0; i < stages.size(); ++i) {
    ScriptCommand& call = flight.calls[stages[i].stage];
    if (timings.size() == stages.size())
      call.duration = std::chrono::nanoseconds{timings[i].end_ns - timings[i].begin_ns};
    if (result.has_error()) call.failure = result.error();
    observer_->on_command(call);
  }
}

void Evaluator::mark_seen(const CommandPtr& command) noexcept {
  for (Flight& flight : flights_)
    if (flight.command == command) flight.seen = true;
}

}  // namespace stoker::script
