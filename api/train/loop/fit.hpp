// Training by whole epochs.
//
//     History history = fit(model, Dataset{x, y}, {.epochs = 5, .validation = held_out});
//
// Batches are read in the background and steps started ahead of their results; after each epoch the losses
// are looked at. A callback then sees what the epoch came to and may end the training, change the learning
// rate or save the model.
//
// After each batch whose loss is known an `on_batch` callback sees how far training has come
// (progress.hpp): steps that were started later may be on their way. fit_run.hpp is the same training in
// small parts; trainer.hpp runs it as a supervised actor.
//
// FitOptions::limits give a training a deadline or a token that cancels it: no step begins any more, and what
// waits for one is told. Only a reader that is just running comes to its end, and the callbacks of a whole
// epoch are called.
//
// A loss that is not finite, limits that ended it, a data set that does not fit, whatever a reader or a callback throws: all end
// the training with the model as it was after the last whole epoch. Where a row is to blame for a loss that
// is not finite, a NaN in it or a class that does not exist, the error names it: details "row", "input" or
// "target".
//
// Threads: any but a host's event loop: fit() waits. Two that train one model take turns by steps.
// Errors are thrown.
#pragma once

#include <functional>
#include <iosfwd>

#include "stoker/api/train/loop/callback.hpp"
#include "stoker/api/train/loop/progress.hpp"
#include "stoker/api/train/model/model.hpp"

namespace stoker::nn {

/// What an epoch came to.
struct EpochMetrics {
  std::int64_t epoch = 0;  ///< from 1 on
  std::int64_t epochs = 0;
  double loss = 0;  ///< the mean over all rows, each before its step
  std::optional<double> validation_loss = {};
  std::map<std::string, double> validation_metrics = {};  ///< FitOptions::metrics
  double learning_rate = 0;  ///< at its end: learning_rate() of the model, before the callbacks
  double milliseconds = 0;
  double total_milliseconds = 0;
  std::optional<double> remaining_milliseconds = {};  ///< none after the last
  double rows_per_second = 0;
};
using History = std::vector<EpochMetrics>;

/// What a callback may do.
class Training {
 public:
  /// Both outlive it.
  Training(Model& model, const std::vector<Callback>& callbacks)
      : model_{model}, callbacks_{callbacks} {}
  [[nodiscard]] Model& model() noexcept { return model_; }
  /// All of them. Those that come later in the list have not seen the epoch yet.
  [[nodiscard]] std::span<const Callback> callbacks() const noexcept { return callbacks_; }
  /// No further epoch.
  void stop() noexcept { stopped_ = true; }
  [[nodiscard]] bool stopped() const noexcept { return stopped_; }

 private:
  friend class FitRun;
  Model& model_;
  const std::vector<Callback>& callbacks_;
  bool stopped_ = false;
};
using BatchCallback = std::function<void(const TrainingProgress& progress, Training& training)>;

struct FitOptions {
  std::int64_t epochs = 10;      ///< the number of the last one, as in Keras, however many are left
  std::int64_t first_epoch = 1;  ///< of a training that goes on: the one after the last
  std::int64_t batch_size = 32;
  bool shuffle = true;
  std::optional<std::uint64_t> seed = {};  ///< of the order of rows; none: the model's
  std::int64_t prefetch = 2;
  std::optional<Dataset> validation = {};
  std::vector<MetricName> metrics = {};  ///< of the validation data: metrics::Accuracy{}
  std::vector<Callback> callbacks = {};
  std::vector<BatchCallback> on_batch = {};
  /// Of every step and of the validation. The cause is thrown: see above.
  CommandOptions limits = {};
  std::ostream* log = nullptr;  ///< what is trained, then a line after each epoch
};

History fit(Model& model, const Dataset& data, const FitOptions& options = {});

/// "epoch 2/10  loss 0.3141  validation loss 0.4  accuracy 0.9  12800 rows/s  78 ms  0.6 s left"
[[nodiscard]] std::string epoch_line(const EpochMetrics& metrics);
/// What a callback that watches a training looks at: the validation loss; without one the loss.
[[nodiscard]] double watched_loss(const EpochMetrics& metrics);

/// Copies of a callback share what it has seen, and save_training() writes it (training_file.hpp). Made with
/// numbers that make no sense they throw invalid_argument.
namespace callbacks {

/// Ends the training when the validation loss (without one: the loss) has not gone below the best by
/// more than `least` for `patience` epochs.
[[nodiscard]] Callback early_stopping(int patience, double least = 1e-4);
/// Saves the training every so many epochs, as "checkpoint_epoch_N.safetensors" in a folder that is made:
/// a file that save_training() writes. It stands last, for what comes after it has not seen the epoch.
[[nodiscard]] Callback checkpoint(std::int64_t every, std::filesystem::path folder);
/// Saves the model whenever the loss that is watched is the least so far.
[[nodiscard]] Callback best_checkpoint(std::filesystem::path file);
/// Multiplies the learning rate by `factor` whenever the loss has not gone down for `patience` epochs, to
/// no less than `least` times what it was at first.
[[nodiscard]] Callback reduce_on_plateau(int patience = 5, double factor = 0.5,
                                         double least = 1e-6);
/// The learning rate rises in a line from `start` times its value after epoch 1 to all of it after
/// epoch `epochs`.
[[nodiscard]] Callback warmup(std::int64_t epochs, double start = 0);
/// epoch_line() after each epoch. The stream outlives the training.
[[nodiscard]] Callback logging(std::ostream& out);
/// Adds what each epoch came to, so that it is there also when the training fails. Look at it when no
/// training writes to it.
[[nodiscard]] Callback history(std::shared_ptr<History> history);
/// A line of comma-separated values after each epoch, to a file that is begun with the training: epoch,
/// loss, validation_loss, the metrics by name, learning_rate, milliseconds. A training that goes on from a
/// file goes on with it. Throws io_error.
[[nodiscard]] Callback csv(std::filesystem::path file);
/// Another callback after every nth epoch only. Throws invalid_argument for n < 1.
[[nodiscard]] Callback every(std::int64_t n, Callback callback);
/// What trainings mostly want: early stopping after `patience` epochs, a checkpoint every
/// `checkpoint_every`, and a rise of the learning rate if `warmup_epochs` is not 0.
struct Standard {
  int patience = 5;
  std::int64_t checkpoint_every = 10;
  std::filesystem::path folder = "checkpoints";
  std::int64_t warmup_epochs = 0;
};
[[nodiscard]] std::vector<Callback> standard(const Standard& options = {});

/// A bar with batches, loss, rows/s and what is left: on a terminal drawn over again, else a line after
/// each epoch (progress.hpp). The stream outlives the training.
[[nodiscard]] BatchCallback progress_bar(std::ostream& out);
/// Another callback after every nth batch of an epoch, and after its last.
[[nodiscard]] BatchCallback every(std::int64_t n, BatchCallback callback);

}  // namespace callbacks

}  // namespace stoker::nn
