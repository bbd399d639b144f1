// Training over epochs.
//
//     History history = fit(model, Dataset{x, y}, {.epochs = 5, .validation = held_out});
//
// Batches are read in the background, and steps start before the results of earlier ones are known;
// losses are read after each epoch. A callback then gets the epoch's metrics and may end the
// training, change the learning rate or save the model.
//
// An `on_batch` callback gets the progress (progress.hpp) each time a batch's loss becomes known;
// later steps may already be running. fit_run.hpp is the same training in small parts; trainer.hpp
// runs it as a supervised actor.
//
// FitOptions::limits give a training a deadline or a cancellation token. When they are exceeded, no
// further step starts and pending waits fail; only a running reader finishes, and the callbacks of
// a completed epoch are still called.
//
// A non-finite loss, exceeded limits, data that do not fit and exceptions of readers or callbacks
// end the training; the model is then as it was after the last completed epoch. If a row causes the
// non-finite loss (a NaN, or a class out of range), the error names it: details "row", "input" or
// "target".
//
// Threads: any except a host's event loop, because fit() blocks. Two threads that train one model
// alternate by steps. Errors are thrown.
#pragma once

#include <functional>
#include <iosfwd>

#include "stoker/api/train/loop/callback.hpp"
#include "stoker/api/train/loop/progress.hpp"
#include "stoker/api/train/model/model.hpp"

namespace stoker::nn {

/// The results of an epoch.
struct EpochMetrics {
  std::int64_t epoch = 0;  ///< from 1 on
  std::int64_t epochs = 0;
  double loss = 0;  ///< the mean over all rows, each before its step
  std::optional<double> validation_loss = {};
  std::map<std::string, double> validation_metrics = {};  ///< FitOptions::metrics
  double learning_rate = 0;  ///< at the end of the epoch, before the callbacks run
  double milliseconds = 0;
  double total_milliseconds = 0;
  std::optional<double> remaining_milliseconds = {};  ///< none after the last epoch
  double rows_per_second = 0;
};
using History = std::vector<EpochMetrics>;

/// A callback's access to the running training.
class Training {
 public:
  /// Both arguments must outlive this object.
  Training(Model& model, const std::vector<Callback>& callbacks)
      : model_{model}, callbacks_{callbacks} {}
  [[nodiscard]] Model& model() noexcept { return model_; }
  /// All callbacks. Those later in the list have not seen the current epoch yet.
  [[nodiscard]] std::span<const Callback> callbacks() const noexcept { return callbacks_; }
  /// Ends the training after this epoch.
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
  std::int64_t epochs = 10;      ///< the number of the last epoch, as in Keras, not the count
  std::int64_t first_epoch = 1;  ///< to resume: the last completed epoch + 1
  std::int64_t batch_size = 32;
  bool shuffle = true;
  std::optional<std::uint64_t> seed = {};  ///< for the order of rows; default: the model's seed
  std::int64_t prefetch = 2;
  std::optional<Dataset> validation = {};
  std::vector<MetricName> metrics = {};  ///< computed on the validation data: metrics::Accuracy{}
  std::vector<Callback> callbacks = {};
  std::vector<BatchCallback> on_batch = {};
  /// Limits for every step and the validation; fit() throws their cause (see above).
  CommandOptions limits = {};
  std::ostream* log = nullptr;  ///< a line about the model, then one for each epoch
};

History fit(Model& model, const Dataset& data, const FitOptions& options = {});

/// "epoch 2/10  loss 0.3141  validation loss 0.4  accuracy 0.9  12800 rows/s  78 ms  0.6 s left"
[[nodiscard]] std::string epoch_line(const EpochMetrics& metrics);
/// The loss that callbacks monitor: the validation loss, or the training loss if there is none.
[[nodiscard]] double watched_loss(const EpochMetrics& metrics);

/// Copies of a callback share its state, and save_training() saves it (training_file.hpp). All
/// functions here throw invalid_argument for numbers out of range.
namespace callbacks {

struct EarlyStopping {
  std::int64_t patience = 5;  ///< epochs without an improvement
  double min_delta =
      1e-4;  ///< an improvement is a loss that is lower than the best by more than this
};
/// Ends the training when watched_loss() has not improved for `patience` epochs.
[[nodiscard]] Callback early_stopping(const EarlyStopping& options = {});
/// Calls save_training() after every `every` epochs, to "checkpoint_epoch_N.safetensors" in
/// `folder`, which is created. Put it last in the list: later callbacks have not seen the epoch
/// when it saves.
[[nodiscard]] Callback checkpoint(std::int64_t every, std::filesystem::path folder);
/// Saves the model whenever watched_loss() is the lowest so far.
[[nodiscard]] Callback best_checkpoint(std::filesystem::path file);
struct ReduceOnPlateau {
  std::int64_t patience = 5;  ///< epochs in which the loss does not fall
  double factor = 0.5;
  double min_scale = 1e-6;  ///< the lowest learning rate, as a share of its initial value
};
/// Multiplies the learning rate by `factor` whenever the loss has not fallen for `patience` epochs.
[[nodiscard]] Callback reduce_on_plateau(const ReduceOnPlateau& options = {});
struct Warmup {
  std::int64_t epochs = 1;
  double start = 0;  ///< a share of the learning rate
};
/// Raises the learning rate linearly from `start` times its value after epoch 1 to its full value
/// after epoch `epochs`.
[[nodiscard]] Callback warmup(const Warmup& options = {});
/// Writes epoch_line() after each epoch. The stream must outlive the training.
[[nodiscard]] Callback logging(std::ostream& out);
/// Appends each epoch's metrics to `history`, so that they survive a failed training. Do not read
/// it while a training runs.
[[nodiscard]] Callback history(std::shared_ptr<History> history);
/// Writes a line of comma-separated values after each epoch: epoch, loss, validation_loss, the
/// metrics by name, learning_rate, milliseconds. A new training overwrites the file; a resumed one
/// appends. Throws io_error.
[[nodiscard]] Callback csv(std::filesystem::path file);
/// Calls `callback` only after every nth epoch. Throws invalid_argument for n < 1.
[[nodiscard]] Callback every(std::int64_t n, Callback callback);
/// The usual callbacks: early stopping after `patience` epochs, a checkpoint every
/// `checkpoint_every` epochs, and a learning-rate warmup if `warmup_epochs` is not 0.
struct Standard {
  std::int64_t patience = 5;
  std::int64_t checkpoint_every = 10;
  std::filesystem::path folder = "checkpoints";
  std::int64_t warmup_epochs = 0;
};
[[nodiscard]] std::vector<Callback> standard(const Standard& options = {});

/// A bar with batches, loss, rows/s and remaining time. On a terminal it is redrawn in place;
/// elsewhere there is one line for each epoch (progress.hpp). The stream must outlive the training.
[[nodiscard]] BatchCallback progress_bar(std::ostream& out);
/// Calls `callback` only after every nth batch of an epoch, and after its last batch.
[[nodiscard]] BatchCallback every(std::int64_t n, BatchCallback callback);

}  // namespace callbacks

}  // namespace stoker::nn
