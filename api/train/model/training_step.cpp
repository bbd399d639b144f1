#include "stoker/api/train/model/training_step.hpp"

#include "stoker/api/tensor/core/creation.hpp"
#include "stoker/api/tensor/math/random.hpp"
#include "stoker/api/tensor/transforms/grad.hpp"
#include "stoker/api/tensor/transforms/jit.hpp"
#include "stoker/api/tensor/views/slicing.hpp"

namespace stoker::nn {
namespace {

constexpr std::string_view scale_prefix = "loss_scale.";
constexpr const char* skipped_slot = "loss_scale.skipped";

/// What the forward pass leaves: the loss, the scalar that is differentiated, the layers' new
/// states.
struct Passed {
  Tensor loss;
  Tensor scaled;
  Variables states;
};
template <class V> void visit_tensors(Passed& passed, V&& visitor) {
  visitor(passed.loss);
  visitor(passed.scaled);
  visitor(passed.states);
}

struct Next {
  Stepped stepped;
  Variables states;
  Tensor key;
  Tensor loss;
};
template <class V> void visit_tensors(Next& next, V&& visitor) {
  visitor(next.stepped);
  visitor(next.states);
  visitor(next.key);
  visitor(next.loss);
}

using Tensors = std::vector<Tensor>;

/// The scale's own names for what lies among the slots.
LossScaleState scale_state(const Slots& slots) {
  LossScaleState state;
  for (const auto& [name, tensor] : slots)
    if (name.starts_with(scale_prefix) && name != skipped_slot)
      state.emplace(name.substr(scale_prefix.size()), tensor);
  return state;
}

void put_scale(const LossScaleState& state, Slots& slots) {
  for (const auto& [name, tensor] : state)
    slots.insert_or_assign(std::string{scale_prefix} + name, tensor);
}

Tensor slot_or_none(const Slots& slots, const std::string& name) {
  const auto found = slots.find(name);
  return found == slots.end() ? Tensor{} : found->second;
}

/// Of the network and its losses: values, so that traced functions may hold them. Inputs come by name: which
/// of the optional ones are there is a part of what was traced.
struct Problem {
  Network network;
  std::vector<Loss> losses;
  std::set<std::string> frozen;
  std::vector<double> weights;
  LossScale scaling;
  std::size_t pieces;

  [[nodiscard]] bool is_frozen(std::string_view variable) const {
    return frozen.contains(std::string{variable.substr(0, variable.find('.'))});
  }

  [[nodiscard]] Tensor total(const Tensors& targets, const Tensors& outputs) const {
    for (std::size_t i = 0; i < outputs.size(); ++i)
      if (!outputs[i].has_value())
        throw Error{"train",
                    ErrorCode::invalid_argument,
                    "output '" + network.output_names()[i] +
                        "' is missing, since an optional input was not given",
                    {{"output", network.output_names()[i]}}};
    if (targets.size() != losses.size())
      throw Error{
          "train",
          ErrorCode::arity_mismatch,
          "expected " + std::to_string(losses.size()) + " targets, got " +
              std::to_string(targets.size()),
          {{"expected", std::to_string(losses.size())}, {"got", std::to_string(targets.size())}}};
    Tensor sum;
    for (std::size_t i = 0; i < losses.size(); ++i) {
      Tensor one = losses[i].of(targets[i], outputs[i]);
      if (!weights.empty()) one = one * weights[i];
      sum = sum.has_value() ? sum + one : one;
    }
    return sum;
  }

  [[nodiscard]] Passed pass(const Parameters& trained, const Variables& kept,
                            const LossScaleState& scale, const Tensor& key, const Variables& inputs,
                            const Tensors& targets) const {
    Variables all = kept;
    for (const auto& [name, tensor] : trained) all.insert_or_assign(name, tensor);
    Network::Result result = network.forward_in_pieces(
        pieces, frozen, all, network.in_order(inputs), Mode::training, key);
    std::erase_if(result.states, [&](const auto& state) { return is_frozen(state.first); });
    const Tensor loss = total(targets, result.outputs);
    return {loss, scaling.scale(loss, scale), std::move(result.states)};
  }

  /// Value and gradients, in this order of arguments: what is differentiated by comes first.
  [[nodiscard]] std::pair<Passed, Parameters> differentiate(
      const Parameters& trained, const Variables& kept, const LossScaleState& scale,
      const Tensor& key, const Variables& inputs, const Tensors& targets) const {
    return value_and_grad(
        [&](const Parameters& p) { return pass(p, kept, scale, key, inputs, targets); },
        [](const Passed& passed) { return passed.scaled; })(trained);
  }
};

Next next_of(const Problem& problem, const Update& update, const Parameters& trained,
             const Variables& kept, const Slots& slots, const Tensor& key, const Variables& inputs,
             const Tensors& targets) {
  const Tensor keys = random::split(key);
  const LossScaleState scale = scale_state(slots);
  auto [passed, gradients] =
      problem.differentiate(trained, kept, scale, keys[Index{0}], inputs, targets);
  if (scale.empty())
    return {take_step(update, gradients, slots, trained), std::move(passed.states), keys[Index{1}],
            std::move(passed.loss)};
  const Unscaled unscaled = problem.scaling.unscale(gradients, scale);
  const Stepped stepped = take_step(update, unscaled.gradients, slots, trained);
  Variables before;
  for (const auto& [name, state] : passed.states) before.emplace(name, kept.at(name));
  Next next{{where_finite(unscaled.finite, stepped.parameters, trained),
             where_finite(unscaled.finite, stepped.slots, slots)},
            where_finite(unscaled.finite, passed.states, before),
            keys[Index{1}],
            std::move(passed.loss)};
  put_scale(unscaled.state, next.stepped.slots);
  const Tensor& skipped = slots.at(skipped_slot);
  next.stepped.slots.insert_or_assign(skipped_slot, select(unscaled.finite, skipped, skipped + 1));
  return next;
}

auto traced_step(Problem problem, Update update) {
  return jit([problem = std::move(problem), update = std::move(update)](
                 const Parameters& trained, const Variables& kept, const Slots& slots,
                 const Tensor& key, const Variables& inputs, const Tensors& targets) {
    return next_of(problem, update, trained, kept, slots, key, inputs, targets);
  });
}

auto traced_gradients(Problem problem) {
  return jit([problem = std::move(problem)](const Parameters& trained, const Variables& kept,
                                            const LossScaleState& scale, const Tensor& key,
                                            const Variables& inputs, const Tensors& targets) {
    auto [passed, gradients] =
        problem.differentiate(trained, kept, scale, random::split(key)[Index{0}], inputs, targets);
    if (!scale.empty()) gradients = problem.scaling.unscale(gradients, scale).gradients;
    return std::pair{passed.loss, gradients};
  });
}

auto traced_loss(Problem problem) {
  return jit([problem = std::move(problem)](const Variables& variables, const Variables& inputs,
                                            const Tensors& targets) {
    return problem.total(
        targets,
        problem.network.forward(variables, problem.network.in_order(inputs), Mode::inference)
            .outputs);
  });
}

void check_trainable(const TrainingState& state) {
  if (state.trained.empty())
    throw Error{"train", ErrorCode::invalid_argument,
                "there is nothing to train: no parameters, or every layer is frozen"};
}

}  // namespace

Tensor loss_scale_of(const Slots& slots) { return slot_or_none(slots, "loss_scale.scale"); }
Tensor skipped_steps_of(const Slots& slots) { return slot_or_none(slots, skipped_slot); }

struct TrainingStep::Parts {
  Problem problem;
  Optimizer optimizer;
  decltype(traced_step(problem, optimizer.update)) step;
  decltype(traced_gradients(problem)) gradients;
  decltype(traced_loss(problem)) loss;
};

Variables TrainingState::variables() const {
  Variables all = kept;
  for (const auto& [name, tensor] : trained) all.insert_or_assign(name, tensor);
  return all;
}

TrainingStep::TrainingStep(Network network, std::vector<Loss> losses, Optimizer optimizer,
                           std::set<std::string> frozen, const StepOptions& options) {
  for (const std::string& name : frozen) (void)network.layer(name);
  const auto check_count = [](const char* what, std::size_t expected, std::size_t got) {
    if (expected == got) return;
    throw Error{"train",
                ErrorCode::arity_mismatch,
                "expected a " + std::string{what} + " for each of " + std::to_string(expected) +
                    " outputs, got " + std::to_string(got),
                {{"expected", std::to_string(expected)}, {"got", std::to_string(got)}}};
  };
  check_count("loss", network.outputs().size(), losses.size());
  if (!options.loss_weights.empty())
    check_count("weight", losses.size(), options.loss_weights.size());
  Problem problem{std::move(network),
                  std::move(losses),
                  std::move(frozen),
                  options.loss_weights,
                  stoker::nn::loss_scale(options.loss_scale),
                  options.pieces};
  auto step = traced_step(problem, optimizer.update);
  auto gradients = traced_gradients(problem);
  auto loss = traced_loss(problem);
  parts_ =
      std::make_shared<const Parts>(Parts{std::move(problem), std::move(optimizer), std::move(step),
                                          std::move(gradients), std::move(loss)});
}

TrainingState TrainingStep::begin(const Variables& variables, const Tensor& key) const {
  network().check(variables);
  TrainingState state;
  for (const auto& [name, tensor] : variables) {
    if (network().is_parameter(name) && !parts_->problem.is_frozen(name))
      state.trained.emplace(name, tensor);
    else
      state.kept.emplace(name, tensor);
  }
  state.slots = parts_->optimizer.update.init(state.trained);
  const LossScaleState scale = parts_->problem.scaling.init();
  put_scale(scale, state.slots);
  if (!scale.empty()) state.slots.emplace(skipped_slot, zeros({}, DType::s32));
  state.key = key;
  return state;
}

Tensor TrainingStep::run(TrainingState& state, const std::vector<Tensor>& inputs,
                         const std::vector<Tensor>& targets, const CommandOptions& limits) const {
  check_trainable(state);
  Next next = parts_->step.with(limits)(state.trained, state.kept, state.slots, state.key,
                                        network().by_name(inputs), targets);
  state.trained = std::move(next.stepped.parameters);
  state.slots = std::move(next.stepped.slots);
  for (auto& [name, tensor] : next.states) state.kept.insert_or_assign(name, std::move(tensor));
  state.key = std::move(next.key);
  return std::move(next.loss);
}

TrainingStep::Gradients TrainingStep::gradients(const TrainingState& state,
                                                const std::vector<Tensor>& inputs,
                                                const std::vector<Tensor>& targets) const {
  check_trainable(state);
  auto [loss, gradients] = parts_->gradients(state.trained, state.kept, scale_state(state.slots),
                                             state.key, network().by_name(inputs), targets);
  return {std::move(loss), std::move(gradients)};
}

Tensor TrainingStep::loss(const Variables& variables, const std::vector<Tensor>& inputs,
                          const std::vector<Tensor>& targets, const CommandOptions& limits) const {
  return parts_->loss.with(limits)(variables, network().by_name(inputs), targets);
}

Tensor TrainingStep::total(const std::vector<Tensor>& predictions,
                           const std::vector<Tensor>& targets) const {
  if (predictions.size() != network().outputs().size())
    throw Error{"train",
                ErrorCode::arity_mismatch,
                "expected " + std::to_string(network().outputs().size()) + " predictions, got " +
                    std::to_string(predictions.size()),
                {{"expected", std::to_string(network().outputs().size())},
                 {"got", std::to_string(predictions.size())}}};
  return parts_->problem.total(targets, predictions);
}

std::uint64_t TrainingStep::working_bytes(const TrainingState& state,
                                          const std::vector<Tensor>& inputs,
                                          const std::vector<Tensor>& targets) const {
  check_trainable(state);
  return parts_->step.working_bytes(state.trained, state.kept, state.slots, state.key,
                                    network().by_name(inputs), targets);
}

std::string TrainingStep::text(const TrainingState& state, const std::vector<Tensor>& inputs,
                               const std::vector<Tensor>& targets) const {
  check_trainable(state);
  return parts_->step.text(state.trained, state.kept, state.slots, state.key,
                           network().by_name(inputs), targets);
}

std::string TrainingStep::plan(const TrainingState& state, const std::vector<Tensor>& inputs,
                               const std::vector<Tensor>& targets) const {
  check_trainable(state);
  return parts_->step.plan(state.trained, state.kept, state.slots, state.key,
                           network().by_name(inputs), targets);
}

const Network& TrainingStep::network() const noexcept { return parts_->problem.network; }
const std::set<std::string>& TrainingStep::frozen() const noexcept {
  return parts_->problem.frozen;
}

}  // namespace stoker::nn
