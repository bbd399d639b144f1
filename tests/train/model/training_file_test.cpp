// Trainings that go on from a file: with what callbacks had seen.
#include "stoker/api/train/loop/training_file.hpp"

#include <fstream>

#include "stoker/api/tensor/io/safetensors.hpp"
#include "stoker/api/train/loop/fit_run.hpp"
#include "stoker/api/train/loop/learning_rate.hpp"
#include "stoker/tests/nn/refused.hpp"
#include "stoker/tests/train/trained.hpp"

namespace stoker::nn {
namespace {

class TrainingFiles : public Trained {
 protected:
  void SetUp() override { std::filesystem::create_directories(folder); }

  /// What depends on the epochs before, and a log.
  [[nodiscard]] std::vector<Callback> watching(const std::string& log) const {
    return {callbacks::reduce_on_plateau({.patience = 2}),
            callbacks::early_stopping({.patience = 4}),
            callbacks::every(2, callbacks::best_checkpoint(folder / (log + ".best"))),
            callbacks::csv(folder / log)};
  }
  [[nodiscard]] std::size_t lines(const std::string& log) const {
    std::ifstream file{folder / log};
    return static_cast<std::size_t>(std::count(std::istreambuf_iterator<char>{file}, {}, '\n'));
  }
  static std::vector<double> rates(const History& history) {
    std::vector<double> all;
    for (const EpochMetrics& epoch : history) all.push_back(epoch.learning_rate);
    return all;
  }
};

TEST_F(TrainingFiles, go_on_as_if_the_training_had_never_ended) {
  constexpr std::int64_t most = 60;
  Model whole = fresh();
  const History all = fit(whole, rows(10), with(most, watching("whole.csv")));
  const auto last = static_cast<std::int64_t>(all.size());
  ASSERT_LT(last, most) << "early stopping has to end it";
  ASSERT_LT(all.back().learning_rate, all.front().learning_rate) << "the plateau has to be met";
  for (std::int64_t end = 1; end < last; ++end) {
    SCOPED_TRACE(end);
    const std::filesystem::path file = folder / "part.safetensors";
    {
      Model part = fresh();
      const FitOptions options = with(end, watching("part.csv"));
      fit(part, rows(10), options);
      save_training(part, end, options.callbacks, file);
    }
    Model rest = Model::load(file);
    FitOptions options = with(most, watching("part.csv"));
    options.first_epoch = recall_training(file, options.callbacks) + 1;
    EXPECT_EQ(options.first_epoch, end + 1);
    const History history = fit(rest, rows(10), options);
    EXPECT_EQ(history.back().epoch, last);
    EXPECT_EQ(history.back().learning_rate, all.back().learning_rate);
    EXPECT_EQ(values(rest), values(whole));
    EXPECT_EQ(lines("part.csv"), lines("whole.csv"));
  }
}

TEST_F(TrainingFiles, are_what_the_checkpoint_callback_writes) {
  Model whole = fresh();
  std::vector<Callback> callbacks = watching("whole.csv");
  callbacks.push_back(callbacks::checkpoint(3, folder));
  const History all = fit(whole, rows(10), with(60, callbacks));
  const std::filesystem::path file = folder / "checkpoint_epoch_6.safetensors";
  Model rest = Model::load(file);
  FitOptions options = with(60, watching("rest.csv"));
  options.first_epoch = recall_training(file, options.callbacks) + 1;
  EXPECT_EQ(options.first_epoch, 7);
  const History history = fit(rest, rows(10), options);
  EXPECT_EQ(rates(history), rates(History(all.begin() + 6, all.end())));
  EXPECT_EQ(values(rest), values(whole));
}

TEST_F(TrainingFiles, say_nothing_to_callbacks_of_other_kinds) {
  const std::vector<Callback> before{callbacks::early_stopping({.patience = 2})};
  recall(before, R"([{"kind": "early_stopping", "seen": {"best": 0.5, "misses": 1}}])");
  const std::vector<Callback> after{[](const EpochMetrics&, Training&) {},
                                    callbacks::reduce_on_plateau(),
                                    callbacks::early_stopping({.patience = 9})};
  recall(after, seen_by(before));
  EXPECT_EQ(seen_by(after), R"([{"kind":"reduce_on_plateau","seen":{"best":null,"misses":0}},)"
                            R"({"kind":"early_stopping","seen":{"best":0.5,"misses":1}}])");
}

TEST_F(TrainingFiles, are_refused_where_they_are_none) {
  const std::filesystem::path file = folder / "model.safetensors";
  fresh().save(file);
  const std::vector<Callback> callbacks{callbacks::early_stopping({.patience = 2})};
  const std::string before = seen_by(callbacks);
  EXPECT_EQ(code_of([&] { return recall_training(file, callbacks); }), ErrorCode::invalid_argument);
  const std::string deep = R"([{"kind": "early_stopping", "seen": )" + std::string(300'000, '[') +
                           std::string(300'000, ']') + "}]";
  for (const char* text :
       {deep.c_str(), "", "7", "{}", R"([{"kind": "csv"}])", R"([{"seen": 1, "kind": 2}])",
        R"([{"kind": "early_stopping", "seen": {"best": "low", "misses": 0}}])",
        R"([{"kind": "early_stopping", "seen": {"best": 0.5}}])"})
    EXPECT_EQ(error_of([&] {
                recall(callbacks, text);
                return 0;
              }).code(),
              ErrorCode::invalid_argument)
        << text;
  EXPECT_EQ(seen_by(callbacks), before);
}

TEST_F(TrainingFiles, have_room_for_what_a_program_adds) {
  const std::filesystem::path file = folder / "model.safetensors";
  const Model model = fresh();
  model.save(file, {{"licence", "MIT"}});
  EXPECT_EQ(open_safetensors(file).metadata().at("licence"), "MIT");
  EXPECT_EQ(values(Model::load(file)), values(model));
  const Error own = error_of([&] {
    model.save(file, {{"network", "mine"}});
    return 0;
  });
  EXPECT_EQ(own.code(), ErrorCode::invalid_argument);
  EXPECT_EQ(own.detail("metadata"), "network");
  EXPECT_EQ(open_safetensors(file).metadata().at("licence"), "MIT") << "nothing was written";
}

TEST_F(TrainingFiles, of_comma_separated_values_begin_anew_where_they_are_gone) {
  const FitOptions options = with(1, {callbacks::csv(folder / "log")});
  recall(options.callbacks, R"([{"kind": "csv", "seen": true}])");
  Model model = fresh();
  fit(model, rows(10), options);
  EXPECT_EQ(lines("log"), 2U) << "the names and an epoch";
}

TEST_F(TrainingFiles, forget_a_stop_in_an_epoch_that_is_forgotten) {
  int told = 0;
  FitRun run{fresh(), rows(10), with_batches(3, [&](const TrainingProgress&, Training& training) {
               if (++told == 1) training.stop();
             })};
  run.advance();
  run.settle();
  ASSERT_EQ(told, 1);
  ASSERT_FALSE(run.between_epochs());
  run.rewind();
  while (run.advance() != FitRun::Progress::nothing) {
  }
  EXPECT_EQ(run.history().size(), 3U);
}

TEST_F(TrainingFiles, epochs_say_their_learning_rate) {
  Model model = fresh();
  const History history =
      fit(model, rows(10),
          with(3, {[](const EpochMetrics& metrics, Training& training) {
                 EXPECT_EQ(metrics.learning_rate, learning_rate(training.model()));
                 training.model().set_learning_rate_scale(metrics.epoch == 1 ? 0.5 : 0.25);
               }}));
  EXPECT_EQ(rates(history), (std::vector<double>{0.05, 0.025, 0.0125}));
}

}  // namespace
}  // namespace stoker::nn
