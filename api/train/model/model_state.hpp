// The mutable part of a model: its variables, the optimizer's slots, the random key, the set of
// frozen layers.
//
// Threads: any, concurrently; each call sees the state before or after another call, never in between.
// Starting a step holds the lock, so two threads that train wait for each other; a prediction waits only
// until a step has started. Errors are thrown; a call that throws has changed nothing. forked_process in
// a child of fork(): a thread of the parent may hold the lock.
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
  /// Makes the step that does not train these layers.
  using MakeStep = std::function<TrainingStep(std::set<std::string> frozen)>;
  /// Returns the layers to freeze, given those that are frozen. Called under the lock.
  using ChooseFrozen = std::function<std::set<std::string>(std::set<std::string> frozen)>;

  /// The initial state: the variables are computed on the device, and the key follows from the
  /// seed.
  ModelState(const Device& device, std::uint64_t seed, MakeStep make_step,
             const Variables& variables);

  /// A snapshot of the state.
  struct Now {
    TrainingStep step;
    TrainingState state;
  };
  [[nodiscard]] Now now() const;
  [[nodiscard]] TrainingState state() const;
  /// All variables. The map is built once for each state, not for each call.
  [[nodiscard]] std::shared_ptr<const Variables> variables() const;
  [[nodiscard]] std::set<std::string> frozen() const;
  void check_fork() const { fork_.check("model").value(); }

  /// Starts a step and returns its loss.
  Tensor step(const std::vector<Tensor>& inputs, const std::vector<Tensor>& targets,
              const CommandOptions& limits);
  /// Sets another state of the same network.
  void restore(TrainingState state);
  /// Replaces some variables or all; the caller has checked names, shapes and device. The optimizer
  /// starts fresh, and so do the random numbers if their key was lost with the device.
  void replace(Variables some);
  /// The optimizer keeps its slots for the layers that are still trained.
  void choose_frozen(const ChooseFrozen& choose);
  /// The factor of the learning rate.
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
      variables_;  ///< the map of variables(); null: not built yet
};

/// The same state on another device.
[[nodiscard]] TrainingState moved(TrainingState state, const Device& device);
[[nodiscard]] Variables moved(Variables variables, const Device& device);

}  // namespace stoker::nn
