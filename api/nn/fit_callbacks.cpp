// The callbacks that fit.hpp names.
#include <fstream>
#include <limits>
#include <ostream>
#include <sstream>

#include "stoker/api/nn/fit.hpp"

namespace stoker::nn {
namespace {

void check_option(const char* callback, const char* option, double value, bool right,
                  const char* expected) {
  if (right) return;
  std::ostringstream text;
  text << option << ": expected " << expected << ", got " << value;
  throw Error{callback, ErrorCode::invalid_argument, text.str(), {{"option", option}}};
}

void check_every(std::int64_t n, bool callable) {
  if (n < 1)
    throw Error{"every", ErrorCode::invalid_argument,
                "expected a number from 1 on, got " + std::to_string(n)};
  if (!callable)
    throw Error{"every", ErrorCode::invalid_argument, "expected a function, got an empty one"};
}

/// A field as RFC 4180 writes it: metrics may have commas in their options.
std::string quoted(const std::string& field) {
  if (field.find_first_of(",\"\r\n") == std::string::npos) return field;
  std::string text = "\"";
  for (const char c : field) {
    if (c == '"') text += '"';
    text += c;
  }
  return text + '"';
}

}  // namespace

namespace callbacks {

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
    const double value = watched_loss(metrics);
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
    const double value = watched_loss(metrics);
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

Callback best_checkpoint(std::filesystem::path file) {
  return [file = std::move(file), best = std::make_shared<std::optional<double>>()](
             const EpochMetrics& metrics, Training& training) {
    const double value = watched_loss(metrics);
    if (*best && value >= **best) return;
    training.model().save(file);
    *best = value;
  };
}

Callback logging(std::ostream& out) {
  return [&out](const EpochMetrics& metrics, Training&) { out << epoch_line(metrics) << '\n'; };
}

Callback history(std::shared_ptr<History> history) {
  if (!history)
    throw Error{"history", ErrorCode::invalid_argument, "expected a place for it, got a null"};
  return [history = std::move(history)](const EpochMetrics& metrics, Training&) {
    history->push_back(metrics);
  };
}

Callback csv(std::filesystem::path file) {
  return [file = std::move(file), begun = std::make_shared<bool>(false)](
             const EpochMetrics& metrics, Training&) {
    std::ofstream out{file, *begun ? std::ios::app : std::ios::trunc};
    out.precision(std::numeric_limits<double>::max_digits10);
    if (!*begun) {
      out << "epoch,loss,validation_loss";
      for (const auto& [name, value] : metrics.validation_metrics) out << ',' << quoted(name);
      out << ",milliseconds\n";
    }
    out << metrics.epoch << ',' << metrics.loss << ',';
    if (metrics.validation_loss) out << *metrics.validation_loss;
    for (const auto& [name, value] : metrics.validation_metrics) out << ',' << value;
    out << ',' << metrics.milliseconds << '\n';
    out.flush();
    if (!out)
      throw Error{
          "csv", ErrorCode::io_error, "cannot write " + file.string(), {{"file", file.string()}}};
    *begun = true;
  };
}

Callback every(std::int64_t n, Callback callback) {
  check_every(n, static_cast<bool>(callback));
  return [n, callback = std::move(callback)](const EpochMetrics& metrics, Training& training) {
    if (metrics.epoch % n == 0) callback(metrics, training);
  };
}

std::vector<Callback> standard(const Standard& options) {
  std::vector<Callback> all{early_stopping(options.patience),
                            checkpoint(options.checkpoint_every, options.folder)};
  if (options.warmup_epochs > 0) all.push_back(warmup(options.warmup_epochs));
  return all;
}

BatchCallback progress_bar(std::ostream& out) {
  return [bar = std::make_shared<ProgressBar>(out)](const TrainingProgress& progress, Training&) {
    bar->show(progress);
  };
}

BatchCallback every(std::int64_t n, BatchCallback callback) {
  check_every(n, static_cast<bool>(callback));
  return [n, callback = std::move(callback)](const TrainingProgress& progress, Training& training) {
    if (progress.batch % n == 0 || progress.ends_epoch()) callback(progress, training);
  };
}

}  // namespace callbacks

}  // namespace stoker::nn
