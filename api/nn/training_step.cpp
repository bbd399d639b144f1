#include "stoker/api/nn/training_step.hpp"

namespace stoker::nn {
namespace {

/// What the forward pass leaves: the scalar that is differentiated, and the layers' new states.
struct Passed {
  Tensor loss;
  Variables states;
};
template <class V> void visit_tensors(Passed& passed, V&& visitor) {
  visitor(passed.loss);
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

/// Of the network and its losses: values, so that traced functions may hold them.
struct Problem {
  Network network;
  std::vector<Loss> losses;
  std::set<std::string> frozen;

  [[nodiscard]] bool is_frozen(std::string_view variable) const {
    return frozen.contains(std::string{variable.substr(0, variable.find('.'))});
  }

  [[nodiscard]] Tensor total(const Tensors& targets, const Tensors& outputs) const {
    if (targets.size() != losses.size())
      throw Error{
          "train",
          ErrorCode::arity_mismatch,
          "expected " + std::to_string(losses.size()) + " targets, got " +
              std::to_string(targets.size()),
          {{"expected", std::to_string(losses.size())}, {"got", std::to_string(targets.size())}}};
    Tensor sum;
    for (std::size_t i = 0; i < losses.size(); ++i) {
      const Tensor one = losses[i].of(targets[i], outputs[i]);
      sum = sum.has_value() ? sum + one : one;
    }
    return sum;
  }

  [[nodiscard]] Passed pass(const Parameters& trained, const Variables& kept, const Tensor& key,
                            const Tensors& inputs, const Tensors& targets) const {
    Variables all = kept;
    for (const auto& [name, tensor] : trained) all.insert_or_assign(name, tensor);
    Network::Result result = network.forward(all, inputs, Mode::training, key);
    std::erase_if(result.states, [&](const auto& state) { return is_frozen(state.first); });
    return {total(targets, result.outputs), std::move(result.states)};
  }

  /// Value and gradients, in this order of arguments: what is differentiated by comes first.
  [[nodiscard]] std::pair<Passed, Parameters> differentiate(const Parameters& trained,
                                                            const Variables& kept,
                                                            const Tensor& key,
                                                            const Tensors& inputs,
                                                            const Tensors& targets) const {
    return value_and_grad([&](const Parameters& p) { return pass(p, kept, key, inputs, targets); },
                          [](const Passed& passed) { return passed.loss; })(trained);
  }
};

Next next_of(const Problem& problem, const Update& update, const Parameters& trained,
             const Variables& kept, const Slots& slots, const Tensor& key, const Tensors& inputs,
             const Tensors& targets) {
  const Tensor keys = random::split(key);
  auto [passed, gradients] = problem.differentiate(trained, kept, keys[Index{0}], inputs, targets);
  return {take_step(update, gradients, slots, trained), std::move(passed.states), keys[Index{1}],
          std::move(passed.loss)};
}

auto traced_step(Problem problem, Update update) {
  return jit([problem = std::move(problem), update = std::move(update)](
                 const Parameters& trained, const Variables& kept, const Slots& slots,
                 const Tensor& key, const Tensors& inputs, const Tensors& targets) {
    return next_of(problem, update, trained, kept, slots, key, inputs, targets);
  });
}

auto traced_gradients(Problem problem) {
  return jit([problem = std::move(problem)](const Parameters& trained, const Variables& kept,
                                            const Tensor& key, const Tensors& inputs,
                                            const Tensors& targets) {
    auto [passed, gradients] =
        problem.differentiate(trained, kept, random::split(key)[Index{0}], inputs, targets);
    return std::pair{passed.loss, gradients};
  });
}

auto traced_loss(Problem problem) {
  return jit([problem = std::move(problem)](const Variables& variables, const Tensors& inputs,
                                            const Tensors& targets) {
    return problem.total(targets,
                         problem.network.forward(variables, inputs, Mode::inference).outputs);
  });
}

}  // namespace

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
                           std::set<std::string> frozen) {
  for (const std::string& name : frozen) (void)network.layer(name);
  if (losses.size() != network.outputs().size())
    throw Error{"train",
                ErrorCode::arity_mismatch,
                "expected a loss for each of " + std::to_string(network.outputs().size()) +
                    " outputs, got " + std::to_string(losses.size()),
                {{"expected", std::to_string(network.outputs().size())},
                 {"got", std::to_string(losses.size())}}};
  Problem problem{std::move(network), std::move(losses), std::move(frozen)};
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
  if (state.trained.empty())
    throw Error{"train", ErrorCode::invalid_argument,
                "there is nothing to train: no parameters, or every layer is frozen"};
  state.slots = parts_->optimizer.update.init(state.trained);
  state.key = key;
  return state;
}

Tensor TrainingStep::run(TrainingState& state, const std::vector<Tensor>& inputs,
                         const std::vector<Tensor>& targets) const {
  Next next = parts_->step(state.trained, state.kept, state.slots, state.key, inputs, targets);
  state.trained = std::move(next.stepped.parameters);
  state.slots = std::move(next.stepped.slots);
  for (auto& [name, tensor] : next.states) state.kept.insert_or_assign(name, std::move(tensor));
  state.key = std::move(next.key);
  return std::move(next.loss);
}

TrainingStep::Gradients TrainingStep::gradients(const TrainingState& state,
                                                const std::vector<Tensor>& inputs,
                                                const std::vector<Tensor>& targets) const {
  auto [loss, gradients] = parts_->gradients(state.trained, state.kept, state.key, inputs, targets);
  return {std::move(loss), std::move(gradients)};
}

Tensor TrainingStep::loss(const Variables& variables, const std::vector<Tensor>& inputs,
                          const std::vector<Tensor>& targets) const {
  return parts_->loss(variables, inputs, targets);
}

const Network& TrainingStep::network() const noexcept { return parts_->problem.network; }
const std::set<std::string>& TrainingStep::frozen() const noexcept {
  return parts_->problem.frozen;
}

}  // namespace stoker::nn
