// What a model holds, for the sources of Model.
#pragma once

#include <mutex>

#include "stoker/api/nn/model.hpp"

namespace stoker::nn {

struct Model::Data {
  Data(Network its_network, ModelOptions its_options);

  [[nodiscard]] std::vector<Tensor> here(const std::vector<Tensor>& tensors) const;
  [[nodiscard]] TrainingStep step_without(std::set<std::string> frozen) const;
  /// Freezes other layers than before. Under the lock.
  void set_frozen(std::set<std::string> frozen);

  const Network network;
  const ModelOptions options;
  const Device device;
  const std::vector<Loss> losses;
  const Optimizer optimizer;

  mutable std::mutex mutex;  // of what follows
  TrainingStep step;
  TrainingState state;
};

/// An optimizer as the options say.
[[nodiscard]] Optimizer optimizer_of(const ModelOptions& options);

}  // namespace stoker::nn
