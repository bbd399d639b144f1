#include "stoker/api/train/loop/trainer_checkpoint.hpp"

#include <span>

#include "stoker/api/tensor/core/creation.hpp"
#include "stoker/api/train/loop/training_file.hpp"

namespace stoker::nn {

template <class Tensors>
TrainerCheckpoint::HostTensors TrainerCheckpoint::copied(const Tensors& tensors) {
  HostTensors all;
  for (const auto& [name, tensor] : tensors)
    all.emplace(name, HostTensor{tensor.spec(), tensor.to_bytes()});
  return all;
}

template <class Tensors> Tensors TrainerCheckpoint::made(const HostTensors& tensors) {
  Tensors all;
  for (const auto& [name, one] : tensors) all.emplace(name, tensor(std::span{one.bytes}, one.spec));
  return all;
}

void TrainerCheckpoint::take(const FitRun& run) {
  const DeviceScope scope{run.model().device()};
  if (file_) {
    const std::int64_t epoch =
        run.history().empty() ? run.options().first_epoch - 1 : run.history().back().epoch;
    save_training(run.model(), epoch, run.options().callbacks, *file_);
  } else {
    const TrainingState now = run.model().state();
    state_ = HostState{copied(now.trained), copied(now.kept), copied(now.slots),
                       HostTensor{now.key.spec(), now.key.to_bytes()}};
  }
  seen_ = seen_by(run.options().callbacks);
  place_ = run.at();
  taken_ = true;
}

void TrainerCheckpoint::restore(FitRun& run) const {
  const Device device = run.model().device();
  const DeviceScope scope{device};
  // Traced anew, because what was traced may hold constants on a device that was lost.
  Model model = run.model();
  model.freeze(std::vector<std::string>{});
  TrainingState state;
  if (file_) {
    state = Model::load(*file_, device, run.model().options().schedule).state();
  } else {
    state.trained = made<Parameters>(state_.trained);
    state.kept = made<Variables>(state_.kept);
    state.slots = made<Slots>(state_.slots);
    state.key = tensor(std::span{state_.key.bytes}, state_.key.spec);
  }
  recall(run.options().callbacks, seen_);
  run.rewind(place_, std::move(state));
}

}  // namespace stoker::nn
