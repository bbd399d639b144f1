#include "stoker/api/train/model/step_costs.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <numeric>

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

StepMemory step_memory(const TrainingStep& step, const TrainingState& state,
                       const std::vector<Tensor>& inputs, const std::vector<Tensor>& targets) {
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

StepProfile profile_step(const TrainingStep& step, const TrainingState& state,
                         const std::vector<Tensor>& inputs, const std::vector<Tensor>& targets,
                         int runs) {
  const Variables variables = state.variables();
  StepProfile profile;
  std::vector<double> forward;
  std::vector<double> gradients;
  std::vector<double> total;
  for (int run = -1; run < std::max(runs, 1); ++run) {  // the first one compiles
    Tensor loss;
    const double f = milliseconds([&] {
      loss = step.loss(variables, inputs, targets);
      wait_for(std::array{loss});
    });
    const double g = milliseconds([&] {
      const TrainingStep::Gradients made = step.gradients(state, inputs, targets);
      std::vector<Tensor> all{made.loss};
      for (const auto& [name, tensor] : made.gradients) all.push_back(tensor);
      wait_for(all);
    });
    const double t = milliseconds([&] {
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
  profile.memory = step_memory(step, state, inputs, targets);
  profile.forward = median(forward);
  profile.backward = std::max(0.0, median(gradients) - profile.forward);
  profile.total = median(total);
  profile.optimizer = std::max(0.0, profile.total - median(gradients));
  return profile;
}

Timing time_of(const std::function<std::vector<Tensor>()>& run, int warmup, int runs) {
  if (runs < 1 || warmup < 0)
    throw Error{"benchmark", ErrorCode::invalid_argument,
                "expected at least one run, and no negative number of them before"};
  const auto once = [&] {
    std::vector<Tensor> outputs = run();
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
