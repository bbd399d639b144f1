#include "stoker/pipeline/script/run/evaluator.hpp"

#include <algorithm>

#include "stoker/actors/device/device_client.hpp"
#include "stoker/pipeline/kernel_graph/compiled_pipeline.hpp"
#include "stoker/pipeline/script/run/evaluation_plan.hpp"
#include "stoker/pipeline/script/run/waiting.hpp"

namespace stoker::script {
namespace {

constexpr std::size_t max_scalars = 32;
// The collector takes a step after this many bytes on the device.
constexpr std::size_t pressure_step = std::size_t{16} << 20;
// What a buffer takes at least, on the device and for its handles here.
constexpr std::size_t smallest_buffer = 256;
constexpr std::size_t handle_bytes = 1024;

/// What the observer is told of an evaluation's calls.
std::vector<ScriptCommand> told_calls(const EvaluationPlan& plan) {
  std::vector<ScriptCommand> calls;
  for (const EvaluationPlan::Stage& stage : plan.stages) {
    ScriptCommand& call = calls.emplace_back();
    call.kernel = stage.call->kernel->name;
    if (!stage.call->specs.empty()) call.output = stage.call->specs[0];
    call.line = stage.call->line;
  }
  return calls;
}

}  // namespace

Evaluator::Evaluator(std::shared_ptr<DeviceClient> device, Budget& budget,
                     GarbageCollector& garbage, ScriptObserver* observer)
    : device_{std::move(device)},
      budget_{budget},
      garbage_{garbage},
      flights_{observer},
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

Result<MemoryLoan> Evaluator::lend(std::size_t bytes) {
  if (!budget_.take_memory(bytes)) {
    garbage_.collect();
    if (!budget_.take_memory(bytes)) return budget_.memory_used_up(bytes);
  }
  return MemoryLoan{budget_, bytes};
}

Result<void> Evaluator::room_for_buffer(std::size_t bytes) {
  if (!budget_.take_buffer(bytes)) {
    garbage_.collect();
    if (!budget_.take_buffer(bytes)) return budget_.buffers_used_up(bytes);
  }
  budget_.give_buffer(bytes);
  return {};
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
  value->number = true;
  scalars_.emplace_front(std::move(key), value);
  if (scalars_.size() > max_scalars) scalars_.pop_back();
  return value;
}

Result<void> Evaluator::make_buffer(LazyValue& value, const std::span<const std::byte>* contents) {
  const std::size_t bytes = std::max(value.spec.bytes(), smallest_buffer);
  pressure_ += bytes;
  if (pressure_ >= pressure_step) garbage_.step(std::exchange(pressure_, 0));
  STOKER_TRY(room_for_buffer(bytes));
  static_cast<void>(budget_.take_buffer(bytes));
  value.charged = bytes;
  STOKER_TRY(take_memory(handle_bytes));
  value.charged_memory = handle_bytes;
  const auto make = [&] {
    return contents != nullptr ? device_->make_buffer(value.spec, *contents)
                               : device_->make_buffer(value.spec);
  };
  auto buffer = make();
  const auto full = [&] {
    return buffer.has_error() && buffer.error().code() == ErrorCode::out_of_memory;
  };
  if (full()) {
    garbage_.collect();
    buffer = make();
  }
  // What is under way gives back the memory of its inputs and of what lies in between.
  while (full() && !flights_.empty()) {
    STOKER_TRY(wait_for_oldest());
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
  const EvaluationPlan plan{calls, later, wanted};
  STOKER_ASSIGN(const std::shared_ptr<CompiledPipeline> pipeline, pipeline_of(plan));
  std::size_t bytes = pipeline->plan().arena.bytes;
  for (const EvaluationPlan::Value& value : plan.values)
    if (value.external && value.written) bytes += value.spec.bytes();
  STOKER_TRY(wait_for_room(bytes));

  // Buffers of results belong to their values only once the run was accepted.
  BufferList bound;
  std::vector<std::pair<LazyPtr, LazyPtr>> results;  // the value, and its buffer's owner until then
  for (const EvaluationPlan::Value& value : plan.values) {
    if (!value.external) continue;
    if (!value.written) {
      bound.push_back(&value.lazy->buffer);
      continue;
    }
    auto owner = std::make_shared<LazyValue>(budget_, value.spec);
    STOKER_TRY(make_buffer(*owner, nullptr));
    bound.push_back(&owner->buffer);
    results.emplace_back(value.lazy, std::move(owner));
  }
  // Every evaluation writes new buffers, so what a pipeline keeps for a next run on the same ones
  // would only hold their memory.
  STOKER_ASSIGN(const CommandPtr command, pipeline->run(bound, {}, Keep::nothing));

  flights_.add({command, pipeline, told_calls(plan), bytes});
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
  flights_.settle(failures_);
  return {};
}

Result<std::shared_ptr<CompiledPipeline>> Evaluator::pipeline_of(const EvaluationPlan& plan) {
  const std::uint64_t compiled = pipelines_.compiled();
  auto pipeline = [&] {
    const Budget::Away away{budget_};
    return pipelines_.get(plan);
  }();
  // About as long as that many instructions.
  const std::uint64_t cost = 5000 + 1000 * plan.stages.size();
  if (pipelines_.compiled() != compiled && !budget_.spend(cost)) return budget_.why();
  return pipeline;
}

bool Evaluator::wait_until_ready(FutureCore& future) {
  future.observe();
  if (future.ready()) return true;
  const Budget::Away away{budget_};
  const bool ready = wait_unless_cancelled(future, budget_.cancel());
  budget_.begin_turn();
  return ready;
}

Result<void> Evaluator::wait_for_oldest() {
  // Its outcome is its readers' business, or that of finish().
  const CommandPtr oldest = flights_.oldest();
  if (!wait_until_ready(*oldest)) return cancelled();
  flights_.settle(failures_);
  return {};
}

Result<void> Evaluator::wait_for_room(std::size_t bytes) {
  while (flights_.full(bytes)) STOKER_TRY(wait_for_oldest());
  return {};
}

Result<void> Evaluator::wait_for(const CommandPtr& command) {
  if (!wait_until_ready(*command)) return cancelled();
  flights_.settle(failures_);
  if (command->result().has_error()) failures_.tell(command->result().error());
  return command->result();
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
  if (filled.poll()->has_error()) {
    failures_.tell(filled.poll()->error());
    return filled.poll()->error();
  }
  return std::move(target->memory);
}

Result<void> Evaluator::finish() {
  while (!flights_.empty()) STOKER_TRY(wait_for_oldest());
  if (auto failure = failures_.take_untold()) return *std::move(failure);
  return {};
}

Error Evaluator::cancelled() {
  static_cast<void>(budget_.spend(0));  // takes the cause over
  abandon(budget_.why());
  return budget_.why();
}

void Evaluator::abandon(const Error& why) { flights_.cancel(*device_, why); }

ScriptReport Evaluator::report() const {
  ScriptReport report = report_;
  report.pipelines_compiled = pipelines_.compiled();
  return report;
}

}  // namespace stoker::script
