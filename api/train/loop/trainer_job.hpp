// What the handles, the actor and the thread of a training share. For trainer.cpp.
//
// One thread after another works on the run: each joins the one before, so that an actor that was killed
// is not waited for by anybody but its successor. A thread works while `generation` is its own.
//
// In a child of fork() calls of the handles throw forked_process, pause() and history() fail with it, and
// what goes there leaves the threads alone: they are the parent's.
#pragma once

#include <condition_variable>
#include <mutex>
#include <thread>
#include <variant>

#include "stoker/api/train/loop/trainer.hpp"
#include "stoker/api/train/loop/trainer_checkpoint.hpp"
#include "stoker/runtime/base/fork_guard.hpp"

namespace stoker::nn::detail {

class TrainingJob : public std::enable_shared_from_this<TrainingJob> {
 public:
  TrainingJob(Model model, Dataset data, FitOptions fit, TrainerOptions options);
  TrainingJob(const TrainingJob&) = delete;
  TrainingJob& operator=(const TrainingJob&) = delete;
  ~TrainingJob();

  [[nodiscard]] const TrainerOptions& options() const noexcept { return options_; }

  // Of the handles.
  [[nodiscard]] Future<void> pause();
  void resume();
  void cancel();
  [[nodiscard]] Future<History> history() const { return outcome_.future(); }
  [[nodiscard]] TrainerStatus status() const;
  [[nodiscard]] ActorAddress actor() const;
  void subscribe(Trainer::Subscription subscription);

  // Of the actor.
  enum class End : std::uint8_t { finished, cancelled, stopped };
  using Outcome = std::variant<End, Error>;
  /// A new actor has been started.
  void adopt(const ActorAddress& actor);
  struct Turn {
    std::uint64_t generation;
    std::thread former;  ///< to be joined before work(); it ends soon
  };
  /// The actor's turn to train; the thread of any before it is told to stop.
  [[nodiscard]] Turn begin();
  /// On the actor's thread: trains until all is done, cancelled or stopped.
  [[nodiscard]] Outcome work(std::uint64_t generation) noexcept;
  /// Its work() returns soon.
  void stop(std::uint64_t generation) noexcept;
  /// The thread of an actor that cannot wait for it.
  void leave_behind(std::thread thread) noexcept;

  /// The training has ended; later calls do nothing.
  void end(TrainerState state, Result<History> outcome);
  /// Why the actor ended that is started again.
  void broke(const Error& why);
  [[nodiscard]] Error last_error() const;
  [[nodiscard]] History done() const;
  /// Whether it would come again after a restart: a mistake of the program, or limits that are over.
  [[nodiscard]] bool repeats(const Error& why) const noexcept;

 private:
  using Lock = std::unique_lock<std::mutex>;
  /// For a call of a handle. Throws forked_process.
  [[nodiscard]] Lock lock(const char* op) const;
  /// Of a thread that nobody will join.
  void let_go(std::thread thread) const noexcept;
  /// Parks while the training is paused. Why to end, if that is wanted.
  [[nodiscard]] std::optional<End> gate(std::uint64_t generation);
  [[nodiscard]] End train(std::uint64_t generation);
  void recover();
  void tell(const TrainingProgress& progress);
  void tell(const EpochMetrics& metrics);
  [[nodiscard]] std::vector<Trainer::Subscription> subscribers();

  const TrainerOptions options_;
  const CommandOptions limits_;
  std::optional<FitRun> run_;     // of the thread that works; none once the training has ended
  TrainerCheckpoint checkpoint_;  // the same

  const ForkGuard fork_;
  mutable std::mutex mutex_;  // of what follows
  std::condition_variable changed_;
  bool pause_wanted_ = false;
  bool cancel_wanted_ = false;
  bool ended_ = false;
  bool working_ = false;  ///< a thread uses the run
  std::uint64_t generation_ = 0;
  std::uint64_t stopped_ = 0;  ///< that generation, and those before, shall stop
  std::uint64_t started_ = 0;
  TrainerStatus status_;
  std::vector<Promise<void>> pausing_;
  std::vector<Trainer::Subscription> subscriptions_;
  std::weak_ptr<ActorCell> actor_;
  std::thread former_;
  Promise<History> outcome_;
};

}  // namespace stoker::nn::detail
