// What a model is worth, and what it costs.
#include <algorithm>
#include <chrono>
#include <cmath>
#include <numeric>

#include "stoker/api/nn/graph/errors_as.hpp"
#include "stoker/api/train/model/model_data.hpp"

namespace stoker::nn {
namespace {

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

}  // namespace

double Model::evaluate(const Dataset& data, std::int64_t batch_size,
                       const CommandOptions& limits) const {
  return evaluate(data, {}, batch_size, limits).loss;
}

Evaluation Model::evaluate(const Dataset& data, const std::vector<MetricName>& metrics,
                           std::int64_t batch_size, const CommandOptions& limits) const {
  const DeviceScope scope{data_->device};
  std::vector<MetricTotal> totals;
  for (const MetricName& one : metrics) totals.emplace_back(metric(one));
  const auto [step, state] = data_->now();
  const Variables variables = state.variables();
  // Of one batch: the loss, then the counts of each metric.
  struct Found {
    std::vector<Tensor> values;
    std::vector<std::size_t> counts;
    std::int64_t rows;
  };
  const Loader loader = errors_as("evaluate", [&] {
    return Loader{data, {.batch_size = batch_size, .shuffle = false, .seed = 0}};
  });
  std::vector<Found> parts;
  for (const Batch& batch : loader.epoch(0)) {
    limits.cancel.check().value();
    Found part{{step.loss(variables, batch.inputs, batch.targets, limits)}, {}, batch.rows};
    if (!totals.empty()) {
      const Tensor prediction = data_->running.forward(variables, batch.inputs).outputs[0];
      for (const MetricTotal& total : totals) {
        const auto counts = total.metric().counts(batch.targets[0], prediction);
        part.counts.push_back(counts.size());
        part.values.insert(part.values.end(), counts.begin(), counts.end());
      }
    }
    eval(part.values, limits);
    parts.push_back(std::move(part));
  }
  Evaluation found;
  for (const Found& part : parts) {
    found.loss += part.values[0].item<double>(limits) * static_cast<double>(part.rows);
    std::size_t at = 1;
    for (std::size_t i = 0; i < totals.size(); ++i) {
      std::vector<double> counts;
      for (std::size_t k = 0; k < part.counts[i]; ++k)
        counts.push_back(part.values[at++].item<double>(limits));
      totals[i].add(counts);
    }
  }
  found.loss /= static_cast<double>(data.size());
  for (std::size_t i = 0; i < totals.size(); ++i)
    found.metrics.emplace(metrics[i].text(), totals[i].value());
  return found;
}

StepMemory Model::step_memory(const Batch& batch) const {
  const std::vector<Tensor> inputs = data_->inputs_here(batch.inputs);
  const std::vector<Tensor> targets = data_->here(batch.targets);
  const auto [step, state] = data_->now();
  const auto bytes_of = [](const auto& tensors) {
    std::uint64_t bytes = 0;
    for (const auto& [name, tensor] : tensors) bytes += tensor.bytes();
    return bytes;
  };
  StepMemory memory{.working = step.working_bytes(state, inputs, targets),
                    .variables = bytes_of(state.trained) + bytes_of(state.kept),
                    .optimizer = bytes_of(state.slots)};
  for (const Tensor& tensor : inputs)
    if (tensor.has_value()) memory.batch += tensor.bytes();
  for (const Tensor& tensor : targets) memory.batch += tensor.bytes();
  return memory;
}

std::string Model::trace_step(const Batch& batch) const {
  const std::vector<Tensor> inputs = data_->inputs_here(batch.inputs);
  const std::vector<Tensor> targets = data_->here(batch.targets);
  const auto [step, state] = data_->now();
  return step.text(state, inputs, targets) + step.plan(state, inputs, targets);
}

StepProfile Model::profile_step(const Batch& batch, int runs) const {
  const DeviceScope scope{data_->device};
  const std::vector<Tensor> inputs = data_->inputs_here(batch.inputs);
  const std::vector<Tensor> targets = data_->here(batch.targets);
  const auto [step, state] = data_->now();
  const Variables variables = state.variables();
  StepProfile profile;
  std::vector<double> forward;
  std::vector<double> gradients;
  std::vector<double> total;
  for (int run = -1; run < std::max(runs, 1); ++run) {  // the first one compiles
    Tensor loss;
    const double f = milliseconds([&, &step = step] {
      loss = step.loss(variables, inputs, targets);
      wait_for(std::array{loss});
    });
    const double g = milliseconds([&, &step = step, &state = state] {
      const TrainingStep::Gradients made = step.gradients(state, inputs, targets);
      std::vector<Tensor> all{made.loss};
      for (const auto& [name, tensor] : made.gradients) all.push_back(tensor);
      wait_for(all);
    });
    const double t = milliseconds([&, &step = step, &state = state] {
      TrainingState next = state;
      std::vector<Tensor> all{step.run(next, inputs, targets)};
      for (const auto& [name, tensor] : next.trained) all.push_back(tensor);
      wait_for(all);
    });
    if (run < 0) continue;
    forward.push_back(f);
    gradients.push_back(g);
    total.push_back(t);
    profile.loss = loss.item<double>();
  }
  profile.memory = step_memory(batch);
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
  const auto once = [&] {
    std::vector<Tensor> outputs = predict(inputs);
    std::erase_if(outputs, [](const Tensor& output) { return !output.has_value(); });
    wait_for(outputs);
  };
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

}  // namespace stoker::nn
