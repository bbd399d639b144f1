// The loop of fit() in parts, and the callbacks that look on.
#include "stoker/api/train/loop/fit_run.hpp"
#include "stoker/api/nn/layers.hpp"

#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <sstream>

#include "stoker/api/tensor/core/creation.hpp"
#include "stoker/runtime/futures/cancel.hpp"
#include "stoker/tests/nn/refused.hpp"
#include "stoker/tests/train/trained.hpp"

namespace stoker::nn {
namespace {

using Progress = FitRun::Progress;

class FitRuns : public Trained {};
class BatchCallbacks : public Trained {};
class Callbacks : public Trained {};

TEST_F(FitRuns, do_one_thing_at_a_time) {
  int called = 0;
  FitRun run{fresh(), rows(10), with(1, {[&](const EpochMetrics&, Training&) { ++called; }})};
  std::vector<Progress> done;
  do done.push_back(run.advance());
  while (done.back() != Progress::nothing);
  EXPECT_EQ(done, (std::vector{Progress::batch, Progress::batch, Progress::batch, Progress::epoch,
                               Progress::callback, Progress::nothing}));
  EXPECT_EQ(called, 1);
  EXPECT_EQ(run.advance(), Progress::nothing) << "and so it stays";
}

TEST_F(FitRuns, that_are_rewound_have_the_model_of_the_last_whole_epoch) {
  Model model = fresh();
  FitRun run{model, rows(10), with(3)};
  while (run.advance() != Progress::epoch) {
  }
  const Values after_one = values(model);
  (void)run.advance();
  EXPECT_FALSE(run.between_epochs());
  EXPECT_NE(values(model), after_one);
  run.rewind();
  EXPECT_EQ(values(model), after_one);
  EXPECT_EQ(run.history().size(), 1U);
}

TEST_F(FitRuns, that_are_cancelled_leave_the_model_of_the_last_whole_epoch) {
  const CancelSource request;
  Model model = fresh();
  FitOptions options = with_batches(3, [&](const TrainingProgress& progress, Training&) {
    if (progress.epoch == 2) request.cancel(cancelled_error("request"));
  });
  options.limits.cancel = request.token();
  options.validation = rows(6);
  try {
    fit(model, rows(10), options);
    ADD_FAILURE() << "trained to the end";
  } catch (const Error& error) {
    EXPECT_EQ(error.op(), "request");
  }
  EXPECT_EQ(values(model), trained_by_fit(1));
  // What comes later is refused before its first step.
  EXPECT_EQ(code_of([&] { return fit(model, rows(10), options); }), ErrorCode::cancelled);
  EXPECT_EQ(values(model), trained_by_fit(1));
}

TEST_F(FitRuns, that_are_late_leave_the_model_as_it_was) {
  Model model = fresh();
  const CommandOptions late{.deadline = system.clock().now()};
  FitOptions options = with(2);
  options.limits = late;
  EXPECT_EQ(code_of([&] { return fit(model, rows(10), options); }), ErrorCode::deadline_exceeded);
  EXPECT_EQ(values(model), trained_by_fit(0));
  EXPECT_EQ(code_of([&] { return model.evaluate(rows(10), 4, late); }),
            ErrorCode::deadline_exceeded);
  EXPECT_EQ(code_of([&] {
              return model.predict(ones({1, 2})).read<float>(late).get();
            }),
            ErrorCode::deadline_exceeded);
  // A single step is not taken back, but one can go back.
  const TrainingState before = model.state();
  const Loader loader{rows(4), {.batch_size = 4, .shuffle = false, .seed = 0}};
  for (const Batch& batch : loader.epoch(0)) {
    const Tensor loss = model.train_step(batch, late);
    EXPECT_EQ(code_of([&] { return loss.item<float>(); }), ErrorCode::deadline_exceeded);
  }
  model.restore(before);
  EXPECT_EQ(values(model), trained_by_fit(0));
}

TEST_F(FitRuns, go_on_after_a_rewind_as_if_nothing_had_been) {
  Model model = fresh();
  FitRun run{model, rows(10), with(3)};
  for (int i = 0; i < 6; ++i) (void)run.advance();
  run.rewind();
  while (run.advance() != Progress::nothing) {
  }
  EXPECT_EQ(values(model), trained_by_fit(3));
}

TEST_F(FitRuns, go_back_to_any_earlier_place) {
  Model model = fresh();
  FitRun run{model, rows(10), with(4)};
  const FitRun::Place begin = run.at();
  const TrainingState state = model.state();
  while (run.history().size() < 3) (void)run.advance();
  run.rewind(begin, state);
  EXPECT_TRUE(run.history().empty());
  while (run.advance() != Progress::nothing) {
  }
  EXPECT_EQ(values(model), trained_by_fit(4));
  EXPECT_EQ(code_of([&] {
              run.rewind({.epochs = 5}, state);
              return 0;
            }),
            ErrorCode::invalid_argument)
      << "a later one is none";
}

TEST_F(FitRuns, call_a_callback_again_that_threw) {
  std::vector<std::string> calls;
  const auto note = [&](const char* name) {
    return [&calls, name](const EpochMetrics&, Training&) { calls.emplace_back(name); };
  };
  const auto throws_once = [&](const EpochMetrics&, Training&) {
    calls.emplace_back("b");
    if (calls.size() == 2) throw std::runtime_error{"on purpose"};
  };
  FitRun run{fresh(), rows(10), with(1, {note("a"), throws_once, note("c")})};
  EXPECT_THROW(while (run.advance() != Progress::nothing){}, std::runtime_error);
  run.rewind();
  while (run.advance() != Progress::nothing) {
  }
  EXPECT_EQ(calls, (std::vector<std::string>{"a", "b", "b", "c"}));
}

TEST_F(FitRuns, train_an_epoch_again_whose_rows_could_not_be_read) {
  Model model = fresh();
  auto failing = std::make_shared<std::atomic<int>>(0);
  FitRun run{model,
             rows(10,
                  [failing](std::int64_t row) {
                    if (row == 7 && failing->fetch_add(1) == 1)
                      throw std::runtime_error{"on purpose"};
                  }),
             with(3)};
  EXPECT_ANY_THROW(while (run.advance() != Progress::nothing){});
  run.rewind();
  EXPECT_EQ(run.history().size(), 1U);
  while (run.advance() != Progress::nothing) {
  }
  EXPECT_EQ(values(model), trained_by_fit(3));
}

TEST_F(BatchCallbacks, see_every_batch_in_its_order) {
  std::vector<TrainingProgress> seen;
  Model model = fresh();
  const History history =
      fit(model, rows(10),
          with_batches(2, [&](const auto& progress, Training&) { seen.push_back(progress); }));
  ASSERT_EQ(seen.size(), 6U);
  for (std::size_t i = 0; i < 6; ++i) {
    EXPECT_EQ(seen[i].epoch, static_cast<std::int64_t>(i / 3 + 1));
    EXPECT_EQ(seen[i].epochs, 2);
    EXPECT_EQ(seen[i].batch, static_cast<std::int64_t>(i % 3 + 1));
    EXPECT_EQ(seen[i].batches, 3);
    EXPECT_EQ(seen[i].rows, std::min<std::int64_t>(4 * (static_cast<std::int64_t>(i) % 3 + 1), 10));
    EXPECT_GT(seen[i].rows_per_second, 0);
    EXPECT_GE(seen[i].remaining_seconds, 0);
  }
  EXPECT_EQ(seen[2].loss, history[0].loss) << "at the end of an epoch it is that of the epoch";
  EXPECT_TRUE(seen[5].ends_epoch());
  EXPECT_EQ(seen[5].remaining_seconds, 0);
}

TEST_F(BatchCallbacks, change_nothing_of_what_is_learnt) {
  Model model = fresh();
  fit(model, rows(10), with_batches(3, [](const auto&, Training&) {}));
  EXPECT_EQ(values(model), trained_by_fit(3));
}

TEST_F(BatchCallbacks, that_throw_leave_the_model_as_after_the_last_whole_epoch) {
  Model model = fresh();
  EXPECT_THROW(fit(model, rows(10),
                   with_batches(5,
                                [](const auto& progress, Training&) {
                                  if (progress.epoch == 3) throw std::runtime_error{"on purpose"};
                                })),
               std::runtime_error);
  EXPECT_EQ(values(model), trained_by_fit(2));
}

TEST_F(BatchCallbacks, may_end_the_training_after_the_epoch) {
  Model model = fresh();
  const History history =
      fit(model, rows(10), with_batches(5, [](const auto& progress, Training& training) {
            if (progress.epoch == 2) training.stop();
          }));
  EXPECT_EQ(history.size(), 2U);
}

TEST_F(BatchCallbacks, of_every_second_batch_see_the_last_one_too) {
  std::vector<std::int64_t> seen;
  Model model = fresh();
  fit(model, rows(18),
      with_batches(1, callbacks::every(2, BatchCallback{[&](const auto& progress, Training&) {
                                         seen.push_back(progress.batch);
                                       }})));
  EXPECT_EQ(seen, (std::vector<std::int64_t>{2, 4, 5}));
}

TEST_F(Callbacks, keep_the_history_also_of_a_training_that_fails) {
  const auto history = std::make_shared<History>();
  Model model = fresh();
  EXPECT_THROW(fit(model, rows(10),
                   with(5, {callbacks::history(history),
                            [](const EpochMetrics& metrics, Training&) {
                              if (metrics.epoch == 3) throw std::runtime_error{"on purpose"};
                            }})),
               std::runtime_error);
  EXPECT_EQ(history->size(), 3U);
}

TEST_F(Callbacks, log_lines) {
  std::ostringstream out;
  Model model = fresh();
  const History history = fit(model, rows(10), with(2, {callbacks::logging(out)}));
  EXPECT_EQ(out.str(), epoch_line(history[0]) + "\n" + epoch_line(history[1]) + "\n");
}

TEST_F(Callbacks, are_not_needed_for_a_log_that_begins_with_what_is_trained) {
  std::ostringstream out;
  const Node x = input({2});
  Model model{Network{dense(x, 1)},
              {.loss = "mse", .optimizer = "sgd(momentum=0.9)", .accumulate_gradients = 2}};
  FitOptions options = with(1);
  options.log = &out;
  const History history = fit(model, rows(10), options);
  EXPECT_EQ(out.str(),
            "training: 10 rows in 3 batches of 4 (8 for each update), sgd(momentum=0.9)\n" +
                epoch_line(history[0]) + "\n");
}

TEST_F(Callbacks, write_comma_separated_values) {
  const std::filesystem::path file = folder / "log.csv";
  std::filesystem::create_directories(folder);
  Model model = fresh();
  FitOptions options = with(2, {callbacks::csv(file)});
  options.validation = rows(6);
  options.metrics = {"mean_absolute_error"};
  fit(model, rows(10), options);
  std::ifstream lines{file};
  std::string line;
  std::getline(lines, line);
  EXPECT_EQ(line, "epoch,loss,validation_loss,mean_absolute_error,learning_rate,milliseconds");
  std::getline(lines, line);
  EXPECT_EQ(line.substr(0, 2), "1,");
  std::getline(lines, line);
  EXPECT_EQ(line.substr(0, 2), "2,");
  EXPECT_FALSE(std::getline(lines, line));
  EXPECT_EQ(code_of([&] {
              return fit(model, rows(10), with(1, {callbacks::csv(folder / "no" / "where.csv")}));
            }),
            ErrorCode::io_error);
}

TEST_F(Callbacks, save_the_best_model) {
  const std::filesystem::path file = folder / "best.safetensors";
  std::filesystem::create_directories(folder);
  Model model = fresh();
  Values best;
  double least = 1e9;
  fit(model, rows(10),
      with(6,
           {callbacks::best_checkpoint(file), [&](const EpochMetrics& metrics, Training& training) {
              if (metrics.loss >= least) return;
              least = metrics.loss;
              best = values(training.model());
            }}));
  EXPECT_EQ(values(Model::load(file)), best);
}

TEST_F(Callbacks, are_called_every_so_many_epochs) {
  std::vector<std::int64_t> seen;
  Model model = fresh();
  fit(model, rows(10),
      with(7, {callbacks::every(3, Callback{[&](const EpochMetrics& metrics, Training&) {
                                  seen.push_back(metrics.epoch);
                                }})}));
  EXPECT_EQ(seen, (std::vector<std::int64_t>{3, 6}));
  EXPECT_EQ(code_of([] { return callbacks::every(0, Callback{[](const auto&, Training&) {}}); }),
            ErrorCode::invalid_argument);
}

TEST_F(Callbacks, standard_ones_stop_early_and_save) {
  Model model = fresh();
  const History history =
      fit(model, rows(10), with(4, callbacks::standard({.checkpoint_every = 2, .folder = folder})));
  EXPECT_EQ(history.size(), 4U);
  EXPECT_TRUE(std::filesystem::exists(folder / "checkpoint_epoch_4.safetensors"));
  EXPECT_EQ(callbacks::standard().size(), 2U);
  EXPECT_EQ(callbacks::standard({.warmup_epochs = 3}).size(), 3U);
}

}  // namespace
}  // namespace stoker::nn
