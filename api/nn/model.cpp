#include "stoker/api/nn/model.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <numeric>

#include "stoker/api/nn/model_data.hpp"

namespace stoker::nn {
namespace {

std::vector<Loss> losses_of(const Network& network, const ModelOptions& options) {
  std::vector<Loss> made;
  for (const Named& one : options.losses) made.push_back(loss(one));
  if (made.empty()) made.assign(network.outputs().size(), loss(options.loss));
  return made;
}

Variables moved(const Variables& variables, const Device& device) {
  Variables made;
  for (const auto& [name, tensor] : variables) made.emplace(name, tensor.to(device));
  return made;
}

template <class F> double milliseconds(const F& run) {
  const auto begin = std::chrono::steady_clock::now();
  run();
  return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - begin)
      .count();
}

void wait_for(std::span<const Tensor> tensors) {
  eval(tensors);
  for (const Tensor& tensor : tensors) tensor.computed().get();
}

double median(std::vector<double> values) {
  std::ranges::sort(values);
  const std::size_t half = values.size() / 2;
  return values.size() % 2 == 1 ? values[half] : (values[half - 1] + values[half]) / 2;
}

/// The most of what is the same in two sets of slots: all that belongs to no parameter, or to one that is
/// still trained.
Slots carried_over(const Slots& before, Slots now) {
  for (auto& [name, tensor] : now)
    if (const auto known = before.find(name);
        known != before.end() && known->second.spec() == tensor.spec())
      tensor = known->second;
  return now;
}

}  // namespace

Optimizer optimizer_of(const ModelOptions& options) {
  Named wanted = options.optimizer;
  if (options.learning_rate) wanted.options.set("learning_rate", *options.learning_rate);
  return training_optimizer(wanted, {.accumulate_gradients = options.accumulate_gradients,
                                     .weight_decay = options.weight_decay,
                                     .clip_norm = options.clip_norm,
                                     .clip_value = options.clip_value,
                                     .schedule = options.schedule});
}

Model::Data::Data(Network its_network, ModelOptions its_options)
    : network{std::move(its_network)},
      options{std::move(its_options)},
      device{options.device ? *options.device : current_device()},
      losses{losses_of(network, options)},
      optimizer{optimizer_of(options)},
      step{step_without({})} {
  const DeviceScope scope{device};
  const Tensor keys = random::split(random::key(options.seed));
  state = step.begin(network.initialize(keys[Index{0}]), keys[Index{1}]);
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

TrainingStep Model::Data::step_without(std::set<std::string> frozen) const {
  return TrainingStep{network, losses, optimizer, std::move(frozen)};
}

void Model::Data::set_frozen(std::set<std::string> frozen) {
  const DeviceScope scope{device};
  TrainingStep next = step_without(std::move(frozen));
  TrainingState begun = next.begin(state.variables(), state.key);
  begun.slots = carried_over(state.slots, std::move(begun.slots));
  step = std::move(next);
  state = std::move(begun);
}

Model::Model(Network network, ModelOptions options)
    : data_{std::make_shared<Data>(std::move(network), std::move(options))} {}

const Network& Model::network() const noexcept { return data_->network; }
const ModelOptions& Model::options() const noexcept { return data_->options; }
Device Model::device() const { return data_->device; }

Tensor Model::predict(const Tensor& x) const { return predict(std::vector<Tensor>{x}).at(0); }

std::vector<Tensor> Model::predict(const std::vector<Tensor>& inputs) const {
  const DeviceScope scope{data_->device};
  return network().forward(variables(), data_->here(inputs)).outputs;
}

Tensor Model::train_step(const Batch& batch) {
  const std::vector<Tensor> inputs = data_->here(batch.inputs);
  const std::vector<Tensor> targets = data_->here(batch.targets);
  const std::scoped_lock lock{data_->mutex};
  return data_->step.run(data_->state, inputs, targets);
}

TrainingStep::Gradients Model::compute_gradients(const Batch& batch) const {
  const std::vector<Tensor> inputs = data_->here(batch.inputs);
  const std::vector<Tensor> targets = data_->here(batch.targets);
  const std::scoped_lock lock{data_->mutex};
  return data_->step.gradients(data_->state, inputs, targets);
}

double Model::evaluate(const Dataset& data, std::int64_t batch_size) const {
  return evaluate(data, {}, batch_size).loss;
}

Evaluation Model::evaluate(const Dataset& data, const std::vector<Named>& metrics,
                           std::int64_t batch_size) const {
  const DeviceScope scope{data_->device};
  std::vector<MetricTotal> totals;
  for (const Named& one : metrics) totals.emplace_back(metric(one));
  std::optional<TrainingStep> step;
  Variables variables;
  {
    const std::scoped_lock lock{data_->mutex};
    step = data_->step;
    variables = data_->state.variables();
  }
  // Of one batch: the loss, then the counts of each metric.
  struct Part {
    std::vector<Tensor> values;
    std::vector<std::size_t> counts;
    std::int64_t rows;
  };
  const Loader loader{data, {.batch_size = batch_size, .shuffle = false, .seed = 0}};
  std::vector<Part> parts;
  for (const Batch& batch : loader.epoch(0)) {
    Part part{{step->loss(variables, batch.inputs, batch.targets)}, {}, batch.rows};
    if (!totals.empty()) {
      const Tensor prediction = network().forward(variables, batch.inputs).outputs[0];
      for (const MetricTotal& total : totals) {
        const auto counts = total.metric().counts(batch.targets[0], prediction);
        part.counts.push_back(counts.size());
        part.values.insert(part.values.end(), counts.begin(), counts.end());
      }
    }
    eval(part.values);
    parts.push_back(std::move(part));
  }
  Evaluation found;
  for (const Part& part : parts) {
    found.loss += part.values[0].item<double>() * static_cast<double>(part.rows);
    std::size_t at = 1;
    for (std::size_t i = 0; i < totals.size(); ++i) {
      std::vector<double> counts;
      for (std::size_t k = 0; k < part.counts[i]; ++k)
        counts.push_back(part.values[at++].item<double>());
      totals[i].add(counts);
    }
  }
  found.loss /= static_cast<double>(data.size());
  for (std::size_t i = 0; i < totals.size(); ++i)
    found.metrics.emplace(metrics[i].text(), totals[i].value());
  return found;
}

StepProfile Model::profile_step(const Batch& batch, int runs) const {
  const DeviceScope scope{data_->device};
  const std::vector<Tensor> inputs = data_->here(batch.inputs);
  const std::vector<Tensor> targets = data_->here(batch.targets);
  std::optional<TrainingStep> step;
  TrainingState state;
  {
    const std::scoped_lock lock{data_->mutex};
    step = data_->step;
    state = data_->state;
  }
  const Variables variables = state.variables();
  StepProfile profile;
  std::vector<double> forward;
  std::vector<double> gradients;
  std::vector<double> total;
  for (int run = -1; run < std::max(runs, 1); ++run) {  // the first one compiles
    Tensor loss;
    const double f = milliseconds([&] {
      loss = step->loss(variables, inputs, targets);
      wait_for(std::array{loss});
    });
    const double g = milliseconds([&] {
      const TrainingStep::Gradients made = step->gradients(state, inputs, targets);
      std::vector<Tensor> all{made.loss};
      for (const auto& [name, tensor] : made.gradients) all.push_back(tensor);
      wait_for(all);
    });
    const double t = milliseconds([&] {
      TrainingState next = state;
      std::vector<Tensor> all{step->run(next, inputs, targets)};
      for (const auto& [name, tensor] : next.trained) all.push_back(tensor);
      wait_for(all);
    });
    if (run < 0) continue;
    forward.push_back(f);
    gradients.push_back(g);
    total.push_back(t);
    profile.loss = loss.item<double>();
  }
  profile.forward = median(forward);
  profile.backward = std::max(0.0, median(gradients) - profile.forward);
  profile.total = median(total);
  profile.optimizer = std::max(0.0, profile.total - median(gradients));
  return profile;
}

Timing Model::benchmark(const std::vector<Tensor>& inputs, int warmup, int runs) const {
  if (runs < 1 || warmup < 0)
    throw Error{"benchmark", ErrorCode::invalid_argument,
                "expected at least one run, and no negative number of them before"};
  const auto once = [&] { wait_for(predict(inputs)); };
  for (int i = 0; i < warmup; ++i) once();
  std::vector<double> times;
  for (int i = 0; i < runs; ++i) times.push_back(milliseconds(once));
  Timing timing{.runs = runs};
  timing.average = std::accumulate(times.begin(), times.end(), 0.0) / runs;
  timing.least = std::ranges::min(times);
  timing.most = std::ranges::max(times);
  timing.median = median(times);
  for (const double one : times)
    timing.deviation += (one - timing.average) * (one - timing.average) / runs;
  timing.deviation = std::sqrt(timing.deviation);
  return timing;
}

Variables Model::variables() const {
  const std::scoped_lock lock{data_->mutex};
  return data_->state.variables();
}

void Model::update_variables(Variables variables) {
  network().check(variables);
  const DeviceScope scope{data_->device};
  variables = moved(variables, data_->device);
  const std::scoped_lock lock{data_->mutex};
  data_->state = data_->step.begin(variables, data_->state.key);
}

void Model::freeze(const std::vector<std::string>& layers) {
  for (const std::string& name : layers) (void)network().layer(name);
  const std::scoped_lock lock{data_->mutex};
  std::set<std::string> frozen = data_->step.frozen();
  frozen.insert(layers.begin(), layers.end());
  data_->set_frozen(std::move(frozen));
}

void Model::unfreeze(const std::vector<std::string>& layers) {
  for (const std::string& name : layers) (void)network().layer(name);
  const std::scoped_lock lock{data_->mutex};
  std::set<std::string> frozen = data_->step.frozen();
  for (const std::string& name : layers) frozen.erase(name);
  data_->set_frozen(std::move(frozen));
}

std::set<std::string> Model::frozen() const {
  const std::scoped_lock lock{data_->mutex};
  return data_->step.frozen();
}

void Model::set_learning_rate_scale(double scale) {
  const DeviceScope scope{data_->device};
  const std::scoped_lock lock{data_->mutex};
  data_->state.slots = with_learning_rate_scale(data_->state.slots, scale);
}

double Model::learning_rate_scale() const {
  const TrainingState now = state();
  return stoker::nn::learning_rate_scale(now.slots).item<double>();
}

Model Model::clone() const { return to_device(data_->device, true); }

Model Model::to_device(const Device& device) const { return to_device(device, false); }

Model Model::to_device(const Device& device, bool always) const {
  if (!always && device == data_->device) return *this;
  ModelOptions options = data_->options;
  options.device = device;
  Model made{network(), std::move(options)};
  const DeviceScope scope{device};
  TrainingState now = state();
  const std::scoped_lock lock{made.data_->mutex};
  made.data_->set_frozen(frozen());
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
  const std::scoped_lock lock{data_->mutex};
  return data_->state;
}

void Model::restore(TrainingState state) {
  network().check(state.variables());
  const std::scoped_lock lock{data_->mutex};
  data_->state = std::move(state);
}

}  // namespace stoker::nn
