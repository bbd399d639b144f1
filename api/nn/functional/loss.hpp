// Losses by name: "cross_entropy", "huber(delta=0.5)". What training makes smaller.
//
// The names are those of losses.hpp, with its options but for tensors, and
//   cross_entropy        categorical, from logits, of indices or one-hot rows (ExBurn's)
//   mse, mae             mean_squared_error, mean_absolute_error
// Each has the option reduction="mean" (or "sum"), over rows and what else is left; where there are
// classes also label_smoothing=0. Of margin_ranking the prediction is [.., 2], both scores; the target of
// connectionist_temporal_classification is negative after each sequence's last label.
//
// Pure functions; any thread. Errors are thrown: not_found for a name, invalid_parameter for options, and
// when it is called what losses.hpp says.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "stoker/api/nn/graph/named.hpp"
#include "stoker/api/tensor/core/tensor.hpp"

namespace stoker::nn {

struct Loss {
  std::string text;  ///< what it was made from
  /// A scalar, f32, or f64 of f64 predictions.
  std::function<Tensor(const Tensor& target, const Tensor& prediction)> of;
};

[[nodiscard]] Loss loss(const Named& wanted);
[[nodiscard]] std::vector<std::string> loss_names();

}  // namespace stoker::nn
