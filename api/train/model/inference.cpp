#include "stoker/api/train/model/inference.hpp"

#include "stoker/api/tensor/core/host_calls.hpp"
#include "stoker/api/tensor/transforms/jit.hpp"

namespace stoker::nn {
namespace {

/// Outputs by their places: those that are missing are not among them.
using Outputs = std::map<std::size_t, Tensor>;

std::vector<Tensor> forward(const Network& network, const Variables& variables,
                            std::span<const Tensor> inputs) {
  return network.forward(variables, inputs, Mode::inference).outputs;
}

/// Inputs come by name: which of the optional ones are there is a part of what was traced.
auto traced(const Network& network) {
  return jit([network](const Variables& variables, const Variables& inputs) {
    std::vector<Tensor> made = forward(network, variables, network.in_order(inputs));
    Outputs outputs;
    for (std::size_t i = 0; i < made.size(); ++i)
      if (made[i].has_value()) outputs.emplace(i, std::move(made[i]));
    return outputs;
  });
}

}  // namespace

struct Inference::State {
  explicit State(Network its_network) : network{std::move(its_network)}, program{traced(network)} {}
  const Network network;
  const decltype(traced(network)) program;
};

Inference::Inference(Network network) : state_{std::make_shared<const State>(std::move(network))} {}

const Network& Inference::network() const noexcept { return state_->network; }

std::vector<Tensor> Inference::apply(const Variables& variables,
                                     const std::vector<Tensor>& inputs) const {
  return forward(network(), variables, inputs);
}

std::vector<Tensor> Inference::run(const Variables& variables, const std::vector<Tensor>& inputs,
                                   const CommandOptions& limits) const {
  if (HookScope::is_active()) return apply(variables, inputs);
  const Outputs outputs = state_->program.with(limits)(variables, network().by_name(inputs));
  std::vector<Tensor> all(network().outputs().size());
  for (const auto& [place, output] : outputs) all[place] = output;
  return all;
}

std::size_t Inference::programs() const { return state_->program.programs(); }

}  // namespace stoker::nn
