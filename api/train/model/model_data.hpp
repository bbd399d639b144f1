// What a model holds, for the sources of Model.
#pragma once

#include <mutex>

#include "stoker/api/train/model/model.hpp"
#include "stoker/runtime/base/fork_guard.hpp"

namespace stoker::nn {

struct Model::Data {
  Data(Network its_network, ModelOptions its_options);

  /// What there is at this moment.
  struct Now {
    TrainingStep step;
    TrainingState state;
  };
  [[nodiscard]] Now now() const;
  /// Of step and state. Throws forked_process in a child of fork(): a thread of the parent has the lock for
  /// as long as a step takes to start.
  [[nodiscard]] std::unique_lock<std::mutex> lock() const;
  [[nodiscard]] std::vector<Tensor> here(const std::vector<Tensor>& tensors) const;
  /// The same of inputs, of which optional ones may be without a value.
  [[nodiscard]] std::vector<Tensor> inputs_here(const std::vector<Tensor>& inputs) const;
  [[nodiscard]] TrainingStep step_without(std::set<std::string> frozen) const;
  /// Freezes other layers than before. Under the lock.
  void set_frozen(std::set<std::string> frozen);
  /// The same on behalf of a caller: invalid_argument if nothing would be left to train.
  void choose_frozen(std::set<std::string> frozen);
  /// The random key of the next step; that of the first if it was lost with the device. Under the lock.
  [[nodiscard]] Tensor usable_key() const;
  /// Puts these in the place of some variables or all: names and shapes were checked. Takes the
  /// lock.
  void replace(const Variables& some);

  const Network network;
  const ModelOptions options;
  const Precision precision;
  const Network running;  ///< the network as it is computed
  const Device device;
  const std::vector<Loss> losses;
  const Optimizer optimizer;

  const ForkGuard fork;
  mutable std::mutex mutex;  // of what follows
  TrainingStep step;
  TrainingState state;
};

/// Tensors by name on a device.
[[nodiscard]] Variables moved(const Variables& variables, const Device& device);
/// How losses are scaled where the options say it or leave it open.
[[nodiscard]] LossScaleName loss_scale_of(const ModelOptions& options, const Precision& precision);
/// An optimizer as the options say.
[[nodiscard]] Optimizer optimizer_of(const ModelOptions& options);

}  // namespace stoker::nn
