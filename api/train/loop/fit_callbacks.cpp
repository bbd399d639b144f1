// The callbacks that fit.hpp names.
#include <algorithm>
#include <fstream>
#include <limits>
#include <nlohmann/json.hpp>
#include <ostream>
#include <sstream>

#include "stoker/api/train/loop/training_file.hpp"
#include "stoker/runtime/base/json_text.hpp"

namespace stoker::nn {
namespace {

void check_option(const char* callback, const char* option, double value, bool right,
                  const char* expected) {
  if (right) return;
  std::ostringstream text;
  text << option << ": expected " << expected << ", got " << value;
  throw Error{callback, ErrorCode::invalid_argument, text.str(), {{"option", option}}};
}

void check_patience(const char* callback, std::int64_t epochs) {
  check_option(callback, "patience", static_cast<double>(epochs), epochs >= 1, "1 or more");
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

using nlohmann::json;

/// What a callback has seen of the losses that it watches.
struct Watched {
  std::optional<double> best;
  std::int64_t misses = 0;  ///< epochs since
};
json to_text(const Watched& seen) {
  return {{"best", seen.best ? json(*seen.best) : json()}, {"misses", seen.misses}};
}
void from_text(const json& text, Watched& seen) {
  Watched read;
  if (const json& best = text.at("best"); !best.is_null()) read.best = best.get<double>();
  read.misses = text.at("misses").get_ref<const std::int64_t&>();
  seen = read;
}

json to_text(bool seen) { return seen; }
void from_text(const json& text, bool& seen) { seen = text.get<bool>(); }

/// A value that a callback keeps.
template <class Seen> class Memory final : public CallbackMemory {
 public:
  explicit Memory(const char* its_kind) : kind_{its_kind} {}
  [[nodiscard]] std::string_view kind() const noexcept override { return kind_; }
  [[nodiscard]] std::string seen() const override { return write_json(to_text(value)); }
  void recall(std::string_view text) override {
    try {
      from_text(parse_json_or_throw(text), value);
    } catch (const json::exception& error) {
      throw Error{kind_, ErrorCode::invalid_argument,
                  std::string{"this is not what the callback has seen: "} + error.what()};
    }
  }
  Seen value{};

 private:
  const char* const kind_;
};

}  // namespace

namespace callbacks {

Callback early_stopping(const EarlyStopping& options) {
  check_patience("early_stopping", options.patience);
  check_option("early_stopping", "min_delta", options.min_delta, options.min_delta >= 0,
               "0 or more");
  // A callback may be copied; what it has seen is one.
  const auto memory = std::make_shared<Memory<Watched>>("early_stopping");
  return {[options, memory](const EpochMetrics& metrics, Training& training) {
            Watched& seen = memory->value;
            const double value = watched_loss(metrics);
            if (!seen.best || value < *seen.best - options.min_delta) {
              seen = {value, 0};
            } else if (++seen.misses >= options.patience) {
              training.stop();
            }
          },
          memory};
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
    save_training(training.model(), metrics.epoch, training.callbacks(),
                  folder / ("checkpoint_epoch_" + std::to_string(metrics.epoch) + ".safetensors"));
  };
}

Callback reduce_on_plateau(const ReduceOnPlateau& options) {
  check_patience("reduce_on_plateau", options.patience);
  check_option("reduce_on_plateau", "factor", options.factor,
               options.factor > 0 && options.factor < 1, "more than 0 and less than 1");
  check_option("reduce_on_plateau", "min_scale", options.min_scale, options.min_scale >= 0,
               "0 or more");
  const auto memory = std::make_shared<Memory<Watched>>("reduce_on_plateau");
  return {[=](const EpochMetrics& metrics, Training& training) {
            Watched& seen = memory->value;
            const double value = watched_loss(metrics);
            if (!seen.best || value < *seen.best) {
              seen = {value, 0};
            } else if (seen.misses + 1 >= options.patience) {
              Model& model = training.model();
              model.set_learning_rate_scale(
                  std::max(model.learning_rate_scale() * options.factor, options.min_scale));
              seen.misses = 0;  // only now: who throws is called again
            } else {
              ++seen.misses;
            }
          },
          memory};
}

Callback warmup(const Warmup& options) {
  check_option("warmup", "epochs", static_cast<double>(options.epochs), options.epochs >= 1,
               "1 or more");
  check_option("warmup", "start", options.start, options.start >= 0, "0 or more");
  return [options](const EpochMetrics& metrics, Training& training) {
    if (metrics.epoch > options.epochs) return;
    const double part = static_cast<double>(metrics.epoch) / static_cast<double>(options.epochs);
    training.model().set_learning_rate_scale(options.start + (1 - options.start) * part);
  };
}

Callback best_checkpoint(std::filesystem::path file) {
  const auto memory = std::make_shared<Memory<Watched>>("best_checkpoint");
  return {[file = std::move(file), memory](const EpochMetrics& metrics, Training& training) {
            Watched& seen = memory->value;
            const double value = watched_loss(metrics);
            if (seen.best && value >= *seen.best) {
              ++seen.misses;
              return;
            }
            training.model().save(file);
            seen = {value, 0};
          },
          memory};
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
  const auto begun = std::make_shared<Memory<bool>>("csv");
  const auto add = [file = std::move(file), begun](const EpochMetrics& metrics, Training&) {
    if (!std::filesystem::exists(file)) begun->value = false;
    std::ofstream out{file, begun->value ? std::ios::app : std::ios::trunc};
    out.precision(std::numeric_limits<double>::max_digits10);
    if (!begun->value) {
      out << "epoch,loss,validation_loss";
      for (const auto& [name, value] : metrics.validation_metrics) out << ',' << quoted(name);
      out << ",learning_rate,milliseconds\n";
    }
    out << metrics.epoch << ',' << metrics.loss << ',';
    if (metrics.validation_loss) out << *metrics.validation_loss;
    for (const auto& [name, value] : metrics.validation_metrics) out << ',' << value;
    out << ',' << metrics.learning_rate << ',' << metrics.milliseconds << '\n';
    out.flush();
    if (!out)
      throw Error{
          "csv", ErrorCode::io_error, "cannot write " + file.string(), {{"file", file.string()}}};
    begun->value = true;
  };
  return {add, begun};
}

Callback every(std::int64_t n, Callback callback) {
  check_every(n, static_cast<bool>(callback));
  const std::shared_ptr<CallbackMemory> memory = callback.memory();
  return {[n, callback = std::move(callback)](const EpochMetrics& metrics, Training& training) {
            if (metrics.epoch % n == 0) callback(metrics, training);
          },
          memory};
}

std::vector<Callback> standard(const Standard& options) {
  std::vector<Callback> all{early_stopping({.patience = options.patience})};
  if (options.warmup_epochs > 0) all.push_back(warmup({.epochs = options.warmup_epochs}));
  all.push_back(checkpoint(options.checkpoint_every, options.folder));
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
