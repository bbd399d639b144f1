#include "stoker/api/onnx/run/model.hpp"

#include <algorithm>

#include "stoker/actors/device/device_client.hpp"
#include "stoker/api/onnx/run/bound_program.hpp"
#include "stoker/api/onnx/run/inputs.hpp"
#include "stoker/api/onnx/run/run.hpp"
#include "stoker/api/system.hpp"
#include "stoker/api/tensor/math/random.hpp"
#include "stoker/pipeline/onnx/reading/model_reader.hpp"
#include "stoker/runtime/base/nearest_name.hpp"
#include "stoker/runtime/process/process.hpp"

namespace stoker::onnx {
namespace {

/// What decides about shapes is small.
constexpr std::size_t most_deciding = 4096;
/// A walk goes into subgraphs and calls rules, which build graphs of tensors.
constexpr std::size_t walk_stack_bytes = std::size_t{1} << 20;

}  // namespace

struct Model::State {
  /// A run as it begins: its inputs are on the device.
  struct Start {
    Values inputs;
    std::vector<std::size_t> wanted;
    Tensor key;
    CommandOptions limits;
    bool reads = false;  ///< inputs must be read first
  };

  State(std::shared_ptr<const ModelFile> file, const OperatorTable& operators, Device where,
        const LoadOptions& options)
      : prepared{std::move(file), operators},
        device{std::move(where)},
        max_nodes{options.max_nodes},
        plans{options.max_plans} {
    if (options.operators) own_operators = operators;
  }

  /// Whether the host must read this input before the run.
  [[nodiscard]] bool is_read(std::size_t i, const Value& value) const {
    return value.is_lazy() && value.tensor().size() <= most_deciding &&
           prepared.decides(prepared.graph().inputs[i].name);
  }
  /// The positions of outputs by name; of all if no name is given.
  [[nodiscard]] std::vector<std::size_t> positions(const std::vector<std::string>& names) const {
    const std::vector<ValueInfo>& outputs = prepared.graph().outputs;
    std::vector<std::size_t> found;
    for (std::size_t i = 0; i < outputs.size(); ++i)
      if (names.empty() || std::ranges::find(names, outputs[i].name) != names.end())
        found.push_back(i);
    for (const std::string& name : names) {
      std::vector<std::string_view> known;
      known.reserve(outputs.size());
      for (const ValueInfo& output : outputs) known.push_back(output.name);
      if (std::ranges::find(known, name) != known.end()) continue;
      throw Error{"onnx.run",
                  ErrorCode::not_found,
                  "the model has no output '" + name + "'" + did_you_mean(name, known),
                  {{"output", name}}};
    }
    return found;
  }
  [[nodiscard]] NamedValues named(const std::vector<std::size_t>& wanted, Values values) const {
    NamedValues outputs;
    for (std::size_t i = 0; i < values.size(); ++i)
      outputs.insert_or_assign(prepared.graph().outputs[wanted[i]].name, std::move(values[i]));
    return outputs;
  }

  [[nodiscard]] Start start(const NamedValues& given, const RunOptions& options) const {
    Start made{.inputs = checked_inputs(prepared, given),
               .wanted = positions(options.outputs),
               .key = {},
               .limits = options.limits};
    const DeviceScope scope{device};
    for (std::size_t i = 0; i < made.inputs.size(); ++i) {
      Value& value = made.inputs[i];
      // What does not decide about shapes is no part of the signature.
      if (!prepared.decides(prepared.graph().inputs[i].name)) value = on_device(value);
      made.reads |= is_read(i, value);
      value = value.with_tensors([&](const Value::Cell& cell) { return cell.tensor.to(device); });
    }
    if (prepared.draws()) made.key = random::key(options.seed).eval();
    return made;
  }
  void read_inputs(Start& start) const {
    for (std::size_t i = 0; i < start.inputs.size(); ++i) {
      Value& value = start.inputs[i];
      if (is_read(i, value))
        value = Known{value.type(), value.shape(), value.tensor().to_bytes(start.limits)};
    }
  }
  [[nodiscard]] Run run_of(const Start& start, Plans& among) {
    return {prepared, constants, among, device, start.wanted, start.limits, max_nodes};
  }
  /// Calls `function` where it may wait, with a stack for walks.
  template <class F> [[nodiscard]] auto spawn(F&& function) const {
    return Process::spawn(device.client()->executor(), std::forward<F>(function),
                          {.stack_bytes = walk_stack_bytes, .name = "onnx.run"});
  }

  const Prepared prepared;
  std::optional<OperatorTable> own_operators;
  const Device device;
  const std::size_t max_nodes;
  Constants constants;
  Plans plans;
};

const std::vector<ValueInfo>& Model::inputs() const noexcept {
  return state_->prepared.graph().inputs;
}
const std::vector<ValueInfo>& Model::outputs() const noexcept {
  return state_->prepared.graph().outputs;
}
const Device& Model::device() const noexcept { return state_->device; }

Description Model::info() const {
  return describe(state_->prepared.file(),
                  state_->own_operators ? *state_->own_operators : OperatorTable::standard());
}

ModelStats Model::stats() const {
  return {state_->plans.counts(), state_->constants.device_bytes(), state_->plans.working_bytes()};
}

ModelMetadata Model::metadata() const { return metadata_of(state_->prepared.file()); }

Future<NamedValues> Model::run(const NamedValues& inputs, const RunOptions& options) const {
  State::Start start = state_->start(inputs, options);
  if (!start.reads) {
    const DeviceScope scope{state_->device};
    if (auto outputs = state_->run_of(start, state_->plans).at_once(start.inputs, start.key))
      return make_ready_future<NamedValues>(state_->named(start.wanted, std::move(*outputs)));
  }
  return state_->spawn([state = state_, start = std::move(start)]() mutable {
    state->read_inputs(start);
    return state->named(start.wanted, state->run_of(start, state->plans)(start.inputs, start.key));
  });
}

PlanDescription Model::plan(const NamedValues& inputs, const RunOptions& options) const {
  auto traced = [state = state_, start = state_->start(inputs, options)]() mutable {
    state->read_inputs(start);
    Plans none{0};
    PlanRecorder recorder{true};
    static_cast<void>(state->run_of(start, none).recorded(start.inputs, start.key, recorder));
    return recorder.plan();
  };
  return state_->spawn(std::move(traced)).get();
}

Binding Model::bind(const NamedValues& inputs, const NamedBuffers& outputs,
                    const RunOptions& options) const {
  std::vector<std::string> bound;
  for (const auto& [name, buffer] : outputs) bound.push_back(name);
  if (!bound.empty())
    static_cast<void>(state_->positions(bound));  // throws for one that is unknown
  auto made = [state = state_, start = state_->start(inputs, options), outputs]() mutable {
    state->read_inputs(start);
    Plans none{0};
    PlanRecorder recorder{false};
    Run run = state->run_of(start, none);
    static_cast<void>(run.recorded(start.inputs, start.key, recorder));
    if (const auto& cut = recorder.plan().segments.at(0).cut)
      throw Error{"onnx.bind",
                  ErrorCode::unsupported,
                  "the plan for these inputs is cut: " + cut->node + " reads what only a run knows",
                  {{"node", cut->node}}};
    std::vector<std::string> names;
    for (const std::size_t output : start.wanted)
      names.push_back(state->prepared.graph().outputs[output].name);
    return std::make_shared<const BoundProgram>(recorder.program(), *recorder.segment(),
                                                run.arguments(), names, outputs);
  };
  return Binding{state_->spawn(std::move(made)).get()};
}

void Model::warm_up(const NamedValues& inputs) const { static_cast<void>(run(inputs).get()); }

Model load(std::shared_ptr<const ModelFile> file, const LoadOptions& options) {
  const OperatorTable& operators =
      options.operators ? *options.operators : OperatorTable::standard();
  Device device = options.device ? options.device : current_device();
  return Model{
      std::make_shared<Model::State>(std::move(file), operators, std::move(device), options)};
}

Model load(const std::filesystem::path& path, const LoadOptions& options) {
  return load(std::make_shared<const ModelFile>(read_model(path).value()), options);
}

Future<Model> load(const System& system, std::filesystem::path path, const LoadOptions& options) {
  const auto operators =
      options.operators ? std::make_shared<const OperatorTable>(*options.operators) : nullptr;
  LoadOptions there = options;
  if (!there.device) there.device = current_device();
  return system.run_blocking([path = std::move(path), there = std::move(there), operators] {
    LoadOptions with_operators = there;
    with_operators.operators = operators.get();
    return load(path, with_operators);
  });
}

Model load(std::span<const std::byte> bytes, const LoadOptions& options) {
  const auto copy = std::make_shared<const std::vector<std::byte>>(bytes.begin(), bytes.end());
  return load(std::make_shared<const ModelFile>(read_model(*copy, {}, copy).value()), options);
}

}  // namespace stoker::onnx
