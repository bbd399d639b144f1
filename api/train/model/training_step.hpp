// One step of training as one program: forward, backward and optimizer.
//
//     TrainingStep step{network, {loss(losses::CrossEntropy{})}, optimizer(optimizers::Adam{}), {}};
//     TrainingState state = step.begin(network.initialize(random::key(0)), random::key(1));
//     Tensor loss = step.run(state, {x}, {y});          // started; `state` is the next one
//
// The first step with batches of some shapes is traced and compiled, later ones only started.
// Nothing is waited for: the loss is a tensor like any other, and steps may be asked for ahead of
// their results.
//
// Layers that are frozen have no gradients and no slots, and their states stay as they are.
//
// Losses may be scaled (loss_scale.hpp): the scale is a slot, "loss_scale.scale", so it is saved
// with the others. A step in which a gradient is not finite changes nothing but the scale, the key,
// and "loss_scale.skipped", which counts such steps. Losses and gradients that are given back are
// not scaled.
//
// A network without parameters can be asked for losses only.
//
// Threads: const calls from any; the state is the caller's. Errors are thrown at the call: what
// networks, losses and optimizers throw. A state is changed only if nothing was thrown.
#pragma once

#include <memory>
#include <set>

#include "stoker/api/nn/functional/loss.hpp"
#include "stoker/api/nn/graph/network.hpp"
#include "stoker/api/train/optim/loss_scale.hpp"
#include "stoker/api/train/optim/optimizer.hpp"

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

/// What losses are multiplied by, and how many steps did not count: scalars; no value where slots
/// are of a step without scaling.
[[nodiscard]] Tensor loss_scale_of(const Slots& slots);
[[nodiscard]] Tensor skipped_steps_of(const Slots& slots);

/// How a step goes about it.
struct StepOptions {
  std::vector<double> loss_weights = {};  ///< one for each loss; none: 1
  LossScaleName loss_scale = loss_scales::Identity{};
  /// Of the forward pass, computed again for the gradients: Network::forward_in_pieces().
  std::size_t pieces = 0;
};

class TrainingStep {
 public:
  /// One loss for each output, whose sum is made smaller. Throws not_found for a frozen layer that
  /// the network does not have, arity_mismatch for another number of losses or weights.
  TrainingStep(Network network, std::vector<Loss> losses, Optimizer optimizer,
               std::set<std::string> frozen, const StepOptions& options = {});

  /// Before the first step. The variables are checked against the network.
  [[nodiscard]] TrainingState begin(const Variables& variables, const Tensor& key) const;
  /// Starts a step; its loss, before the step. Throws invalid_argument if there is nothing to
  /// train. A step that `limits` end fails, and with it the loss and the state that it made.
  Tensor run(TrainingState& state, const std::vector<Tensor>& inputs,
             const std::vector<Tensor>& targets, const CommandOptions& limits = {}) const;

  struct Gradients {
    Tensor loss;
    Parameters gradients;
  };
  [[nodiscard]] Gradients gradients(const TrainingState& state, const std::vector<Tensor>& inputs,
                                    const std::vector<Tensor>& targets) const;
  /// The loss in inference mode.
  [[nodiscard]] Tensor loss(const Variables& variables, const std::vector<Tensor>& inputs,
                            const std::vector<Tensor>& targets,
                            const CommandOptions& limits = {}) const;

  /// The losses of these predictions as a step adds them up.
  [[nodiscard]] Tensor total(const std::vector<Tensor>& predictions,
                             const std::vector<Tensor>& targets) const;
  /// The device memory that a step on such a batch takes beside the batch and the state.
  [[nodiscard]] std::uint64_t working_bytes(const TrainingState& state,
                                            const std::vector<Tensor>& inputs,
                                            const std::vector<Tensor>& targets) const;
  /// For people: the operations of such a step, and the kernels that they come to.
  [[nodiscard]] std::string text(const TrainingState& state, const std::vector<Tensor>& inputs,
                                 const std::vector<Tensor>& targets) const;
  [[nodiscard]] std::string plan(const TrainingState& state, const std::vector<Tensor>& inputs,
                                 const std::vector<Tensor>& targets) const;

  [[nodiscard]] const Network& network() const noexcept;
  [[nodiscard]] const std::set<std::string>& frozen() const noexcept;

 private:
  struct Parts;
  std::shared_ptr<const Parts> parts_;
};

}  // namespace stoker::nn
