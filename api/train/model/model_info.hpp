// A model's key figures, and a table of its layers.
//
// Pure functions; any thread.
#pragma once

#include <set>
#include <string>

#include "stoker/api/train/model/model_options.hpp"

namespace stoker::nn {

struct ModelInfo {
  std::size_t parameters = 0;
  std::size_t trainable = 0;
  std::size_t layers = 0;
  std::size_t frozen_layers = 0;
  std::size_t bytes = 0;  ///< of all variables
  std::size_t optimizer_bytes = 0;
  std::string loss;
  std::string optimizer;
  double weight_decay = 0;
  std::string precision;
  std::string loss_scale;
  std::string device;
};

/// All fields except the device.
[[nodiscard]] ModelInfo info_of(const Network& network, const ModelOptions& options,
                                const Optimizer& optimizer, const TrainingState& state,
                                const std::set<std::string>& frozen);

/// A table of the layers with shapes and parameters, as Keras prints it.
[[nodiscard]] std::string summary_of(const Network& network, const Variables& all,
                                     const std::set<std::string>& frozen);

}  // namespace stoker::nn
