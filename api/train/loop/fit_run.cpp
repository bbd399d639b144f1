#include "stoker/api/train/loop/fit_run.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <deque>
#include <functional>
#include <ostream>

#include "stoker/api/nn/graph/errors_as.hpp"
#include "stoker/api/tensor/core/transfer.hpp"
#include "stoker/api/train/loop/learning_rate.hpp"
#include "stoker/api/train/model/invalid_row.hpp"
#include "stoker/runtime/execution/clock.hpp"

namespace stoker::nn {
namespace {

using Clock = std::chrono::steady_clock;

double milliseconds_since(Clock::time_point begin) {
  return std::chrono::duration<double, std::milli>(Clock::now() - begin).count();
}

void refuse(const std::string& why) { throw Error{"fit", ErrorCode::invalid_argument, why}; }

/// Refuses a loss that is not finite, and says why if a row is to blame.
[[noreturn]] void refuse_loss(const std::string& of, double value,
                              const std::optional<InvalidRow>& bad, std::vector<Detail> details) {
  details.push_back({"loss", std::to_string(value)});
  if (bad) details.insert(details.end(), bad->details.begin(), bad->details.end());
  throw Error{"fit", ErrorCode::invalid_argument,
              of + " is " + (std::isnan(value) ? "nan" : std::to_string(value)) + ": " +
                  (bad ? bad->text
                       : "all its rows are finite; look for a learning rate that is too high, or "
                         "predictions that the loss has no number for"),
              std::move(details)};
}

void check(const Model& model, const char* what, const Dataset& data) {
  if (data.size() == 0) refuse("the " + std::string{what} + " is empty");
  const std::vector<std::size_t> places = model.network().places_of(data.specs().inputs.size());
  for (std::size_t i = 0; i < places.size(); ++i) {
    const Network::Input& input = model.network().inputs()[places[i]];
    const Shape& got = data.specs().inputs[i].shape;
    if (got != input.row.shape)
      throw Error{"fit",
                  ErrorCode::shape_mismatch,
                  "input '" + input.name + "': expected rows of " + input.row.shape.to_string() +
                      ", the data has " + got.to_string(),
                  {{"input", input.name}}};
  }
}

FitOptions checked(const Model& model, const Dataset& data, FitOptions options) {
  if (options.epochs < 1 || options.first_epoch < 1)
    refuse("epochs are counted from 1, and there is at least one");
  if (options.epochs < options.first_epoch)
    refuse("epochs: expected the number of the last one, at least first_epoch = " +
           std::to_string(options.first_epoch) + ", got " + std::to_string(options.epochs));
  check(model, "data set", data);
  if (options.validation) check(model, "validation set", *options.validation);
  for (const MetricName& one : options.metrics) (void)metric(one);
  if (!options.validation && !options.metrics.empty())
    refuse("metrics are those of validation data, and there is none");
  for (const Callback& one : options.callbacks)
    if (!one) refuse("callbacks: expected functions, got an empty one");
  for (const BatchCallback& one : options.on_batch)
    if (!one) refuse("on_batch: expected functions, got an empty one");
  return options;
}

Loader loader_of(Dataset data, const FitOptions& options, const Model& model) {
  return Loader{std::move(data),
                {.batch_size = options.batch_size,
                 .shuffle = options.shuffle,
                 .seed = options.seed.value_or(model.options().seed),
                 .prefetch = options.prefetch}};
}

/// The losses of an epoch, looked at while later steps run: what is asked for ahead stays bounded.
class Losses {
 public:
  /// `refuse` is called with the number of the first batch whose loss is not finite, and throws.
  Losses(std::function<void(std::int64_t batch, double loss)> refuse, const CommandOptions& limits)
      : refuse_{std::move(refuse)}, limits_{limits} {}

  void add(Tensor loss, std::int64_t rows) { open_.push_back({std::move(loss), rows}); }
  /// Looks at the next loss if it is there, or if too many are waited for.
  [[nodiscard]] bool look_if_due(bool eagerly) {
    if (open_.empty()) return false;
    if (open_.size() <= most_ahead && !(eagerly && open_.front().loss.computed().ready()))
      return false;
    look();
    return true;
  }
  /// Waits for the next one; false if there is none.
  [[nodiscard]] bool look_at_next() {
    if (open_.empty()) return false;
    look();
    return true;
  }
  [[nodiscard]] double mean() const { return sum_ / static_cast<double>(rows_); }
  [[nodiscard]] std::int64_t rows() const noexcept { return rows_; }
  [[nodiscard]] std::int64_t batches() const noexcept { return batches_; }

 private:
  struct One {
    Tensor loss;
    std::int64_t rows;
  };
  static constexpr std::size_t most_ahead = 64;

  void look() {
    const One one = std::move(open_.front());
    open_.pop_front();
    const double value = one.loss.item<double>(limits_);
    if (!std::isfinite(value)) refuse_(batches_, value);
    sum_ += value * static_cast<double>(one.rows);
    rows_ += one.rows;
    ++batches_;
  }

  std::function<void(std::int64_t, double)> refuse_;
  CommandOptions limits_;
  std::deque<One> open_;
  double sum_ = 0;
  std::int64_t rows_ = 0;
  std::int64_t batches_ = 0;
};

/// An epoch that is begun.
struct OpenEpoch {
  std::int64_t number;
  TrainingState before;
  Epoch batches;
  Losses losses;
  Clock::time_point begin = Clock::now();
};

}  // namespace

struct FitRun::Parts {
  Parts(Model its_model, Dataset data, FitOptions its_options)
      : model{std::move(its_model)},
        options{errors_as("fit", [&] { return checked(model, data, std::move(its_options)); })},
        loader{errors_as("fit", [&] { return loader_of(std::move(data), options, model); })},
        callbacks_called{options.callbacks.size()} {}

  [[nodiscard]] std::int64_t last() const { return options.epochs; }
  [[nodiscard]] std::int64_t next_epoch() const {
    return options.first_epoch + static_cast<std::int64_t>(history.size());
  }

  void begin_epoch() {
    if (options.log && history.empty() && !announced) announce();
    // The state first: if reading cannot begin, there is nothing to go back from.
    TrainingState before = model.state();
    const std::int64_t number = next_epoch();
    // Not `this`: a run may be moved.
    Losses losses{
        [its_model = model, its_loader = loader, number](std::int64_t batch, double loss) {
          refuse_loss("the loss of batch " + std::to_string(batch), loss,
                      find_bad_row(its_model, its_loader, number, batch),
                      {{"batch", std::to_string(batch)}});
        },
        options.limits};
    open.emplace(OpenEpoch{number, std::move(before), loader.epoch(number), std::move(losses)});
  }

  void announce() {
    announced = true;
    const std::int64_t steps = std::max<std::int64_t>(model.options().accumulate_gradients, 1);
    *options.log << "training: " << loader.data().size() << " rows in " << loader.batches()
                 << " batches of " << options.batch_size;
    if (steps > 1) *options.log << " (" << options.batch_size * steps << " for each update)";
    *options.log << ", " << model.options().optimizer.text() << '\n';
  }

  void tell_batch() {
    if (options.on_batch.empty()) return;
    const TrainingProgress progress = now();
    for (const BatchCallback& callback : options.on_batch) callback(progress, training);
  }

  [[nodiscard]] TrainingProgress now() const {
    const double seconds = std::max(milliseconds_since(open->begin) / 1000, 1e-6);
    TrainingProgress progress{.epoch = open->number,
                              .epochs = last(),
                              .batch = open->losses.batches(),
                              .batches = loader.batches(),
                              .rows = open->losses.rows(),
                              .loss = open->losses.mean()};
    progress.rows_per_second = static_cast<double>(progress.rows) / seconds;
    const double one = seconds / static_cast<double>(std::max<std::int64_t>(progress.batch, 1));
    const double whole = one * static_cast<double>(progress.batches);
    progress.epoch_remaining = one * static_cast<double>(progress.batches - progress.batch);
    // Whole epochs, which include the validation, say more about those to come than a part of one.
    const double each = history.empty() ? whole
                                        : history.back().total_milliseconds / 1000 /
                                              static_cast<double>(history.size());
    progress.remaining_seconds =
        progress.epoch_remaining + each * static_cast<double>(last() - open->number);
    return progress;
  }

  void end_epoch() {
    while (open->losses.look_at_next()) tell_batch();
    if (options.limits.deadline || options.limits.cancel.valid()) settle_state();
    EpochMetrics metrics{.epoch = open->number, .epochs = last(), .loss = open->losses.mean()};
    if (options.validation) {
      Evaluation found = model.evaluate(*options.validation, options.metrics, 256, options.limits);
      if (!std::isfinite(found.loss))
        refuse_loss("the validation loss", found.loss, find_bad_row(model, *options.validation),
                    {});
      metrics.validation_loss = found.loss;
      metrics.validation_metrics = std::move(found.metrics);
    }
    metrics.learning_rate = learning_rate(model);
    metrics.milliseconds = milliseconds_since(open->begin);
    metrics.total_milliseconds = milliseconds_since(begin);
    if (metrics.epoch < last())
      metrics.remaining_milliseconds = metrics.total_milliseconds /
                                       static_cast<double>(history.size() + 1) *
                                       static_cast<double>(last() - metrics.epoch);
    metrics.rows_per_second =
        static_cast<double>(loader.data().size()) / std::max(metrics.milliseconds, 1e-3) * 1000;
    if (options.log) *options.log << epoch_line(metrics) << '\n';
    history.push_back(std::move(metrics));
    open.reset();
    callbacks_called = 0;
  }

  /// What limits could still end is no state to go back to.
  void settle_state() {
    const TrainingState reached = model.state();
    std::vector<Tensor> all{reached.key};
    for (const auto& [name, tensor] : reached.variables()) all.push_back(tensor);
    for (const auto& [name, tensor] : reached.slots) all.push_back(tensor);
    computed(all, options.limits).get();
  }

  Model model;
  FitOptions options;
  Loader loader;
  Training training{model, options.callbacks};
  History history;
  std::size_t callbacks_called;  ///< after the last whole epoch
  std::optional<OpenEpoch> open;
  Clock::time_point begin = Clock::now();
  bool announced = false;
};

FitRun::FitRun(Model model, Dataset data, FitOptions options)
    : parts_{std::make_unique<Parts>(std::move(model), std::move(data), std::move(options))} {}
FitRun::FitRun(FitRun&&) noexcept = default;
FitRun& FitRun::operator=(FitRun&&) noexcept = default;
FitRun::~FitRun() = default;

FitRun::Progress FitRun::advance() {
  Parts& run = *parts_;
  const DeviceScope scope{run.model.device()};
  if (!run.open) {
    if (run.callbacks_called < run.options.callbacks.size()) {
      run.options.callbacks[run.callbacks_called](run.history.back(), run.training);
      ++run.callbacks_called;
      return Progress::callback;
    }
    if (run.training.stopped() || run.next_epoch() > run.last()) return Progress::nothing;
  }
  run.options.limits.cancel.check();
  if (!run.open) run.begin_epoch();
  if (const std::optional<Batch> batch = run.open->batches.next()) {
    run.open->losses.add(run.model.train_step(*batch, run.options.limits), batch->rows);
    while (run.open->losses.look_if_due(!run.options.on_batch.empty())) run.tell_batch();
    return Progress::batch;
  }
  run.end_epoch();
  return Progress::epoch;
}

FitRun::Place FitRun::at() const noexcept {
  return {parts_->history.size(), parts_->callbacks_called};
}

bool FitRun::between_epochs() const noexcept { return !parts_->open; }

void FitRun::rewind() {
  Parts& run = *parts_;
  if (!run.open) return;
  run.model.restore(TrainingState{run.open->before});  // or, without memory, nothing changes
  run.open.reset();
  run.training.stopped_ = false;  // nobody had stopped it when the epoch began
}

void FitRun::rewind(const Place& place, TrainingState state) {
  Parts& run = *parts_;
  if (place.epochs > run.history.size() || place.callbacks > run.options.callbacks.size())
    refuse("rewind: expected an earlier place, got epoch " + std::to_string(place.epochs) + " of " +
           std::to_string(run.history.size()));
  run.model.restore(std::move(state));
  run.open.reset();
  run.history.resize(place.epochs);
  run.callbacks_called = place.callbacks;
}

void FitRun::settle() {
  if (!parts_->open) return;
  while (parts_->open->losses.look_at_next()) parts_->tell_batch();
}

void FitRun::idled(std::chrono::nanoseconds time) noexcept {
  parts_->begin += time;
  if (parts_->open) parts_->open->begin += time;
}

const History& FitRun::history() const noexcept { return parts_->history; }
const Model& FitRun::model() const noexcept { return parts_->model; }
const FitOptions& FitRun::options() const noexcept { return parts_->options; }

}  // namespace stoker::nn
