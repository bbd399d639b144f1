#include "stoker/api/nn/fit.hpp"

#include <chrono>
#include <cmath>
#include <deque>
#include <iomanip>
#include <ostream>
#include <sstream>

#include "stoker/api/nn/bad_row.hpp"

namespace stoker::nn {
namespace {

using Clock = std::chrono::steady_clock;

double milliseconds_since(Clock::time_point begin) {
  return std::chrono::duration<double, std::milli>(Clock::now() - begin).count();
}

/// Refuses a loss that is not finite, and says why if a row is to blame.
[[noreturn]] void refuse_loss(const std::string& of, double value, const std::optional<BadRow>& bad,
                              std::vector<Detail> details) {
  details.push_back({"loss", std::to_string(value)});
  if (bad) details.insert(details.end(), bad->details.begin(), bad->details.end());
  throw Error{"fit", ErrorCode::invalid_argument,
              of + " is " + (std::isnan(value) ? "nan" : std::to_string(value)) + ": " +
                  (bad ? bad->text
                       : "all its rows are finite; look for a learning rate that is too high, or "
                         "predictions that the loss has no number for"),
              std::move(details)};
}

/// The losses of an epoch, looked at while later steps run: what is asked for ahead stays bounded.
class Losses {
 public:
  /// `refuse` is called with the number of the first batch whose loss is not finite, and throws.
  explicit Losses(std::function<void(std::int64_t batch, double loss)> refuse)
      : refuse_{std::move(refuse)} {}

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
    if (!std::isfinite(value)) refuse_(one.batch, value);
    sum_ += value * static_cast<double>(one.rows);
    rows_ += one.rows;
  }

  std::function<void(std::int64_t, double)> refuse_;
  std::deque<One> open_;
  double sum_ = 0;
  std::int64_t rows_ = 0;
};

void check(const Model& model, const char* what, const Dataset& data, const FitOptions& options) {
  const auto refuse = [](const std::string& why) {
    throw Error{"fit", ErrorCode::invalid_argument, why};
  };
  if (options.epochs < 1 || options.first_epoch < 1)
    refuse("epochs are counted from 1, and there is at least one");
  if (data.size() == 0) refuse("the " + std::string{what} + " is empty");
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
  check(model, "data set", data, options);
  if (options.validation) check(model, "validation set", *options.validation, options);
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
      Losses losses{[&](std::int64_t batch, double loss) {
        refuse_loss("the loss of batch " + std::to_string(batch), loss,
                    find_bad_row(model, loader, epoch, batch), {{"batch", std::to_string(batch)}});
      }};
      std::int64_t number = 0;
      for (const Batch& batch : loader.epoch(epoch))
        losses.add(model.train_step(batch), batch.rows, number++);
      metrics.loss = losses.mean();
      if (options.validation) {
        Evaluation found = model.evaluate(*options.validation, options.metrics);
        if (!std::isfinite(found.loss))
          refuse_loss("the validation loss", found.loss, find_bad_row(model, *options.validation),
                      {});
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
namespace {

void check_option(const char* callback, const char* option, double value, bool right,
                  const char* expected) {
  if (right) return;
  std::ostringstream text;
  text << option << ": expected " << expected << ", got " << value;
  throw Error{callback, ErrorCode::invalid_argument, text.str(), {{"option", option}}};
}

}  // namespace

Callback early_stopping(int patience, double least) {
  check_option("early_stopping", "patience", patience, patience >= 1, "1 or more");
  check_option("early_stopping", "least", least, least >= 0, "0 or more");
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
  check_option("checkpoint", "every", static_cast<double>(every), every >= 1, "1 or more");
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
  check_option("reduce_on_plateau", "patience", patience, patience >= 1, "1 or more");
  check_option("reduce_on_plateau", "factor", factor, factor > 0 && factor < 1,
               "more than 0 and less than 1");
  check_option("reduce_on_plateau", "least", least, least >= 0, "0 or more");
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
  check_option("warmup", "epochs", static_cast<double>(epochs), epochs >= 1, "1 or more");
  check_option("warmup", "start", start, start >= 0, "0 or more");
  return [=](const EpochMetrics& metrics, Training& training) {
    if (metrics.epoch > epochs) return;
    const double part = static_cast<double>(metrics.epoch) / static_cast<double>(epochs);
    training.model().set_learning_rate_scale(start + (1 - start) * part);
  };
}

}  // namespace callbacks

}  // namespace stoker::nn
