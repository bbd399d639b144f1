#include "stoker/api/train/loop/trainer_job.hpp"

#include <algorithm>

#include "stoker/api/nn/graph/errors_as.hpp"

namespace stoker::nn::detail {
TrainingJob::TrainingJob(Model model, Dataset data, FitOptions fit, TrainerOptions options)
    : options_{std::move(options)},
      limits_{fit.limits},
      run_{[&] {
        // The run is this object's, and so is never told of anything after it.
        fit.on_batch.push_back(
            [this](const TrainingProgress& progress, Training&) { tell(progress); });
        return errors_as("train", [&] {
          return FitRun{std::move(model), std::move(data), std::move(fit)};
        });
      }()},
      checkpoint_{options_.checkpoint} {}

TrainingJob::~TrainingJob() {
  // Left behind by an actor that had no successor; it may be the thread that this runs on.
  if (former_.joinable()) let_go(std::move(former_));
}

void TrainingJob::let_go(std::thread thread) const noexcept {
  if (!fork_.forked()) return thread.detach();
  // It is not there: whatever is done to it fails.
  static_cast<void>(std::make_unique<std::thread>(std::move(thread)).release());
}

TrainingJob::Lock TrainingJob::lock(const char* op) const {
  fork_.check(op).value();
  return Lock{mutex_};
}

Future<void> TrainingJob::pause() {
  if (const auto here = fork_.check("pause"); !here) return make_ready_future<void>(here.error());
  const Lock lock{mutex_};
  if (ended_ || status_.state == TrainerState::paused) {
    pause_wanted_ = true;
    return make_ready_future();
  }
  Promise<void>& pausing = pausing_.emplace_back();
  pause_wanted_ = true;
  changed_.notify_all();
  return pausing.future();
}

void TrainingJob::resume() {
  std::vector<Promise<void>> late;
  {
    const Lock locked = lock("resume");
    pause_wanted_ = false;
    late.swap(pausing_);
    changed_.notify_all();
  }
  for (Promise<void>& one : late)
    one.set(Error{"pause", ErrorCode::cancelled, "the training was resumed before it had paused"});
}

void TrainingJob::cancel() {
  const Lock locked = lock("cancel");
  cancel_wanted_ = true;
  changed_.notify_all();
}

TrainerStatus TrainingJob::status() const {
  const Lock locked = lock("status");
  return status_;
}

ActorAddress TrainingJob::actor() const {
  const Lock locked = lock("actor");
  ActorAddress now{actor_.lock()};
  return now.alive() ? now : ActorAddress{};
}

void TrainingJob::subscribe(Trainer::Subscription subscription) {
  const Lock locked = lock("subscribe");
  if (!ended_) subscriptions_.push_back(std::move(subscription));
}

void TrainingJob::adopt(const ActorAddress& actor) {
  const Lock lock{mutex_};
  actor_ = actor.cell();
  if (started_++ > 0) {
    ++status_.restarts;
    status_.state = TrainerState::restarting;
  }
}

TrainingJob::Turn TrainingJob::begin() {
  const Lock lock{mutex_};
  stopped_ = generation_;
  changed_.notify_all();
  return {++generation_, std::move(former_)};
}

void TrainingJob::stop(std::uint64_t generation) noexcept {
  if (fork_.forked()) return;
  const Lock lock{mutex_};
  stopped_ = std::max(stopped_, generation);
  changed_.notify_all();
}

void TrainingJob::leave_behind(std::thread thread) noexcept {
  if (fork_.forked()) return let_go(std::move(thread));
  const Lock lock{mutex_};
  former_ = std::move(thread);
}

TrainingJob::Outcome TrainingJob::work(std::uint64_t generation) noexcept {
  {
    const Lock lock{mutex_};
    if (ended_) return End::stopped;
    working_ = true;
  }
  Outcome outcome = End::stopped;
  try {
    outcome = train(generation);
  } catch (...) {
    outcome = error_from_current_exception("train");
  }
  try {
    run_->rewind();
  } catch (...) {
    // The checkpoint is there, too.
    if (std::holds_alternative<End>(outcome)) outcome = error_from_current_exception("train");
  }
  std::optional<FitRun> over;
  const Lock lock{mutex_};
  working_ = false;
  if (ended_) over.swap(run_);
  return outcome;
}

TrainingJob::End TrainingJob::train(std::uint64_t generation) {
  // For what is computed only now of a model that has made no step.
  const DeviceScope scope{run_->model().device()};
  recover();
  for (;;) {
    if (const std::optional<End> end = gate(generation)) return *end;
    switch (run_->advance()) {
      case FitRun::Progress::nothing: return End::finished;
      case FitRun::Progress::batch: break;
      case FitRun::Progress::epoch:
        checkpoint_.take(*run_);
        tell(run_->history().back());
        break;
      case FitRun::Progress::callback: checkpoint_.take(*run_); break;
    }
  }
}

void TrainingJob::recover() {
  const Device device = run_->model().device();
  if (!device.ready()) device.when_ready().get();
  if (checkpoint_.taken())
    checkpoint_.restore(*run_);
  else
    checkpoint_.take(*run_);
  const Lock lock{mutex_};
  status_.history = run_->history();
  status_.state = TrainerState::running;
}

std::optional<TrainingJob::End> TrainingJob::gate(std::uint64_t generation) {
  Lock lock{mutex_};
  const auto end = [&]() -> std::optional<End> {
    if (generation <= stopped_) return End::stopped;
    if (cancel_wanted_) return End::cancelled;
    return std::nullopt;
  };
  if (!pause_wanted_ || end()) return end();
  lock.unlock();
  run_->settle();
  lock.lock();
  const auto begin = std::chrono::steady_clock::now();
  while (pause_wanted_ && !end()) {
    status_.state = TrainerState::paused;
    std::vector<Promise<void>> pausing;
    pausing.swap(pausing_);
    lock.unlock();
    for (Promise<void>& one : pausing) one.set();
    lock.lock();
    changed_.wait(lock, [&] { return !pause_wanted_ || !pausing_.empty() || end(); });
  }
  status_.state = TrainerState::running;
  run_->idled(std::chrono::steady_clock::now() - begin);
  return end();
}

std::vector<Trainer::Subscription> TrainingJob::subscribers() {
  const Lock lock{mutex_};
  std::erase_if(subscriptions_, [](const auto& one) { return !one.actor.alive(); });
  return subscriptions_;
}

void TrainingJob::tell(const TrainingProgress& progress) {
  {
    const Lock lock{mutex_};
    status_.progress = progress;
  }
  for (const auto& one : subscribers())
    if (one.progress) one.progress(progress);
}

void TrainingJob::tell(const EpochMetrics& metrics) {
  {
    const Lock lock{mutex_};
    status_.history.push_back(metrics);
  }
  for (const auto& one : subscribers())
    if (one.epoch) one.epoch(metrics);
}

void TrainingJob::end(TrainerState state, Result<History> outcome) {
  if (fork_.forked()) return;  // it goes on in the parent
  std::vector<Promise<void>> pausing;
  std::vector<Trainer::Subscription> subscriptions;  // may hold the last address of an actor
  std::optional<FitRun> over;                        // its callbacks may hold handles of this
  {
    const Lock lock{mutex_};
    if (ended_) return;
    ended_ = true;
    status_.state = state;
    if (!outcome) status_.last_error = outcome.error();
    pausing.swap(pausing_);
    subscriptions.swap(subscriptions_);
    if (!working_) over.swap(run_);
  }
  outcome_.set(std::move(outcome));
  for (Promise<void>& one : pausing) one.set();
}

void TrainingJob::broke(const Error& why) {
  const Lock lock{mutex_};
  if (ended_) return;
  status_.last_error = why;
  status_.state = TrainerState::restarting;
}

Error TrainingJob::last_error() const {
  const Lock lock{mutex_};
  return status_.last_error.value_or(
      Error{"train", ErrorCode::closed, "the training was started again too often"});
}

History TrainingJob::done() const {
  const Lock lock{mutex_};
  return status_.history;
}

bool TrainingJob::repeats(const Error& why) const noexcept {
  if (limits_.cancel.cancelled()) return true;  // whatever its cause is
  if (limits_.deadline && why.code() == ErrorCode::deadline_exceeded) return true;
  switch (why.code()) {
    case ErrorCode::invalid_argument:
    case ErrorCode::arity_mismatch:
    case ErrorCode::shape_mismatch:
    case ErrorCode::dtype_mismatch:
    case ErrorCode::invalid_parameter:
    case ErrorCode::unsupported: return true;
    default: return false;
  }
}

}  // namespace stoker::nn::detail
