#include "stoker/api/train/model/model.hpp"

#include <algorithm>

#include "stoker/actors/device/device_client.hpp"
#include "stoker/api/tensor/math/random.hpp"
#include "stoker/api/tensor/views/slicing.hpp"
#include "stoker/api/train/model/model_data.hpp"

namespace stoker::nn {
namespace {

std::vector<Loss> losses_of(const Network& network, const ModelOptions& options) {
  std::vector<Loss> made;
  for (const LossName& one : options.losses) made.push_back(loss(one));
  if (made.empty()) made.assign(network.outputs().size(), loss(options.loss));
  return made;
}

/// The most of what is the same in two sets of slots: all that belongs to no parameter, or to one
/// that is still trained.
Slots carried_over(const Slots& before, Slots now) {
  for (auto& [name, tensor] : now)
    if (const auto known = before.find(name);
        known != before.end() && known->second.spec() == tensor.spec())
      tensor = known->second;
  return now;
}

}  // namespace

Variables moved(const Variables& variables, const Device& device) {
  Variables made;
  for (const auto& [name, tensor] : variables) made.emplace(name, tensor.to(device));
  return made;
}

LossScaleName loss_scale_of(const ModelOptions& options, const Precision& precision) {
  if (!options.loss_scale.empty()) return options.loss_scale;
  if (precision.compute == DType::f16) return loss_scales::Dynamic{};
  return loss_scales::Identity{};
}

Optimizer optimizer_of(const ModelOptions& options) {
  OptimizerName wanted = options.optimizer;
  if (options.schedule && (options.learning_rate || wanted.options.find("learning_rate")))
    throw Error{
        "model",
        ErrorCode::invalid_parameter,
        "learning_rate: expected none beside a schedule, which says what it is at each step",
        {{"parameter", "learning_rate"}}};
  if (options.learning_rate) wanted.options.set("learning_rate", *options.learning_rate);
  const TrainingOptions training{.accumulate_gradients = options.accumulate_gradients,
                                 .weight_decay = options.weight_decay,
                                 .clip_norm = options.clip_norm,
                                 .clip_value = options.clip_value,
                                 .schedule = options.schedule};
  check("model", training);
  return training_optimizer(wanted, training);
}

Model::Data::Data(Network its_network, ModelOptions its_options)
    : network{std::move(its_network)},
      options{std::move(its_options)},
      precision{stoker::nn::precision(options.precision)},
      running{with_precision(network, precision)},
      device{options.device ? *options.device : current_device()},
      losses{losses_of(network, options)},
      optimizer{optimizer_of(options)},
      step{step_without({})} {
  const DeviceScope scope{device};
  const Tensor keys = random::split(random::key(options.seed));
  state =
      step.begin(stored(network, precision, network.initialize(keys[Index{0}])), keys[Index{1}]);
  // On this device, whoever asks for them first.
  std::vector<Tensor> all{state.key};
  for (const auto* tensors : {&state.trained, &state.slots})
    for (const auto& [name, tensor] : *tensors) all.push_back(tensor);
  for (const auto& [name, tensor] : state.kept) all.push_back(tensor);
  eval(all);
}

std::unique_lock<std::mutex> Model::Data::lock() const {
  fork.check("model").value();
  return std::unique_lock{mutex};
}

Model::Data::Now Model::Data::now() const {
  const auto locked = lock();
  return {step, state};
}

std::vector<Tensor> Model::Data::here(const std::vector<Tensor>& tensors) const {
  std::vector<Tensor> made;
  for (const Tensor& tensor : tensors) {
    if (!tensor.has_value())
      throw Error{"model", ErrorCode::invalid_argument, "a tensor without a value was given"};
    made.push_back(tensor.to(device));
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

TrainingStep Model::Data::step_without(std::set<std::string> frozen) const {
  if (options.checkpoints < 0)
    throw Error{"model",
                ErrorCode::invalid_parameter,
                "checkpoints: expected 0 or more, got " + std::to_string(options.checkpoints),
                {{"parameter", "checkpoints"}}};
  return TrainingStep{running,
                      losses,
                      optimizer,
                      std::move(frozen),
                      {.loss_weights = options.loss_weights,
                       .loss_scale = loss_scale_of(options, precision),
                       .pieces = static_cast<std::size_t>(options.checkpoints)}};
}

void Model::Data::set_frozen(std::set<std::string> frozen) {
  const DeviceScope scope{device};
  TrainingStep next = step_without(std::move(frozen));
  TrainingState begun = next.begin(state.variables(), state.key);
  begun.slots = carried_over(state.slots, std::move(begun.slots));
  step = std::move(next);
  state = std::move(begun);
}

void Model::Data::choose_frozen(std::set<std::string> frozen) {
  const bool some_left = std::ranges::any_of(network.layers(), [&](const LayerInfo& layer) {
    return layer.parameters() > 0 && !frozen.contains(layer.name);
  });
  if (!some_left)
    throw Error{"freeze", ErrorCode::invalid_argument,
                "there would be nothing to train: every layer with parameters is frozen"};
  set_frozen(std::move(frozen));
}

Tensor Model::Data::usable_key() const {
  if (!state.key.buffer().handle().device()->is_lost()) return state.key;
  return random::split(random::key(options.seed))[Index{1}];
}

void Model::Data::replace(const Variables& some) {
  const DeviceScope scope{device};
  Variables here = moved(some, device);
  // Without a policy other dtypes than the declared ones are welcome.
  if (!precision.full) here = stored(network, precision, std::move(here));
  const auto locked = lock();
  here.merge(state.variables());  // those that were not given
  state = step.begin(here, usable_key());
}

Model::Model(Network network, ModelOptions options)
    : data_{std::make_shared<Data>(std::move(network), std::move(options))} {}

const Network& Model::network() const noexcept { return data_->network; }
const ModelOptions& Model::options() const noexcept { return data_->options; }
Device Model::device() const { return data_->device; }

Tensor Model::predict(const Tensor& x) const { return predict(std::vector<Tensor>{x}).at(0); }

std::vector<Tensor> Model::predict(const std::vector<Tensor>& inputs) const {
  const DeviceScope scope{data_->device};
  return data_->running.forward(variables(), data_->inputs_here(inputs)).outputs;
}

Variables Model::predict_by_name(const Variables& inputs) const {
  std::vector<Tensor> outputs = predict(network().in_order(inputs));
  Variables named;
  for (std::size_t i = 0; i < outputs.size(); ++i)
    if (outputs[i].has_value())
      named.insert_or_assign(network().output_names()[i], std::move(outputs[i]));
  return named;
}

Tensor Model::compute_loss(const std::vector<Tensor>& predictions,
                           const std::vector<Tensor>& targets) const {
  const DeviceScope scope{data_->device};
  return data_->now().step.total(data_->here(predictions), data_->here(targets));
}

Tensor Model::train_step(const Batch& batch, const CommandOptions& limits) {
  const std::vector<Tensor> inputs = data_->inputs_here(batch.inputs);
  const std::vector<Tensor> targets = data_->here(batch.targets);
  const auto locked = data_->lock();
  return data_->step.run(data_->state, inputs, targets, limits);
}

TrainingStep::Gradients Model::compute_gradients(const Batch& batch) const {
  const std::vector<Tensor> inputs = data_->inputs_here(batch.inputs);
  const std::vector<Tensor> targets = data_->here(batch.targets);
  const auto locked = data_->lock();
  return data_->step.gradients(data_->state, inputs, targets);
}

void Model::set_learning_rate_scale(double scale) {
  const DeviceScope scope{data_->device};
  const auto locked = data_->lock();
  data_->state.slots = with_learning_rate_scale(data_->state.slots, scale);
}

double Model::learning_rate_scale() const {
  const TrainingState now = state();
  return stoker::nn::learning_rate_scale(now.slots).item<double>();
}

double Model::loss_scale() const {
  const Tensor scale = loss_scale_of(state().slots);
  return scale.has_value() ? scale.item<double>() : 1;
}

std::int64_t Model::skipped_steps() const {
  const Tensor skipped = skipped_steps_of(state().slots);
  return skipped.has_value() ? skipped.item<std::int64_t>() : 0;
}

Model Model::compile(ModelOptions options) const {
  data_->fork.check("model").value();
  if (!options.device) options.device = device();
  Model made{network(), std::move(options)};
  const auto [step, state] = data_->now();
  made.data_->replace(stored(network(), made.data_->precision, state.variables()));
  const auto locked = made.data_->lock();
  made.data_->set_frozen(step.frozen());
  return made;
}

Model Model::clone() const { return to_device(data_->device, true); }

Model Model::to_device(const Device& device) const { return to_device(device, false); }

Model Model::to_device(const Device& device, bool always) const {
  data_->fork.check("model").value();
  if (!always && device == data_->device) return *this;
  ModelOptions options = data_->options;
  options.device = device;
  Model made{network(), std::move(options)};
  const DeviceScope scope{device};
  auto [step, now] = data_->now();
  const auto locked = made.data_->lock();
  made.data_->set_frozen(step.frozen());
  const auto move_all = [&](auto& tensors) {
    for (auto& [name, tensor] : tensors) tensor = tensor.to(device);
  };
  move_all(now.trained);
  move_all(now.kept);
  move_all(now.slots);
  now.key = now.key.to(device);
  made.data_->state = std::move(now);
  return made;
}

TrainingState Model::state() const {
  const auto locked = data_->lock();
  return data_->state;
}

void Model::restore(TrainingState state) {
  network().check(state.variables());
  const auto locked = data_->lock();
  data_->state = std::move(state);
}

}  // namespace stoker::nn
