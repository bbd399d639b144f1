#include "stoker/api/pipeline.hpp"

#include <algorithm>
#include <mutex>
#include <set>

#include "stoker/actors/device/device_client.hpp"
#include "stoker/pipeline/kernel_graph/compiled_pipeline.hpp"
#include "stoker/pipeline/kernel_graph/text_form.hpp"
#include "stoker/runtime/base/fork_guard.hpp"

namespace stoker {

namespace {

/// Names of values that are always the same buffer begin with this; nobody else's do.
constexpr std::string_view buffer_prefix = "buffer#";

void check_name(std::string_view name) {
  if (name.empty()) throw Error{"pipeline", ErrorCode::invalid_argument, "a value has no name"};
  if (name.starts_with(buffer_prefix))
    throw Error{"pipeline",
                ErrorCode::invalid_argument,
                "names that begin with '" + std::string{buffer_prefix} +
                    "' are those of buffers; pass the buffer itself",
                {{"value", std::string{name}}}};
}

}  // namespace

struct Pipeline::State {
  /// A graph ready to run: where each external stands by its name, and the buffer it always is, or
  /// an empty handle.
  struct Compiled {
    std::shared_ptr<CompiledPipeline> pipeline;
    std::map<std::string_view, std::size_t> places;
    std::vector<DeviceBuffer> fixed;
    [[nodiscard]] const std::string& name_of(std::size_t place) const {
      return pipeline->graph().values()[pipeline->externals()[place]].name;
    }
  };

  explicit State(std::shared_ptr<DeviceClient> client) : device{std::move(client)} {}

  std::shared_ptr<DeviceClient> device;
  KernelGraph graph;
  std::map<ValueId, Buffer> fixed;  ///< values that are always the same buffer
  std::set<std::string, std::less<>> outputs;
  const ForkGuard fork;  // in a child a thread of the parent may hold the lock: it compiles
  std::mutex mutex;
  std::shared_ptr<const Compiled> compiled;  ///< null after a change

  ValueId value_of(const PipelineValue& value) {
    if (const auto* name = std::get_if<std::string>(&value.get())) return graph.value(*name);
    const auto& buffer = std::get<Buffer>(value.get());
    std::string name{buffer_prefix};
    name += std::to_string(buffer.handle().state()->id);
    // A device that was opened again may give a buffer the number of a lost one.
    for (; const auto known = graph.find(name); name += '\'')
      if (fixed.at(*known) == buffer) return *known;
    const ValueId id = graph.external(name, buffer.spec()).value();
    fixed.emplace(id, buffer);
    return id;
  }

  void back_to(const KernelGraph::Mark& mark) noexcept {
    graph.back_to(mark);
    fixed.erase(fixed.lower_bound(static_cast<ValueId>(mark.values)), fixed.end());
  }

  void check(const PipelineValue& value) const {
    const auto* buffer = std::get_if<Buffer>(&value.get());
    if (!buffer) return check_name(std::get<std::string>(value.get()));
    if (!*buffer)
      throw Error{"pipeline", ErrorCode::invalid_argument, "an empty buffer handle was passed"};
    const std::shared_ptr<DeviceClient>& where = buffer->handle().device();
    if (where != device && where->is_lost())
      throw where->scheduler().lost()->with("buffer", std::to_string(buffer->handle().state()->id));
    if (where != device)
      throw Error{"pipeline",
                  ErrorCode::wrong_device,
                  "the buffer is on another device than the pipeline",
                  {{"buffer", where->info().name}, {"pipeline", device->info().name}}};
    if (buffer->released()) throw Error{"pipeline", ErrorCode::released, "the buffer was released"};
  }

  /// To the device as it was opened again, for which it is compiled anew.
  void follow_device() {
    if (!device->is_lost()) return;
    device = device->successor();
    compiled.reset();
  }

  /// The graph as it is now, ready to run. Outputs are exposed once their specs are known.
  std::shared_ptr<const Compiled> ready() {
    fork.check("pipeline").value();
    const std::scoped_lock lock{mutex};
    follow_device();
    if (compiled) return compiled;
    KernelGraph checked = graph;
    static_cast<void>(check_graph(checked).value());
    for (const std::string& name : outputs) checked.expose(*checked.find(name));
    auto made = std::make_shared<Compiled>();
    made->pipeline = CompiledPipeline::compile(std::move(checked), device).value();
    for (std::size_t i = 0; i < made->pipeline->externals().size(); ++i) {
      const auto found = fixed.find(made->pipeline->externals()[i]);
      made->fixed.push_back(found == fixed.end() ? DeviceBuffer{} : found->second.handle());
      if (found == fixed.end()) made->places.emplace(made->name_of(i), i);
    }
    compiled = made;
    return compiled;
  }
  std::shared_ptr<CompiledPipeline> plan() { return ready()->pipeline; }
};

Pipeline::Pipeline(std::shared_ptr<DeviceClient> device)
    : state_{std::make_shared<State>(std::move(device))} {
  if (!state_->device)
    throw Error{"pipeline", ErrorCode::invalid_argument, "an empty device handle was passed"};
  state_->device->actor().strand()->check_process("pipeline").value();
}

Pipeline& Pipeline::input(std::string_view name, const TensorSpec& spec) {
  state_->fork.check("pipeline").value();
  check_name(name);
  static_cast<void>(state_->graph.external(name, spec).value());
  state_->compiled.reset();
  return *this;
}

Pipeline& Pipeline::output(std::string_view name) {
  state_->fork.check("pipeline").value();
  const auto value = state_->graph.find(name);
  const bool written =
      value && std::ranges::any_of(state_->graph.stages(), [&](const GraphStage& stage) {
        return std::ranges::count(stage.outputs, *value) > 0;
      });
  if (!written)
    throw Error{"pipeline",
                ErrorCode::not_found,
                "no stage writes this value",
                {{"value", std::string{name}}}};
  state_->outputs.emplace(name);
  state_->compiled.reset();
  return *this;
}

Pipeline& Pipeline::add(std::string_view kernel, std::vector<PipelineValue> inputs,
                        PipelineValue output, const Params& params) {
  return add(PipelineStage{std::string{kernel}, std::move(inputs), {std::move(output)}, params});
}

Pipeline& Pipeline::add(const PipelineStage& stage) {
  state_->fork.check("pipeline").value();
  state_->follow_device();
  const auto kernel = state_->device->kernels().find(stage.kernel).value();
  for (const PipelineValue& value : stage.inputs) state_->check(value);
  for (const PipelineValue& value : stage.outputs) state_->check(value);
  const KernelGraph::Mark before = state_->graph.mark();
  try {
    std::vector<ValueId> inputs;
    std::vector<ValueId> outputs;
    for (const PipelineValue& value : stage.inputs) inputs.push_back(state_->value_of(value));
    for (const PipelineValue& value : stage.outputs) outputs.push_back(state_->value_of(value));
    state_->graph.add(kernel, std::move(inputs), std::move(outputs), stage.params).value();
  } catch (...) {
    state_->back_to(before);
    throw;
  }
  state_->compiled.reset();
  return *this;
}

Pipeline& Pipeline::add(std::string_view text) {
  StageText parsed = parse_stage(text).value();
  PipelineStage stage;
  stage.kernel = std::move(parsed.kernel);
  for (std::string& name : parsed.inputs) stage.inputs.emplace_back(std::move(name));
  for (std::string& name : parsed.outputs) stage.outputs.emplace_back(std::move(name));
  stage.params = std::move(parsed.params);
  return add(stage);
}

const Pipeline& Pipeline::compile() const {
  static_cast<void>(state_->plan());
  return *this;
}

Command Pipeline::run(const Bindings& bindings, const CommandOptions& options) const {
  const auto ready = state_->ready();
  BufferList buffers;
  for (const DeviceBuffer& fixed : ready->fixed) buffers.push_back(fixed ? &fixed : nullptr);
  for (const auto& [name, buffer] : bindings) {
    const auto place = ready->places.find(name);
    if (place == ready->places.end())
      throw Error{"pipeline",
                  ErrorCode::not_found,
                  "a buffer is bound to a value that is not an input or output",
                  {{"value", name}}};
    buffers[place->second] = &buffer.handle();
  }
  if (const auto missing = std::ranges::find(buffers, nullptr); missing != buffers.end())
    throw Error{"pipeline",
                ErrorCode::invalid_argument,
                "no buffer is bound to a value",
                {{"value", ready->name_of(static_cast<std::size_t>(missing - buffers.begin()))}}};
  return {ready->pipeline->run(buffers, options).value(), ready->pipeline->device()};
}

TensorSpec Pipeline::spec_of(std::string_view name) const {
  const auto plan = state_->plan();
  const auto value = plan->graph().find(name);
  if (!value)
    throw Error{
        "pipeline", ErrorCode::not_found, "no value of this name", {{"value", std::string{name}}}};
  return *plan->graph().values()[*value].spec;
}

std::pair<std::uint64_t, std::uint64_t> Pipeline::arena_bytes() const {
  const auto plan = state_->plan();
  return {plan->plan().arena.bytes, plan->plan().arena.unshared_bytes};
}

std::vector<std::string> Pipeline::order() const {
  const auto plan = state_->plan();
  std::vector<std::string> kernels;
  for (const PlannedStage& stage : plan->stages())
    kernels.push_back(plan->graph().stages()[stage.stage].kernel->name);
  return kernels;
}

std::size_t Pipeline::size() const noexcept { return state_->graph.stages().size(); }

std::size_t Pipeline::trim() const { return state_->plan()->trim().get(); }

}  // namespace stoker
