#include "stoker/api/train/loop/learning_rate.hpp"

#include "stoker/api/train/optim/updates.hpp"

namespace stoker::nn {

double learning_rate(const Model& model) {
  const ModelOptions& options = model.options();
  const DeviceScope scope{model.device()};
  // One state for both numbers: another thread may start a step between two looks.
  const Slots slots = model.state().slots;
  const double scale = learning_rate_scale(slots).item<double>();
  if (options.schedule)
    return scale * options.schedule(named_tensor(slots, updates::learning_rate_step, "slot"))
                       .item<double>();
  return scale * options.learning_rate.value_or(own_learning_rate(options.optimizer));
}

}  // namespace stoker::nn
