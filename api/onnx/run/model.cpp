#include "stoker/api/onnx/run/model.hpp"

#include <algorithm>

#include "stoker/actors/device/device_client.hpp"
#include "stoker/api/onnx/run/inputs.hpp"
#include "stoker/api/onnx/run/run.hpp"
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
  State(std::shared_ptr<const ModelFile> file, const OperatorTable& operators, Device where,
        const LoadOptions& options)
      : prepared{std::move(file), operators},
        device{std::move(where)},
        max_nodes{options.max_nodes},
        plans{options.max_plans} {}

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

  const Prepared prepared;
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
PlanCounts Model::stats() const { return state_->plans.counts(); }

ModelMetadata Model::metadata() const {
  const ModelFile& file = state_->prepared.file();
  return {.producer_name = file.producer_name,
          .producer_version = file.producer_version,
          .domain = file.domain,
          .doc = file.doc,
          .ir_version = file.ir_version,
          .model_version = file.model_version,
          .opsets = file.opsets,
          .properties = file.metadata};
}

Future<NamedValues> Model::run(const NamedValues& inputs, const RunOptions& options) const {
  Values values = checked_inputs(state_->prepared, inputs);
  const std::vector<std::size_t> wanted = state_->positions(options.outputs);
  bool reads = false;
  const DeviceScope scope{state_->device};
  for (std::size_t i = 0; i < values.size(); ++i) {
    // What does not decide about shapes is no part of the signature.
    if (!state_->prepared.decides(state_->prepared.graph().inputs[i].name))
      values[i] = on_device(values[i]);
    reads |= state_->is_read(i, values[i]);
    values[i] = values[i].with_tensors(
        [&](const Value::Cell& cell) { return cell.tensor.to(state_->device); });
  }
  Tensor key;
  if (state_->prepared.draws()) key = random::key(options.seed).eval();
  if (!reads) {
    Run run{state_->prepared, state_->constants, state_->plans,    state_->device,
            wanted,           options.limits,    state_->max_nodes};
    if (auto outputs = run.at_once(values, key))
      return make_ready_future<NamedValues>(state_->named(wanted, std::move(*outputs)));
  }
  return Process::spawn(
      state_->device.client()->executor(),
      [state = state_, values = std::move(values), wanted, key, limits = options.limits]() mutable {
        for (std::size_t i = 0; i < values.size(); ++i)
          if (state->is_read(i, values[i]))
            values[i] =
                Known{values[i].type(), values[i].shape(), values[i].tensor().to_bytes(limits)};
        Run run{state->prepared, state->constants, state->plans,    state->device,
                wanted,          limits,           state->max_nodes};
        return state->named(wanted, run(values, key));
      },
      {.stack_bytes = walk_stack_bytes, .name = "onnx.run"});
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

Model load(std::span<const std::byte> bytes, const LoadOptions& options) {
  const auto copy = std::make_shared<const std::vector<std::byte>>(bytes.begin(), bytes.end());
  return load(std::make_shared<const ModelFile>(read_model(*copy, {}, copy).value()), options);
}

}  // namespace stoker::onnx
