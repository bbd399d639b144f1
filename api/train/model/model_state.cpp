#include "stoker/api/train/model/model_state.hpp"

#include "stoker/actors/device/device_client.hpp"
#include "stoker/api/tensor/math/random.hpp"
#include "stoker/api/tensor/views/slicing.hpp"

namespace stoker::nn {
namespace {

/// The most of what is the same in two sets of slots: all that belongs to no parameter, or to one
/// that is still trained.
Slots carried_over(const Slots& before, Slots now) {
  for (auto& [name, tensor] : now)
    if (const auto known = before.find(name);
        known != before.end() && known->second.spec() == tensor.spec())
      tensor = known->second;
  return now;
}

template <class Named> void move_all(Named& tensors, const Device& device) {
  for (auto& [name, tensor] : tensors) tensor = tensor.to(device);
}

}  // namespace

ModelState::ModelState(const Device& device, std::uint64_t seed, MakeStep make_step,
                       const Variables& variables)
    : device_{device}, seed_{seed}, make_step_{std::move(make_step)}, step_{make_step_({})} {
  const DeviceScope scope{device_};
  state_ = step_.begin(variables, first_key());
  // On this device, whoever asks for them first.
  std::vector<Tensor> all{state_.key};
  for (const auto* tensors : {&state_.trained, &state_.slots})
    for (const auto& [name, tensor] : *tensors) all.push_back(tensor);
  for (const auto& [name, tensor] : state_.kept) all.push_back(tensor);
  eval(all);
}

std::unique_lock<std::mutex> ModelState::lock() const {
  check_fork();
  return std::unique_lock{mutex_};
}

Tensor ModelState::first_key() const { return random::split(random::key(seed_))[Index{1}]; }

void ModelState::set(TrainingState state) {
  state_ = std::move(state);
  variables_.reset();
}

ModelState::Now ModelState::now() const {
  const auto locked = lock();
  return {step_, state_};
}

TrainingState ModelState::state() const {
  const auto locked = lock();
  return state_;
}

std::shared_ptr<const Variables> ModelState::variables() const {
  const auto locked = lock();
  if (!variables_) variables_ = std::make_shared<const Variables>(state_.variables());
  return variables_;
}

std::set<std::string> ModelState::frozen() const {
  const auto locked = lock();
  return step_.frozen();
}

Tensor ModelState::step(const std::vector<Tensor>& inputs, const std::vector<Tensor>& targets,
                        const CommandOptions& limits) {
  const auto locked = lock();
  Tensor loss = step_.run(state_, inputs, targets, limits);
  variables_.reset();
  return loss;
}

void ModelState::restore(TrainingState state) {
  const auto locked = lock();
  set(std::move(state));
}

void ModelState::replace(Variables some) {
  const DeviceScope scope{device_};
  const auto locked = lock();
  some.merge(state_.variables());  // those that were not given
  const bool is_lost = state_.key.buffer().handle().device()->is_lost();
  set(step_.begin(some, is_lost ? first_key() : state_.key));
}

void ModelState::choose_frozen(const ChooseFrozen& choose) {
  const DeviceScope scope{device_};
  const auto locked = lock();
  TrainingStep next = make_step_(choose(step_.frozen()));
  TrainingState begun = next.begin(state_.variables(), state_.key);
  begun.slots = carried_over(state_.slots, std::move(begun.slots));
  step_ = std::move(next);
  set(std::move(begun));
}

void ModelState::set_learning_rate_scale(double scale) {
  const DeviceScope scope{device_};
  const auto locked = lock();
  state_.slots = with_learning_rate_scale(state_.slots, scale);
}

TrainingState moved(TrainingState state, const Device& device) {
  move_all(state.trained, device);
  move_all(state.kept, device);
  move_all(state.slots, device);
  state.key = state.key.to(device);
  return state;
}

Variables moved(Variables variables, const Device& device) {
  move_all(variables, device);
  return variables;
}

}  // namespace stoker::nn
