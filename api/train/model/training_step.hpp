// One step of training as one program: forward, backward and optimizer.
//
//     TrainingStep step{network, {loss(losses::CrossEntropy{})}, optimizer(optimizers::Adam{}), {}};
//     TrainingState state = step.begin(network.initialize(random::key(0)), random::key(1));
//     Tensor loss = step.run(state, {x}, {y});          // started; `state` is the next one
//
// The first step with batches of certain shapes is traced and compiled; later ones are only
// started. No call blocks: the loss is a tensor like any other, and steps may be started before
// earlier results are known.
//
// Frozen layers have no gradients and no slots, and their states do not change.
//
// Losses may be scaled (loss_scale.hpp). The scale is the slot "loss_scale.scale", so it is saved
// with the others. A step with a non-finite gradient changes only the scale, the key, and
// "loss_scale.skipped", which counts such steps. Returned losses and gradients are unscaled.
//
// A network without parameters supports only loss().
//
// Threads: const calls from any; the state is the caller's. Errors are thrown at the call: those of
// networks, losses and optimizers. A call that throws has not changed the state.
#pragma once

#include <memory>
#include <set>

#include "stoker/api/nn/functional/loss.hpp"
#include "stoker/api/nn/graph/network.hpp"
#include "stoker/api/train/optim/loss_scale.hpp"
#include "stoker/api/train/optim/optimizer.hpp"

namespace stoker::nn {

/// All that a step changes.
struct TrainingState {
  Parameters trained;  ///< "layer.variable" of layers that are not frozen
  Variables kept;      ///< states, and all variables of frozen layers
  Slots slots;
  Tensor key;  ///< random key for the next step

  /// All variables of the network.
  [[nodiscard]] Variables variables() const;
};

/// The loss scale and the number of skipped steps, as scalars; empty tensors without loss scaling.
[[nodiscard]] Tensor loss_scale_of(const Slots& slots);
[[nodiscard]] Tensor skipped_steps_of(const Slots& slots);

/// Options of a step.
struct StepOptions {
  std::vector<double> loss_weights = {};  ///< one for each loss; none: 1
  LossScaleName loss_scale = loss_scales::Identity{};
  /// Pieces of the forward pass for gradient checkpointing: see Network::forward_in_pieces().
  std::size_t pieces = 0;
};

class TrainingStep {
 public:
  /// Minimizes the sum of the losses, one for each output. Throws not_found for an unknown frozen
  /// layer, arity_mismatch for a wrong number of losses or weights.
  TrainingStep(Network network, std::vector<Loss> losses, Optimizer optimizer,
               std::set<std::string> frozen, const StepOptions& options = {});

  /// The state before the first step. Throws the errors of Network::check() for the variables.
  [[nodiscard]] TrainingState begin(const Variables& variables, const Tensor& key) const;
  /// Starts a step and returns the loss before it. Throws invalid_argument if there is nothing to
  /// train. If `limits` end the step, the loss and the new state fail.
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

  /// The total loss of these predictions, as in a step.
  [[nodiscard]] Tensor total(const std::vector<Tensor>& predictions,
                             const std::vector<Tensor>& targets) const;
  /// Bytes of device memory that a step needs besides the batch and the state.
  [[nodiscard]] std::uint64_t working_bytes(const TrainingState& state,
                                            const std::vector<Tensor>& inputs,
                                            const std::vector<Tensor>& targets) const;
  /// Text with the operations of such a step, and with the kernels of its program.
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
