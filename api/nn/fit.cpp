#include "stoker/api/nn/fit.hpp"

#include <chrono>
#include <cmath>
#include <deque>
#include <iomanip>
#include <ostream>
#include <sstream>

namespace stoker::nn {
namespace {

using Clock = std::chrono::steady_clock;

double milliseconds_since(Clock::time_point begin) {
  return std::chrono::duration<double, std::milli>(Clock::now() - begin).count();
}

/// The losses of an epoch, looked at while later steps run: what is asked for ahead stays bounded.
class Losses {
 public:
  void add(Tensor loss, std::int64_t rows, std::int64_t batch) {
    open_.push_back({std::move(loss), rows, batch});
    if (open_.size() > most_ahead) look();
  }
  [[nodiscard]] double mean() {
    while (!open_.empty()) look();
    return sum_ / static_cast<double>(rows_);
  }

 private:
  struct One {
    Tensor loss;
    std::int64_t rows;
    std::int64_t batch;
  };
  static constexpr std::size_t most_ahead = 64;

  void look() {
    const One one = std::move(open_.front());
    open_.pop_front();
    const double value = one.loss.item<double>();
    if (!std::isfinite(value))
      throw Error{"fit",
                  ErrorCode::invalid_argument,
                  "the loss of batch " + std::to_string(one.batch) + " is " +
                      std::to_string(value) +
                      ": look for NaN in the data, a class that does not exist, or a learning "
                      "rate that is too high",
                  {{"batch", std::to_string(one.batch)}, {"loss", std::to_string(value)}}};
    sum_ += value * static_cast<double>(one.rows);
    rows_ += one.rows;
  }

  std::deque<One> open_;
  double sum_ = 0;
  std::int64_t rows_ = 0;
};

void check(const Model& model, const Dataset& data, const FitOptions& options) {
  const auto refuse = [](const std::string& why) {
    throw Error{"fit", ErrorCode::invalid_argument, why};
  };
  if (options.epochs < 1 || options.first_epoch < 1)
    refuse("epochs are counted from 1, and there is at least one");
  if (data.size() == 0) refuse("the data set is empty");
  const auto inputs = model.network().inputs();
  if (data.specs().inputs.size() != inputs.size())
    throw Error{"fit",
                ErrorCode::arity_mismatch,
                "the network has " + std::to_string(inputs.size()) + " inputs, the data " +
                    std::to_string(data.specs().inputs.size()),
                {{"expected", std::to_string(inputs.size())},
                 {"got", std::to_string(data.specs().inputs.size())}}};
  for (std::size_t i = 0; i < inputs.size(); ++i)
    if (data.specs().inputs[i].shape != inputs[i].row.shape)
      throw Error{"fit",
                  ErrorCode::shape_mismatch,
                  "input '" + inputs[i].name + "': expected rows of " +
                      inputs[i].row.shape.to_string() + ", the data has " +
                      data.specs().inputs[i].shape.to_string(),
                  {{"input", inputs[i].name}}};
}

/// One line; how numbers are written to `out` stays as it is.
void write(std::ostream& out, const EpochMetrics& metrics) {
  std::ostringstream line;
  line << "epoch " << metrics.epoch << '/' << metrics.epochs << std::fixed << std::setprecision(4)
       << "  loss " << metrics.loss;
  if (metrics.validation_loss) line << "  validation loss " << *metrics.validation_loss;
  for (const auto& [name, value] : metrics.validation_metrics) line << "  " << name << ' ' << value;
  line << std::setprecision(0) << "  " << metrics.rows_per_second << " rows/s  "
       << metrics.milliseconds << " ms";
  if (metrics.remaining_milliseconds)
    line << "  " << std::setprecision(1) << *metrics.remaining_milliseconds / 1000 << " s left";
  out << line.str() << '\n';
}

double watched(const EpochMetrics& metrics) {
  return metrics.validation_loss.value_or(metrics.loss);
}

}  // namespace

History fit(Model& model, const Dataset& data, const FitOptions& options) {
  check(model, data, options);
  if (options.validation) check(model, *options.validation, options);
  for (const Named& one : options.metrics) (void)metric(one);
  const DeviceScope scope{model.device()};
  const Loader loader{data,
                      {.batch_size = options.batch_size,
                       .shuffle = options.shuffle,
                       .seed = options.seed.value_or(model.options().seed),
                       .prefetch = options.prefetch}};
  History history;
  Training training{model};
  const auto begin = Clock::now();
  const std::int64_t last = options.first_epoch + options.epochs - 1;
  for (std::int64_t epoch = options.first_epoch; epoch <= last && !training.stopped(); ++epoch) {
    const auto epoch_begin = Clock::now();
    const TrainingState before = model.state();
    EpochMetrics metrics{.epoch = epoch, .epochs = last};
    try {
      Losses losses;
      std::int64_t number = 0;
      for (const Batch& batch : loader.epoch(epoch))
        losses.add(model.train_step(batch), batch.rows, number++);
      metrics.loss = losses.mean();
      if (options.validation) {
        Evaluation found = model.evaluate(*options.validation, options.metrics);
        metrics.validation_loss = found.loss;
        metrics.validation_metrics = std::move(found.metrics);
      }
    } catch (...) {
      model.restore(before);
      throw;
    }
    metrics.milliseconds = milliseconds_since(epoch_begin);
    metrics.total_milliseconds = milliseconds_since(begin);
    const auto done = static_cast<double>(epoch - options.first_epoch + 1);
    if (epoch < last)
      metrics.remaining_milliseconds =
          metrics.total_milliseconds / done * static_cast<double>(last - epoch);
    metrics.rows_per_second =
        static_cast<double>(data.size()) / std::max(metrics.milliseconds, 1e-3) * 1000;
    if (options.log) write(*options.log, metrics);
    history.push_back(metrics);
    for (const Callback& callback : options.callbacks) callback(metrics, training);
  }
  return history;
}

namespace callbacks {

Callback early_stopping(int patience, double least) {
  // A callback may be copied; what it has seen is one.
  struct Seen {
    std::optional<double> best;
    int misses = 0;
  };
  return [patience, least, seen = std::make_shared<Seen>()](const EpochMetrics& metrics,
                                                            Training& training) {
    const double value = watched(metrics);
    if (!seen->best || value < *seen->best - least) {
      seen->best = value;
      seen->misses = 0;
    } else if (++seen->misses >= patience) {
      training.stop();
    }
  };
}

Callback checkpoint(std::int64_t every, std::filesystem::path folder) {
  if (every < 1)
    throw Error{"checkpoint", ErrorCode::invalid_argument, "every: expected 1 or more"};
  return [every, folder = std::move(folder)](const EpochMetrics& metrics, Training& training) {
    if (metrics.epoch % every != 0) return;
    std::error_code failure;
    std::filesystem::create_directories(folder, failure);
    if (failure)
      throw Error{"checkpoint",
                  ErrorCode::io_error,
                  "cannot make the folder " + folder.string() + ": " + failure.message(),
                  {{"file", folder.string()}}};
    training.model().save(folder /
                          ("checkpoint_epoch_" + std::to_string(metrics.epoch) + ".safetensors"));
  };
}

Callback reduce_on_plateau(int patience, double factor, double least) {
  struct Seen {
    std::optional<double> best;
    int misses = 0;
  };
  return [=, seen = std::make_shared<Seen>()](const EpochMetrics& metrics, Training& training) {
    const double value = watched(metrics);
    if (!seen->best || value < *seen->best) {
      seen->best = value;
      seen->misses = 0;
    } else if (++seen->misses >= patience) {
      seen->misses = 0;
      Model& model = training.model();
      model.set_learning_rate_scale(std::max(model.learning_rate_scale() * factor, least));
    }
  };
}

Callback warmup(std::int64_t epochs, double start) {
  return [=](const EpochMetrics& metrics, Training& training) {
    if (metrics.epoch > epochs || epochs < 1) return;
    const double part = static_cast<double>(metrics.epoch) / static_cast<double>(epochs);
    training.model().set_learning_rate_scale(start + (1 - start) * part);
  };
}

}  // namespace callbacks

}  // namespace stoker::nn
