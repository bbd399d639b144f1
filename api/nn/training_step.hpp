// One step of training as one program: forward, backward and optimizer.
//
//     TrainingStep step{network, {loss("cross_entropy")}, optimizer("adam"), {}};
//     TrainingState state = step.begin(network.initialize(random::key(0)), random::key(1));
//     Tensor loss = step.run(state, {x}, {y});          // started; `state` is the next one
//
// The first step with batches of some shapes is traced and compiled, later ones only started. Nothing is
// waited for: the loss is a tensor like any other, and steps may be asked for ahead of their results.
//
// Layers that are frozen have no gradients and no slots, and their states stay as they are.
//
// Threads: const calls from any; the state is the caller's. Errors are thrown at the call: what networks,
// losses and optimizers throw. A state is changed only if nothing was thrown.
#pragma once

#include <memory>
#include <set>

#include "stoker/api/nn/loss.hpp"
#include "stoker/api/nn/network.hpp"
#include "stoker/api/nn/optimizer.hpp"

namespace stoker::nn {

/// What a step changes.
struct TrainingState {
  Parameters trained;  ///< "layer.variable" of layers that are not frozen
  Variables kept;      ///< states, and all variables of frozen layers
  Slots slots;
  Tensor key;  ///< of what layers draw in the next step

  /// All variables of the network.
  [[nodiscard]] Variables variables() const;
};

class TrainingStep {
 public:
  /// One loss for each output, whose sum is made smaller. Throws not_found for a frozen layer that the
  /// network does not have, arity_mismatch for another number of losses.
  TrainingStep(Network network, std::vector<Loss> losses, Optimizer optimizer,
               std::set<std::string> frozen);

  /// Before the first step. The variables are checked against the network.
  [[nodiscard]] TrainingState begin(const Variables& variables, const Tensor& key) const;
  /// Starts a step; its loss, before the step.
  Tensor run(TrainingState& state, const std::vector<Tensor>& inputs,
             const std::vector<Tensor>& targets) const;

  struct Gradients {
    Tensor loss;
    Parameters gradients;
  };
  [[nodiscard]] Gradients gradients(const TrainingState& state, const std::vector<Tensor>& inputs,
                                    const std::vector<Tensor>& targets) const;
  /// The loss in inference mode.
  [[nodiscard]] Tensor loss(const Variables& variables, const std::vector<Tensor>& inputs,
                            const std::vector<Tensor>& targets) const;

  [[nodiscard]] const Network& network() const noexcept;
  [[nodiscard]] const std::set<std::string>& frozen() const noexcept;

 private:
  struct Parts;
  std::shared_ptr<const Parts> parts_;
};

}  // namespace stoker::nn
