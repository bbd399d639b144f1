#include "stoker/api/train/model/model.hpp"

#include <algorithm>

#include "stoker/api/tensor/math/random.hpp"
#include "stoker/api/tensor/transforms/jit.hpp"
#include "stoker/api/tensor/views/slicing.hpp"
#include "stoker/api/train/model/inference.hpp"
#include "stoker/api/train/model/model_file.hpp"
#include "stoker/api/train/model/model_state.hpp"
#include "stoker/api/train/model/parameter_files.hpp"
#include "stoker/api/train/model/quantized_network.hpp"

namespace stoker::nn {

struct Model::Data {
  Data(Network its_network, ModelOptions its_options)
      : network{std::move(its_network)},
        options{std::move(its_options)},
        precision{stoker::nn::precision(options.precision)},
        inference{with_precision(network, precision)},
        device{options.device ? *options.device : current_device()},
        optimizer{optimizer_of(options)},
        state{device, options.seed, make_step(), first_variables()} {}

  [[nodiscard]] std::vector<Tensor> here(const std::vector<Tensor>& tensors) const;
  /// The same of inputs, of which optional ones may be without a value.
  [[nodiscard]] std::vector<Tensor> inputs_here(const std::vector<Tensor>& inputs) const;
  /// Puts these in the place of some variables or all: names and shapes were checked.
  void replace(const Variables& some);

  const Network network;
  const ModelOptions options;
  const Precision precision;
  const Inference inference;  ///< of the network as it is computed
  const Device device;
  const Optimizer optimizer;
  ModelState state;

 private:
  [[nodiscard]] ModelState::MakeStep make_step() const;
  [[nodiscard]] Variables first_variables() const;
};

ModelState::MakeStep Model::Data::make_step() const {
  return [running = inference.network(), losses = losses_of(options, network.outputs().size()),
          optimizer = optimizer,
          how = step_options_of(options, precision)](std::set<std::string> frozen) {
    return TrainingStep{running, losses, optimizer, std::move(frozen), how};
  };
}

Variables Model::Data::first_variables() const {
  const DeviceScope scope{device};
  const Tensor key = random::split(random::key(options.seed))[Index{0}];
  return stored(network, precision, network.initialize(key));
}

std::vector<Tensor> Model::Data::here(const std::vector<Tensor>& tensors) const {
  std::vector<Tensor> made;
  for (const Tensor& tensor : tensors) {
    if (!tensor.has_value())
      throw Error{"model", ErrorCode::invalid_argument, "a tensor without a value was given"};
    // What is traced has no device.
    made.push_back(stoker::detail::any_tracked({&tensor, 1}) ? tensor : tensor.to(device));
  }
  return made;
}

std::vector<Tensor> Model::Data::inputs_here(const std::vector<Tensor>& inputs) const {
  const std::vector<std::size_t> places = network.places_of(inputs.size());
  std::vector<Tensor> made;
  for (std::size_t i = 0; i < inputs.size(); ++i)
    made.push_back(inputs[i].has_value() || !network.inputs()[places[i]].optional
                       ? here({inputs[i]})[0]
                       : Tensor{});
  return made;
}

void Model::Data::replace(const Variables& some) {
  const DeviceScope scope{device};
  Variables here = moved(some, device);
  // Without a policy other dtypes than the declared ones are welcome.
  if (!precision.full) here = stored(network, precision, std::move(here));
  state.replace(std::move(here));
}

Model::Model(Network network, ModelOptions options)
    : data_{std::make_shared<Data>(std::move(network), std::move(options))} {}

const Network& Model::network() const noexcept { return data_->network; }
const ModelOptions& Model::options() const noexcept { return data_->options; }
Device Model::device() const { return data_->device; }

// --- predictions ---------------------------------------------------------------------------------

Tensor Model::predict(const Tensor& x, const CommandOptions& limits) const {
  return predict(std::vector<Tensor>{x}, limits).at(0);
}

std::vector<Tensor> Model::predict(const std::vector<Tensor>& inputs,
                                   const CommandOptions& limits) const {
  const DeviceScope scope{data_->device};
  const std::shared_ptr<const Variables> variables = data_->state.variables();
  return data_->inference.run(*variables, data_->inputs_here(inputs), limits);
}

Variables Model::predict_by_name(const Variables& inputs, const CommandOptions& limits) const {
  std::vector<Tensor> outputs = predict(network().in_order(inputs), limits);
  Variables named;
  for (std::size_t i = 0; i < outputs.size(); ++i)
    if (outputs[i].has_value())
      named.insert_or_assign(network().output_names()[i], std::move(outputs[i]));
  return named;
}

Tensor Model::apply(const Variables& variables, const Tensor& x) const {
  return apply(variables, std::vector<Tensor>{x}).at(0);
}

std::vector<Tensor> Model::apply(const Variables& variables,
                                 const std::vector<Tensor>& inputs) const {
  network().check(variables);
  const DeviceScope scope{data_->device};
  return data_->inference.apply(variables, inputs);
}

Tensor Model::compute_loss(const std::vector<Tensor>& predictions,
                           const std::vector<Tensor>& targets) const {
  const DeviceScope scope{data_->device};
  return data_->state.now().step.total(data_->here(predictions), data_->here(targets));
}

// --- steps ---------------------------------------------------------------------------------------

Tensor Model::train_step(const Batch& batch, const CommandOptions& limits) {
  const std::vector<Tensor> inputs = data_->inputs_here(batch.inputs);
  return data_->state.step(inputs, data_->here(batch.targets), limits);
}

TrainingStep::Gradients Model::compute_gradients(const Batch& batch) const {
  const std::vector<Tensor> inputs = data_->inputs_here(batch.inputs);
  const std::vector<Tensor> targets = data_->here(batch.targets);
  const auto [step, state] = data_->state.now();
  return step.gradients(state, inputs, targets);
}

double Model::evaluate(const Dataset& data, std::int64_t batch_size,
                       const CommandOptions& limits) const {
  return evaluate(data, {}, batch_size, limits).loss;
}

Evaluation Model::evaluate(const Dataset& data, const std::vector<MetricName>& metrics,
                           std::int64_t batch_size, const CommandOptions& limits) const {
  const DeviceScope scope{data_->device};
  const auto [step, state] = data_->state.now();
  return stoker::nn::evaluate(step, data_->inference, state.variables(), data, metrics, batch_size,
                              limits);
}

StepProfile Model::profile_step(const Batch& batch, int runs) const {
  const DeviceScope scope{data_->device};
  const std::vector<Tensor> inputs = data_->inputs_here(batch.inputs);
  const std::vector<Tensor> targets = data_->here(batch.targets);
  const auto [step, state] = data_->state.now();
  return stoker::nn::profile_step(step, state, inputs, targets, runs);
}

StepMemory Model::step_memory(const Batch& batch) const {
  const std::vector<Tensor> inputs = data_->inputs_here(batch.inputs);
  const std::vector<Tensor> targets = data_->here(batch.targets);
  const auto [step, state] = data_->state.now();
  return stoker::nn::step_memory(step, state, inputs, targets);
}

std::string Model::trace_step(const Batch& batch) const {
  const std::vector<Tensor> inputs = data_->inputs_here(batch.inputs);
  const std::vector<Tensor> targets = data_->here(batch.targets);
  const auto [step, state] = data_->state.now();
  return step.text(state, inputs, targets) + step.plan(state, inputs, targets);
}

Timing Model::benchmark(const std::vector<Tensor>& inputs, int warmup, int runs) const {
  return time_of([&] { return predict(inputs); }, warmup, runs);
}

// --- what changes --------------------------------------------------------------------------------

Variables Model::variables() const { return *data_->state.variables(); }

Variables Model::variables(Part part) const {
  const auto [step, state] = data_->state.now();
  return part_of(state.variables(), part, network(), step.frozen());
}

void Model::update_variables(Variables variables) {
  network().check(variables);
  data_->replace(variables);
}

void Model::merge_variables(const Variables& some) {
  Variables all = variables();
  for (const auto& [name, tensor] : some) all.insert_or_assign(name, tensor);
  network().check(all);
  data_->replace(some);
}

void Model::freeze(const std::vector<std::string>& layers) {
  for (const std::string& name : layers) (void)network().layer(name);
  data_->state.choose_frozen([&](std::set<std::string> frozen) {
    frozen.insert(layers.begin(), layers.end());
    const bool some_left = std::ranges::any_of(network().layers(), [&](const LayerInfo& layer) {
      return layer.parameters() > 0 && !frozen.contains(layer.name);
    });
    if (!some_left)
      throw Error{"freeze", ErrorCode::invalid_argument,
                  "there would be nothing to train: every layer with parameters is frozen"};
    return frozen;
  });
}

void Model::freeze(const std::function<bool(const LayerInfo&)>& which) {
  std::vector<std::string> layers;
  for (const LayerInfo& layer : network().layers())
    if (which(layer)) layers.push_back(layer.name);
  freeze(layers);
}

void Model::unfreeze(const std::vector<std::string>& layers) {
  for (const std::string& name : layers) (void)network().layer(name);
  data_->state.choose_frozen([&](std::set<std::string> frozen) {
    for (const std::string& name : layers) frozen.erase(name);
    return frozen;
  });
}

std::set<std::string> Model::frozen() const { return data_->state.frozen(); }

void Model::set_learning_rate_scale(double scale) { data_->state.set_learning_rate_scale(scale); }

double Model::learning_rate_scale() const {
  return stoker::nn::learning_rate_scale(state().slots).item<double>();
}

double Model::loss_scale() const {
  const Tensor scale = loss_scale_of(state().slots);
  return scale.has_value() ? scale.item<double>() : 1;
}

std::int64_t Model::skipped_steps() const {
  const Tensor skipped = skipped_steps_of(state().slots);
  return skipped.has_value() ? skipped.item<std::int64_t>() : 0;
}

TrainingState Model::state() const { return data_->state.state(); }

void Model::restore(TrainingState state) {
  network().check(state.variables());
  data_->state.restore(std::move(state));
}

// --- other models --------------------------------------------------------------------------------

Model Model::compile(ModelOptions options) const {
  data_->state.check_fork();
  if (!options.device) options.device = device();
  Model made{network(), std::move(options)};
  const auto [step, state] = data_->state.now();
  made.data_->replace(stored(network(), made.data_->precision, state.variables()));
  made.data_->state.choose_frozen([&, &step = step](const auto&) { return step.frozen(); });
  return made;
}

QuantizedModel Model::quantize(DType to) const {
  const DeviceScope scope{device()};
  const auto [step, state] = data_->state.now();
  QuantizedNetwork made = quantized(network(), state.variables(), to);
  ModelOptions options = data_->options;
  options.device = device();
  if (made.precision) {
    options.precision = *made.precision;
    options.loss_scale = loss_scales::Identity{};
  }
  Model model{std::move(made.network), std::move(options)};
  model.data_->replace(made.variables);
  model.data_->state.choose_frozen([&, &step = step](const auto&) { return step.frozen(); });
  return {std::move(model), std::move(made.quantized), std::move(made.left)};
}

Model Model::clone() const { return to_device(data_->device, true); }

Model Model::to_device(const Device& device) const { return to_device(device, false); }

Model Model::to_device(const Device& device, bool always) const {
  data_->state.check_fork();
  if (!always && device == data_->device) return *this;
  ModelOptions options = data_->options;
  options.device = device;
  Model made{network(), std::move(options)};
  const DeviceScope scope{device};
  const auto [step, now] = data_->state.now();
  made.data_->state.choose_frozen([&, &step = step](const auto&) { return step.frozen(); });
  made.data_->state.restore(moved(now, device));
  return made;
}

// --- for people and files ------------------------------------------------------------------------

ModelInfo Model::info() const {
  const auto [step, state] = data_->state.now();
  ModelInfo info = info_of(network(), options(), data_->optimizer, state, step.frozen());
  info.device = data_->device.name();
  return info;
}

std::string Model::summary() const {
  const auto [step, state] = data_->state.now();
  return summary_of(network(), state.variables(), step.frozen());
}

void Model::save(const std::filesystem::path& path,
                 const std::map<std::string, std::string>& more) const {
  const auto [step, state] = data_->state.now();
  write_model(path, {network(), options(), step.frozen(), state}, more);
}

Model Model::load(const std::filesystem::path& path, std::optional<Device> device,
                  Schedule schedule) {
  std::optional<DeviceScope> scope;
  if (device) scope.emplace(*device);
  const ModelFile file{path};
  file.check_schedule(static_cast<bool>(schedule));
  ModelOptions options = file.options();
  options.device = device;
  options.schedule = std::move(schedule);
  Model made{file.network(), std::move(options)};
  // Also all of them: whoever saved the model had it so.
  if (!file.frozen().empty())
    made.data_->state.choose_frozen([&](const auto&) { return file.frozen(); });
  const DeviceScope there{made.device()};
  made.restore(file.state(made.state()));
  return made;
}

void Model::export_params(const std::filesystem::path& path) const {
  stoker::nn::export_params(variables(), path);
}

void Model::import_params(const std::filesystem::path& path) {
  const DeviceScope scope{device()};
  data_->replace(stoker::nn::import_params(variables(), path));
}

std::vector<std::byte> Model::serialize_params() const {
  return stoker::nn::serialize_params(variables());
}

void Model::deserialize_params(std::span<const std::byte> bytes) {
  const DeviceScope scope{device()};
  data_->replace(stoker::nn::deserialize_params(variables(), bytes));
}

}  // namespace stoker::nn
