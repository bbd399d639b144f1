// `stoker train`: a script describes a model and its data, the verb trains it.
#include <CLI/CLI.hpp>
#include <iomanip>
#include <iostream>
#include <nlohmann/json.hpp>
#include <sstream>

#include "stoker/api/command_line/interrupts.hpp"
#include "stoker/api/command_line/journal.hpp"
#include "stoker/api/command_line/numbers.hpp"
#include "stoker/api/command_line/output.hpp"
#include "stoker/api/command_line/training_files.hpp"
#include "stoker/api/command_line/verbs.hpp"
#include "stoker/api/command_line/words/script_words.hpp"
#include "stoker/api/command_line/words/training_words.hpp"
#include "stoker/api/train/loop/training_file.hpp"
#include "stoker/api/train/script/training_library.hpp"
#include "stoker/runtime/base/printable.hpp"

namespace stoker::command_line {
namespace {

/// What a training came to, however it ended.
struct Outcome {
  nn::History history;
  std::optional<Error> failure;
  std::filesystem::path saved;   ///< empty: nowhere
  std::optional<Error> unsaved;  ///< why the model could not be saved
  std::int64_t wanted = 0;       ///< the epoch to end with

  [[nodiscard]] bool stopped_early() const {
    return !failure && !history.empty() && history.back().epoch < wanted;
  }
  /// What came first of what went wrong.
  [[nodiscard]] const std::optional<Error>& error() const { return failure ? failure : unsaved; }
};

/// Trains from where the plan's model is.
Outcome train(nn::TrainingPlan& plan, const TrainingWords& options, const CancelToken& stop) {
  Outcome outcome;
  nn::FitOptions& fit = plan.fit;
  const std::filesystem::path target = options.save.empty()
                                           ? plan.save.value_or(std::filesystem::path{})
                                           : std::filesystem::path{options.save};
  // Rather than after hours of training.
  if (target.has_parent_path() && !std::filesystem::is_directory(target.parent_path()))
    throw Error{"train",
                ErrorCode::not_found,
                "there is no folder " + target.parent_path().string() + " to save " +
                    target.filename().string() + " in",
                {{"file", target.string()}}};
  const std::int64_t last = options.epochs.value_or(fit.epochs);
  if (!options.resume.empty()) {
    const std::int64_t done = resume(plan, options.resume);
    if (done >= last)
      throw Error{"train",
                  ErrorCode::invalid_argument,
                  options.resume + " was trained for " + std::to_string(done) + " of " +
                      std::to_string(last) + " epochs already; --epochs says for how many",
                  {{"file", options.resume}}};
    fit.first_epoch = done + 1;
  }
  fit.epochs = outcome.wanted = last;
  if (!options.script.quiet && !options.script.json) fit.log = &std::cout;
  // Lines for each epoch are there anyway.
  if (fit.log && nn::terminal_columns(std::cerr))
    fit.on_batch.push_back(nn::callbacks::progress_bar(std::cerr));
  // First of all callbacks: what comes after it may throw, and the epoch is over all the same.
  fit.callbacks.insert(fit.callbacks.begin(), [&](const nn::EpochMetrics& epoch, nn::Training&) {
    outcome.history.push_back(epoch);
    std::cout.flush();
  });
  fit.limits.cancel = stop;
  try {
    nn::fit(plan.model, plan.data, fit);
  } catch (const std::exception&) {
    outcome.failure = plan.placed(error_from_current_exception("train"));
  }
  if (!target.empty() && !outcome.history.empty()) {
    try {
      nn::save_training(plan.model, outcome.history.back().epoch, fit.callbacks, target);
      outcome.saved = target;
    } catch (const std::exception&) {
      outcome.unsaved = error_from_current_exception("train");
    }
  }
  return outcome;
}

nlohmann::json epoch_json(const nn::EpochMetrics& epoch) {
  nlohmann::json made{{"epoch", epoch.epoch},
                      {"loss", epoch.loss},
                      {"metrics", epoch.validation_metrics},
                      {"learning_rate", epoch.learning_rate},
                      {"milliseconds", epoch.milliseconds},
                      {"rows_per_second", epoch.rows_per_second}};
  if (epoch.validation_loss) made["validation_loss"] = *epoch.validation_loss;
  return made;
}

nlohmann::json report_json(const nn::Model& model, Journal& journal, const Outcome& outcome) {
  const nn::ModelInfo info = model.info();
  nlohmann::json report{{"device", info.device},
                        {"model",
                         {{"layers", info.layers},
                          {"parameters", info.parameters},
                          {"trainable", info.trainable},
                          {"loss", info.loss},
                          {"optimizer", info.optimizer}}},
                        {"printed", journal.take_json()["printed"]},
                        {"epochs", nlohmann::json::array()}};
  for (const nn::EpochMetrics& epoch : outcome.history)
    report["epochs"].push_back(epoch_json(epoch));
  report["stopped_early"] = outcome.stopped_early();
  if (!outcome.saved.empty()) report["saved"] = outcome.saved.string();
  if (outcome.error()) report["error"] = to_json(*outcome.error());
  if (outcome.unsaved) report["unsaved"] = to_json(*outcome.unsaved);
  return report;
}

void print_report(const nn::Model& model, const Outcome& outcome) {
  if (outcome.history.empty()) return;
  const nn::EpochMetrics& last = outcome.history.back();
  std::ostringstream text;
  text << "trained to epoch " << last.epoch;
  if (last.epoch < outcome.wanted) text << " of " << outcome.wanted;
  if (outcome.stopped_early()) text << " (a callback stopped it early)";
  text << " in " << std::fixed << std::setprecision(2) << last.total_milliseconds / 1000 << " s on "
       << model.info().device << ": " << std::setprecision(4) << "loss " << last.loss;
  if (last.validation_loss) text << ", validation loss " << *last.validation_loss;
  for (const auto& [name, value] : last.validation_metrics) text << ", " << name << ' ' << value;
  std::cout << text.str() << '\n';
  if (!outcome.saved.empty()) std::cout << "saved " << printable(outcome.saved.string()) << '\n';
}

void print_failure(const Error& error, const ScriptSource& source, bool stopped,
                   const Outcome& outcome) {
  if (stopped)
    std::cerr << "stoker: stopped"
              << (outcome.history.empty() ? " before the first epoch was over"
                                          : "; the model is that of the last whole epoch")
              << '\n';
  else
    std::cerr << "stoker: " << describe(error, source.text);
  std::cerr << permission_hint(error);
}

int run(const TrainingWords& options) {
  const std::string& file = options.script.words[0];
  const ScriptSource source = script_source(file);
  ScriptOptions script = options.script.options(1, file);
  const CancelSource stop;
  Interrupts interrupts;
  SystemOptions own;
  own.stop_patience = std::chrono::milliseconds{500};  // for work of a script that was ended
  const System system{std::move(own)};
  const Device device = system.device(options.script.device);
  const auto journal =
      std::make_shared<Journal>(Journal::Options{.collect_text = options.script.json});
  const auto library = std::make_shared<nn::TrainingLibrary>();
  script.observer = journal;
  script.extension = library;
  ScriptHost host = script_host(system, device);
  ScriptEnd end{interrupts, options.script};
  const ScriptRun started = host.start(source, std::move(script));
  interrupts.on_signal([stop, script_stop = started.stop] {
    stop.cancel(cancelled_error("train"));
    script_stop.cancel(cancelled_error("script"));
  });

  Outcome outcome;
  std::optional<nn::TrainingPlan> plan;
  try {
    const Result<ScriptReport>& described = started.done.wait();
    end.has_come(described ? ok : exit_code_of(described.error()));
    described.value();
    plan = library->plan(device);
    if (!options.script.quiet && !options.script.json)
      std::cout << printable(plan->model.summary()) << std::flush;
    outcome = train(*plan, options, stop.token());
  } catch (const std::exception&) {
    outcome.failure = error_from_current_exception("train");
  }
  const bool was_interrupted = outcome.failure && interrupts.received() != 0;
  if (options.script.json)
    print_json(plan ? report_json(plan->model, *journal, outcome)
                    : nlohmann::json{{"error", to_json(*outcome.failure)}});
  else if (plan && !options.script.quiet)
    print_report(plan->model, outcome);
  if (!options.script.json) {
    if (outcome.failure) print_failure(*outcome.failure, source, was_interrupted, outcome);
    if (outcome.unsaved) std::cerr << "stoker: " << describe(*outcome.unsaved);
  }
  if (was_interrupted) return interrupted + interrupts.received();
  return outcome.error() ? exit_code_of(*outcome.error()) : ok;
}

/// Throws a CLI::Error for what the parser cannot see.
void check(const TrainingWords& options) {
  if (options.script.words.empty()) throw CLI::RequiredError{"a script: stoker train FILE.lua"};
  options.script.check(1);
}

}  // namespace

void add_train(CLI::App& app, Choice& choice) {
  auto* verb = add_separate(app, train_verb);
  auto options = std::make_shared<TrainingWords>();
  add_training_words(*verb, *options);
  verb->callback([&choice, options] {
    check(*options);
    choice.json = options->script.json;
    choice.run = [options] { return run(*options); };
  });
}

}  // namespace stoker::command_line
