// Training as a supervised actor: it goes on in the background, can be paused and watched, and begins
// again after the last whole epoch when something breaks.
//
//     nn::Trainer training = nn::train(system.supervisor(), model, data, {.epochs = 20});
//     training.subscribe(dashboard);                        // an actor with on(TrainingProgress)
//     training.pause().get();                               // no step runs any more
//     training.resume();
//     History history = co_await async_get(training.history(), use_awaitable);
//
//   program (supervisor) ─ training (supervisor: how often it is started again) ─ trainer (actor) ┄ thread
//
// Readers block and so does waiting for losses: the loop of fit() runs on a thread that the actor has of
// its own, and handlers only hear of its end. An exception of a reader or of a callback, a lost device
// and exit(kill) end the actor; its supervisor starts another, which waits for the device, takes the model
// back to the last checkpoint and goes on from there. What comes out is what uninterrupted training gives,
// to the bit. More restarts than `intensity` within `period`, and the history is the error. What no restart
// can help ends it at once: a loss that is not finite, data that do not fit, limits that ended it.
//
// However it ends, the model is as after a whole epoch, and of what was trained nothing else is left. A pause
// or an end takes effect between two batches; the validation after an epoch counts as one.
//
// Threads: any, for all; nothing here waits. Callbacks of the FitOptions, and `log`, are used on the
// training's thread. Until the training has ended, leave the model to it but for predict() and evaluate().
// Lifetime: a Trainer is a handle; training goes on without one. A system that stops cancels it, as does
// the end of the supervisor: then the history is `closed`. A host's event loop outlives the training: run
// it until the history is there.
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
  std::string name = "training";  ///< of the actors; no other child of the supervisor has it
  /// As of any supervisor: more restarts than this within the period, and it gives up.
  unsigned intensity = 3;
  std::chrono::nanoseconds period = std::chrono::seconds{60};
  BackOff back_off = {};
  /// Where the model is saved before the first epoch, after each, and after each callback. None: it is
  /// copied to the host's memory.
  std::optional<std::filesystem::path> checkpoint = {};
};

enum class TrainerState : std::uint8_t {
  starting,
  running,
  paused,
  restarting,  ///< something broke: not yet back at the last checkpoint
  finished,
  cancelled,
  failed,
};
[[nodiscard]] std::string_view to_string(TrainerState state) noexcept;

struct TrainerStatus {
  TrainerState state = TrainerState::starting;
  std::optional<TrainingProgress> progress = {};  ///< the last that was told
  History history = {};                           ///< of whole epochs
  std::uint64_t restarts = 0;
  std::optional<Error> last_error = {};  ///< why it was started again, or failed
};

namespace detail {
class TrainingJob;
}

/// A handle of a training that was started by train().
class Trainer {
 public:
  explicit Trainer(std::shared_ptr<detail::TrainingJob> job) noexcept : job_{std::move(job)} {}

  /// No further step until resume(). Ready when none runs, also if that is because the training has
  /// ended; `cancelled` if resume() came first. Holds over restarts.
  Future<void> pause() const;
  void resume() const;
  /// Ends the training before its next batch: the model is as after its last whole epoch, the history
  /// is `cancelled` (status() has it). Does nothing when it has ended.
  void cancel() const;

  /// Ready when the training has ended. Errors: cancelled; closed when its supervisor has ended; what
  /// training failed with; what start_child() says of a name that is taken.
  [[nodiscard]] Future<History> history() const;
  [[nodiscard]] TrainerStatus status() const;
  /// The current trainer actor, for monitoring or killing; empty between restarts, and a new address
  /// after each.
  [[nodiscard]] ActorAddress actor() const;

  /// From now on the actor is sent a TrainingProgress after each batch whose loss is known, and the
  /// EpochMetrics after each epoch if it has a handler for them, in their order. An epoch that is trained
  /// again is told again. What its mailbox has no room for is lost. Keeps the actor reachable until the
  /// training has ended.
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
  /// Calls the function on that executor, such as the host's event loop (System::shared_executor()). If
  /// it is slow, the oldest of those that wait are lost. An exception ends the subscription. The address
  /// is that of the subscriber: stop() ends it, too.
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

/// Starts a training under that supervisor and does not wait. Throws what fit() refuses at once: options
/// and data that do not fit the model.
[[nodiscard]] Trainer train(const Supervisor& supervisor, Model model, Dataset data,
                            FitOptions fit = {}, TrainerOptions options = {});

}  // namespace stoker::nn
