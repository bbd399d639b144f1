// Training as a supervised actor: it runs in the background, can be paused and observed, and
// restarts from the last completed epoch after a failure.
//
//     nn::Trainer training = nn::train(system.supervisor(), model, data, {.epochs = 20});
//     training.subscribe(dashboard);                        // an actor with on(TrainingProgress)
//     training.pause().get();                               // no step runs any more
//     training.resume();
//     History history = co_await async_get(training.history(), use_awaitable);
//
//   program (supervisor) ─ training (supervisor: how often it is started again) ─ trainer (actor) ┄ thread
//
// Readers and waits for losses block, so the loop of fit() runs on the actor's own thread. An
// exception of a reader or callback, a lost device and exit(kill) end the actor. Its supervisor
// then starts another, which waits for the device, restores the last checkpoint and continues; the
// result is bit-identical to uninterrupted training. After more than `intensity` restarts within
// `period`, history() fails with the error. Failures that a restart cannot fix end the training at
// once: a non-finite loss, data that do not fit, exceeded limits.
//
// However training ends, the model is as it was after the last completed epoch. A pause or cancel
// takes effect between two batches; the validation after an epoch counts as one batch.
//
// Threads: any; no call blocks. FitOptions' callbacks and `log` are used on the training's thread.
// Until the training has ended, call only predict() and evaluate() on the model. Lifetime: a
// Trainer is a handle; training continues without it. If the system is stopped or the supervisor
// ends, the training is cancelled and history() fails with `closed`. A host's event loop must
// outlive the training: run it until the history is ready.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "stoker/actors/supervisor/supervisor.hpp"
#include "stoker/api/train/loop/fit.hpp"

namespace stoker::nn {

struct TrainerOptions {
  std::string name = "training";  ///< of the actors; must be unique in the supervisor
  /// Gives up after more than `intensity` restarts within `period`, like any supervisor.
  unsigned intensity = 3;
  std::chrono::nanoseconds period = std::chrono::seconds{60};
  BackOff back_off = {};
  /// The file to which the model is saved before the first epoch, after each epoch, and after each
  /// callback. Default: the model is copied to host memory instead.
  std::optional<std::filesystem::path> checkpoint = {};
};

enum class TrainerState : std::uint8_t {
  starting,
  running,
  paused,
  restarting,  ///< after a failure, until the last checkpoint is restored
  finished,
  cancelled,
  failed,
};
[[nodiscard]] std::string_view to_string(TrainerState state) noexcept;

struct TrainerStatus {
  TrainerState state = TrainerState::starting;
  std::optional<TrainingProgress> progress = {};  ///< the latest report
  History history = {};                           ///< of completed epochs
  std::uint64_t restarts = 0;
  std::optional<Error> last_error = {};  ///< why it was last restarted, or failed
};

namespace detail {
class TrainingJob;
}

/// A handle to a training started by train().
class Trainer {
 public:
  explicit Trainer(std::shared_ptr<detail::TrainingJob> job) noexcept : job_{std::move(job)} {}

  /// Starts no further step until resume(), even after restarts. The future is ready when no step
  /// runs, or the training has ended; it is `cancelled` if resume() comes first.
  Future<void> pause() const;
  void resume() const;
  /// Ends the training before its next batch. The model is as it was after the last completed
  /// epoch; history() fails with `cancelled` (status() has the epochs). Does nothing if the
  /// training has ended.
  void cancel() const;

  /// Ready when the training has ended. Errors: cancelled; closed if its supervisor has ended; the
  /// training's Error; start_child()'s Error for a name that is taken.
  [[nodiscard]] Future<History> history() const;
  [[nodiscard]] TrainerStatus status() const;
  /// The current trainer actor, for monitoring or killing; empty between restarts, and a new address
  /// after each.
  [[nodiscard]] ActorAddress actor() const;

  /// Sends the actor a TrainingProgress each time a batch's loss becomes known and, if it has a
  /// handler for them, EpochMetrics after each epoch, in order. An epoch that is repeated is
  /// reported again. Messages that do not fit into its mailbox are dropped. Keeps the actor
  /// reachable until the training has ended.
  template <class A> void subscribe(const ActorRef<A>& subscriber) const {
    static_assert(Handles<A, TrainingProgress>, "expected a handler on(TrainingProgress)");
    Subscription to;
    to.progress = [subscriber](const TrainingProgress& progress) {
      static_cast<void>(subscriber.cast(progress));
    };
    if constexpr (Handles<A, EpochMetrics>)
      to.epoch = [subscriber](const EpochMetrics& metrics) {
        static_cast<void>(subscriber.cast(metrics));
      };
    to.actor = subscriber;
    subscribe(std::move(to));
  }
  /// Calls the functions on that executor, such as the host's event loop
  /// (System::shared_executor()). If they are too slow, the oldest pending reports are dropped. An
  /// exception ends the subscription, as does stop() on the returned address.
  ActorAddress subscribe(std::shared_ptr<Executor> executor,
                         std::function<void(const TrainingProgress&)> on_progress,
                         std::function<void(const EpochMetrics&)> on_epoch = {}) const;

 private:
  friend class detail::TrainingJob;
  struct Subscription {
    ActorAddress actor;
    std::function<void(const TrainingProgress&)> progress;
    std::function<void(const EpochMetrics&)> epoch;
  };
  void subscribe(Subscription subscription) const;
  std::shared_ptr<detail::TrainingJob> job_;
};

/// Starts a training under that supervisor; does not block. Throws at once for options and data
/// that do not fit the model, like fit().
[[nodiscard]] Trainer train(const Supervisor& supervisor, Model model, Dataset data,
                            FitOptions fit = {}, TrainerOptions options = {});

}  // namespace stoker::nn
