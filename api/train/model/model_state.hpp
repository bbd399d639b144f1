// What changes about a model: its numbers, its optimizer's, the random key, which layers are frozen.
//
// Threads: any, also at the same time; each call sees the state before or after another, never between.
// Starting a step holds the lock, so two threads that train wait for each other; who predicts waits only
// until a step has started.
// Errors are thrown; a call that throws has changed nothing. forked_process in a child of fork(): a
// thread of the parent may hold the lock.
#pragma once

#include <functional>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <vector>

#include "stoker/api/train/model/training_step.hpp"
#include "stoker/runtime/base/fork_guard.hpp"

namespace stoker::nn {

class ModelState {
 public:
  /// The step that leaves these layers alone.
  using MakeStep = std::function<TrainingStep(std::set<std::string> frozen)>;
  /// Which layers are frozen, given those that were. Called under the lock.
  using ChooseFrozen = std::function<std::set<std::string>(std::set<std::string> frozen)>;

  /// Begins: the variables are computed on the device, and the key follows from the seed.
  ModelState(const Device& device, std::uint64_t seed, MakeStep make_step,
             const Variables& variables);

  /// What there is at this moment.
  struct Now {
    TrainingStep step;
    TrainingState state;
  };
  [[nodiscard]] Now now() const;
  [[nodiscard]] TrainingState state() const;
  /// All variables. They are put together once for each state, not for each call.
  [[nodiscard]] std::shared_ptr<const Variables> variables() const;
  [[nodiscard]] std::set<std::string> frozen() const;
  void check_fork() const { fork_.check("model").value(); }

  /// Starts a step; its loss.
  Tensor step(const std::vector<Tensor>& inputs, const std::vector<Tensor>& targets,
              const CommandOptions& limits);
  /// Another state of the same network.
  void restore(TrainingState state);
  /// These in the place of some variables or all; names, shapes and device were checked. The optimizer
  /// begins anew; so do the random numbers if their key was lost with the device.
  void replace(Variables some);
  /// The optimizer goes on with what it knows of the layers that are still trained.
  void choose_frozen(const ChooseFrozen& choose);
  /// What the learning rate is multiplied by.
  void set_learning_rate_scale(double scale);

 private:
  [[nodiscard]] std::unique_lock<std::mutex> lock() const;
  [[nodiscard]] Tensor first_key() const;
  void set(TrainingState state);

  const Device device_;
  const std::uint64_t seed_;
  const MakeStep make_step_;
  const ForkGuard fork_;
  mutable std::mutex mutex_;  // of what follows
  TrainingStep step_;
  TrainingState state_;
  mutable std::shared_ptr<const Variables>
      variables_;  ///< those of the state; null: not asked for yet
};

/// The same numbers on another device.
[[nodiscard]] TrainingState moved(TrainingState state, const Device& device);
[[nodiscard]] Variables moved(Variables variables, const Device& device);

}  // namespace stoker::nn
