#include "stoker/api/train/loop/trainer.hpp"

#include "stoker/api/train/loop/trainer_job.hpp"

namespace stoker::nn {
namespace {

using detail::TrainingJob;

struct BeginTraining {};
/// From the thread, as the last thing that it does. Made before it begins: nobody would hear of its end if
/// there were no memory for the message then.
struct TrainingEnded {
  std::shared_ptr<TrainingJob::Outcome> outcome;
};

/// Owns the thread and says to its supervisor how it ended.
class TrainerActor final : public Actor {
 public:
  explicit TrainerActor(std::shared_ptr<TrainingJob> job) : job_{std::move(job)} {}
  ~TrainerActor() override {
    // Killed, or nobody can reach it: waiting here would hold a thread that is not ours.
    if (former_ && former_->joinable()) job_->leave_behind(std::move(*former_));
    if (!thread_.joinable()) return;
    job_->stop(generation_);
    job_->leave_behind(std::move(thread_));
  }

  void on(BeginTraining) {
    // A signal to end is heard as a message: the thread first comes to an end.
    trap_exit();
    // Shared, so that it is not lost if the system has no more threads.
    former_ = std::make_shared<std::thread>();
    const auto me = self<TrainerActor>();
    auto outcome = std::make_shared<TrainingJob::Outcome>();
    auto ended = std::make_unique<CastMessage<TrainerActor, TrainingEnded>>(me.cell(),
                                                                            TrainingEnded{outcome});
    auto [generation, former] = job_->begin();
    generation_ = generation;
    *former_ = std::move(former);
    thread_ = std::thread{[job = job_, me, outcome, ended = std::move(ended),
                           generation = generation_, before = former_]() mutable {
      if (before->joinable()) before->join();
      *outcome = job->work(generation);
      me.strand()->send_signal(std::move(ended));  // `me` keeps what the message is for
    }};
    former_.reset();
  }

  void on(const TrainingEnded& ended) {
    thread_.join();  // it has nothing left to do
    if (stopping_) {
      leave(*stopping_);
      return;
    }
    if (const Error* why = std::get_if<Error>(ended.outcome.get())) {
      if (!job_->repeats(*why)) exit(ExitReason::failure(*why));
      job_->end(TrainerState::failed, *why);
      leave(ExitReason::shutdown("failed"));
      return;
    }
    if (std::get<TrainingJob::End>(*ended.outcome) == TrainingJob::End::finished)
      job_->end(TrainerState::finished, job_->done());
    else
      job_->end(TrainerState::cancelled,
                Error{"train", ErrorCode::cancelled, "the training was cancelled"});
    leave();
  }

 private:
  void on_exit(const Exit& exit) override {
    if (exit.reason == ExitReason::normal()) return;  // as one that traps nothing
    stopping_ = exit.reason;
    if (thread_.joinable())
      job_->stop(generation_);
    else
      leave(exit.reason);
  }
  void on_parent_exit(const Exit& exit) override { on_exit(exit); }

  std::shared_ptr<TrainingJob> job_;
  std::uint64_t generation_ = 0;
  std::shared_ptr<std::thread> former_;  ///< until thread_ has it
  std::thread thread_;
  std::optional<ExitReason> stopping_;
};

/// Goes with the specification of the child: nothing will train any more.
class LastWord {
 public:
  explicit LastWord(std::shared_ptr<TrainingJob> job) : job_{std::move(job)} {}
  LastWord(const LastWord&) = delete;
  LastWord& operator=(const LastWord&) = delete;
  ~LastWord() {
    if (started_)
      job_->end(TrainerState::failed, error_or_out_of_memory([] {
                  return Error{"train", ErrorCode::closed, "the training's supervisor has ended"};
                }));
  }
  [[nodiscard]] const std::shared_ptr<TrainingJob>& job() noexcept { return job_; }
  void started() noexcept { started_ = true; }

 private:
  std::shared_ptr<TrainingJob> job_;
  std::atomic<bool> started_{false};
};

ChildSpec trainer_child(const std::shared_ptr<TrainingJob>& job) {
  ChildSpec spec;
  spec.id = "trainer";
  spec.restart = Restart::transient;
  spec.significant = true;
  spec.start =
      [last = std::make_shared<LastWord>(job)](const ChildStart& start) -> Result<ActorAddress> {
    last->started();
    const auto actor =
        start.spawn<TrainerActor>({.name = last->job()->options().name}, last->job());
    last->job()->adopt(actor);
    STOKER_TRY(actor.cast(BeginTraining{}));
    return ActorAddress{actor};
  };
  return spec;
}

void hear(TrainingJob& job, const SupervisorReport& said) {
  using Event = SupervisorReport::Event;
  if (said.event == Event::gave_up)
    job.end(TrainerState::failed, job.last_error());
  else if (said.event != Event::child_terminated && said.event != Event::start_error)
    return;  // it was told to end
  else if (const Error* why = said.reason.error())
    job.broke(*why);
  else
    job.broke(said.reason.as_error("train", said.child));
}

class ProgressListener final : public Actor {
 public:
  ProgressListener(std::function<void(const TrainingProgress&)> on_progress,
                   std::function<void(const EpochMetrics&)> on_epoch)
      : on_progress_{std::move(on_progress)}, on_epoch_{std::move(on_epoch)} {}
  void on(const TrainingProgress& progress) {
    if (on_progress_) on_progress_(progress);
  }
  void on(const EpochMetrics& metrics) {
    if (on_epoch_) on_epoch_(metrics);
  }

 private:
  std::function<void(const TrainingProgress&)> on_progress_;
  std::function<void(const EpochMetrics&)> on_epoch_;
};

}  // namespace

std::string_view to_string(TrainerState state) noexcept {
  switch (state) {
    case TrainerState::starting: return "starting";
    case TrainerState::running: return "running";
    case TrainerState::paused: return "paused";
    case TrainerState::restarting: return "restarting";
    case TrainerState::finished: return "finished";
    case TrainerState::cancelled: return "cancelled";
    case TrainerState::failed: return "failed";
  }
  return "unknown";
}

Future<void> Trainer::pause() const { return job_->pause(); }
void Trainer::resume() const { job_->resume(); }
void Trainer::cancel() const { job_->cancel(); }
Future<History> Trainer::history() const { return job_->history(); }
TrainerStatus Trainer::status() const { return job_->status(); }
ActorAddress Trainer::actor() const { return job_->actor(); }
void Trainer::subscribe(Subscription subscription) const {
  job_->subscribe(std::move(subscription));
}

ActorAddress Trainer::subscribe(std::shared_ptr<Executor> executor,
                                std::function<void(const TrainingProgress&)> on_progress,
                                std::function<void(const EpochMetrics&)> on_epoch) const {
  const auto listener = spawn<ProgressListener>(
      std::move(executor),
      {.name = job_->options().name + " progress", .overflow = OverflowRule::drop_oldest},
      std::move(on_progress), std::move(on_epoch));
  subscribe(listener);
  return listener;
}

Trainer train(const Supervisor& supervisor, Model model, Dataset data, FitOptions fit,
              TrainerOptions options) {
  if (!supervisor)
    throw Error{"train", ErrorCode::invalid_argument,
                "expected a supervisor, got an empty address"};
  const auto job = std::make_shared<TrainingJob>(std::move(model), std::move(data), std::move(fit),
                                                 std::move(options));
  SupervisorOptions own;
  own.name = job->options().name;
  own.intensity = job->options().intensity;
  own.period = job->options().period;
  own.back_off = job->options().back_off;
  own.auto_shutdown = AutoShutdown::any_significant;
  own.on_report = [job](const SupervisorReport& said) { hear(*job, said); };
  ChildSpec child = supervisor_child(std::move(own), {trainer_child(job)});
  child.restart = Restart::temporary;
  // Ends with it: nothing else waits for the answer.
  static_cast<void>(
      supervisor.start_child(std::move(child))
          .then(supervisor.strand()->executor(), [job](const Result<ActorAddress>& started) {
            if (!started) job->end(TrainerState::failed, started.error());
          }));
  return Trainer{job};
}

}  // namespace stoker::nn
