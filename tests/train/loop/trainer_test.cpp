// Training as a supervised actor: paused, cancelled, watched; restarted to the bit; ended by anybody.
#include "stoker/api/train/loop/trainer.hpp"

#include <future>

#include "stoker/api/asio.hpp"
#include "stoker/api/tensor/core/creation.hpp"
#include "stoker/device/fault/fault_injection.hpp"
#include "stoker/runtime/futures/cancel.hpp"
#include "stoker/runtime/observe/log.hpp"
#include "stoker/tests/nn/trainer_fixture.hpp"
#include "stoker/tests/train/trained.hpp"

namespace stoker::nn {
namespace {

TEST_F(Trainers, train_the_same_as_fit_to_the_bit) {
  const Trainer training = train(system.supervisor(), model, rows(10), with(4));
  const History history = training.history().get();
  EXPECT_EQ(history.size(), 4U);
  EXPECT_EQ(values(model), trained_by_fit(4));
  const TrainerStatus status = training.status();
  EXPECT_EQ(status.state, TrainerState::finished);
  EXPECT_EQ(status.history.size(), 4U);
  EXPECT_EQ(status.restarts, 0U);
  ASSERT_TRUE(status.progress);
  EXPECT_EQ(status.progress->epoch, 4);
  EXPECT_TRUE(status.progress->ends_epoch());
}

TEST_F(Trainers, that_are_paused_start_no_step_until_they_are_resumed) {
  Stop stop;
  const Trainer training = train(system.supervisor(), model, rows(10), stopping_at(4, 2, 2, stop));
  stop.wait();
  EXPECT_EQ(training.status().state, TrainerState::running);
  const Future<void> paused = training.pause();
  EXPECT_FALSE(paused.ready()) << "a batch is on its way";
  stop.go();
  paused.get();
  EXPECT_EQ(training.status().state, TrainerState::paused);
  const Values before = values(model);
  (void)trained_by_fit(5);  // time for a step that should not be
  EXPECT_EQ(values(model), before);
  EXPECT_TRUE(training.pause().ready()) << "it is paused already";
  EXPECT_FALSE(training.history().ready());
  training.resume();
  EXPECT_EQ(training.history().get().size(), 4U);
  EXPECT_EQ(values(model), trained_by_fit(4)) << "a pause changes no bit";
}

TEST_F(Trainers, resumed_before_they_have_paused_say_so_and_go_on) {
  Stop stop;
  const Trainer training = train(system.supervisor(), model, rows(10), stopping_at(2, 1, 1, stop));
  stop.wait();
  const Future<void> paused = training.pause();
  training.resume();
  EXPECT_EQ(paused.wait().error().code(), ErrorCode::cancelled);
  stop.go();
  EXPECT_EQ(training.history().get().size(), 2U);
}

TEST_F(Trainers, that_are_cancelled_leave_the_model_as_after_the_last_whole_epoch) {
  Stop stop;
  const Trainer training = train(system.supervisor(), model, rows(10), stopping_at(9, 3, 1, stop));
  stop.wait();
  training.cancel();
  stop.go();
  EXPECT_EQ(training.history().wait().error().code(), ErrorCode::cancelled);
  EXPECT_EQ(values(model), trained_by_fit(2));
  EXPECT_EQ(training.status().history.size(), 2U);
  EXPECT_EQ(training.status().state, TrainerState::cancelled);
  training.cancel();  // does nothing
  training.pause().get();
}

TEST_F(Trainers, whose_limits_are_cancelled_are_not_started_again) {
  const CancelSource request;
  FitOptions options = with_batches(9, [&](const TrainingProgress& progress, Training&) {
    if (progress.epoch == 3) request.cancel(cancelled_error("request"));
  });
  options.limits.cancel = request.token();
  const Trainer training = train(system.supervisor(), model, rows(10), options);
  EXPECT_EQ(training.history().wait().error().op(), "request");
  EXPECT_EQ(values(model), trained_by_fit(2));
  EXPECT_EQ(training.status().restarts, 0U);
  EXPECT_EQ(training.status().state, TrainerState::failed);
}

TEST_F(Trainers, whose_time_is_over_are_not_started_again) {
  const CancelSource request;
  request.cancel(deadline_error("request"));
  const CommandOptions all[] = {{.deadline = system.clock().now()}, {.cancel = request.token()}};
  for (const CommandOptions& limits : all) {
    FitOptions options = with(2);
    options.limits = limits;
    const Trainer training = train(system.supervisor(), model, rows(10), options,
                                   {.name = limits.deadline ? "late" : "timed"});
    EXPECT_EQ(training.history().wait().error().code(), ErrorCode::deadline_exceeded);
    EXPECT_EQ(training.status().restarts, 0U);
    EXPECT_EQ(training.status().state, TrainerState::failed);
  }
  EXPECT_EQ(values(model), trained_by_fit(0));
}

TEST_F(Trainers, can_be_cancelled_while_they_are_paused) {
  Stop stop;
  const Trainer training = train(system.supervisor(), model, rows(10), stopping_at(9, 2, 1, stop));
  stop.wait();
  const Future<void> paused = training.pause();
  stop.go();
  paused.get();
  training.cancel();
  EXPECT_EQ(training.history().wait().error().code(), ErrorCode::cancelled);
  EXPECT_EQ(values(model), trained_by_fit(1));
}

TEST_F(Trainers, begin_the_epoch_again_when_a_reader_fails) {
  const Trainer training = train(system.supervisor(), model, failing_rows(2, 2), with(4));
  EXPECT_EQ(training.history().get().size(), 4U);
  EXPECT_EQ(values(model), trained_by_fit(4));
  EXPECT_EQ(training.status().restarts, 2U);
  ASSERT_TRUE(training.status().last_error);
  EXPECT_NE(std::string{training.status().last_error->what()}.find("on purpose"),
            std::string::npos);
}

TEST_F(Trainers, begin_again_from_a_file_too) {
  std::filesystem::create_directories(folder);
  const std::filesystem::path file = folder / "training.safetensors";
  const Trainer training =
      train(system.supervisor(), model, failing_rows(3, 1), with(4), {.checkpoint = file});
  EXPECT_EQ(training.history().get().size(), 4U);
  EXPECT_EQ(training.status().restarts, 1U);
  EXPECT_EQ(values(model), trained_by_fit(4));
  EXPECT_EQ(values(Model::load(file)), trained_by_fit(4)) << "it is that of the last epoch";
}

TEST_F(Trainers, that_are_killed_are_started_again) {
  Stop stop;
  const Trainer training = train(system.supervisor(), model, rows(10), stopping_at(4, 2, 2, stop));
  stop.wait();
  const ActorAddress first = training.actor();
  first.exit(ExitReason::kill());
  EXPECT_EQ(first.ended().get(), ExitReason::killed()) << "though its thread is still in a batch";
  stop.go();
  EXPECT_EQ(training.history().get().size(), 4U);
  EXPECT_EQ(training.status().restarts, 1U);
  EXPECT_EQ(values(model), trained_by_fit(4));
}

TEST_F(Trainers, stay_paused_over_a_restart) {
  Stop stop;
  const Trainer training = train(system.supervisor(), model, rows(10), stopping_at(3, 2, 1, stop));
  stop.wait();
  const Future<void> paused = training.pause();
  training.actor().exit(ExitReason::kill());
  stop.go();
  paused.get();
  EXPECT_FALSE(training.history().ready());
  training.resume();
  EXPECT_EQ(training.history().get().size(), 3U);
  EXPECT_EQ(values(model), trained_by_fit(3));
}

TEST_F(Trainers, call_a_callback_again_that_failed_and_no_other) {
  auto calls = std::make_shared<std::vector<int>>();
  const auto counted = [calls](int which, bool fails) {
    return [=](const EpochMetrics&, Training&) {
      calls->push_back(which);
      if (fails && calls->size() == 2) throw std::runtime_error{"on purpose"};
    };
  };
  const Trainer training =
      train(system.supervisor(), model, rows(10), with(2, {counted(1, false), counted(2, true)}));
  EXPECT_EQ(training.history().get().size(), 2U);
  EXPECT_EQ(*calls, (std::vector{1, 2, 2, 1, 2}));
  EXPECT_EQ(values(model), trained_by_fit(2));
}

TEST_F(Trainers, call_a_callback_again_with_what_it_remembered_before) {
  struct Count final : CallbackMemory {
    [[nodiscard]] std::string_view kind() const noexcept override { return "count"; }
    [[nodiscard]] std::string seen() const override { return std::to_string(calls); }
    void recall(std::string_view text) override { calls = std::stoi(std::string{text}); }
    int calls = 0;
  };
  const auto count = std::make_shared<Count>();
  const auto fails_once = [count, failed = std::make_shared<bool>()](const EpochMetrics& metrics,
                                                                     Training&) {
    ++count->calls;
    if (metrics.epoch == 2 && !std::exchange(*failed, true)) throw std::runtime_error{"on purpose"};
  };
  const Trainer training = train(system.supervisor(), model, rows(10),
                                 with(3, std::vector<Callback>{{fails_once, count}}));
  EXPECT_EQ(training.history().get().size(), 3U);
  EXPECT_EQ(training.status().restarts, 1U);
  EXPECT_EQ(count->calls, 3);
}

TEST_F(Trainers, give_up_when_they_fail_too_often) {
  const Trainer training =
      train(system.supervisor(), model, failing_rows(3, 1000), with(4), {.intensity = 2});
  const Result<History>& history = training.history().wait();
  ASSERT_FALSE(history);
  EXPECT_NE(std::string{history.error().what()}.find("on purpose"), std::string::npos);
  EXPECT_EQ(training.status().restarts, 2U);
  EXPECT_EQ(training.status().state, TrainerState::failed);
  EXPECT_EQ(values(model), trained_by_fit(2)) << "as after the last whole epoch";
}

TEST_F(Trainers, fail_at_once_where_another_try_comes_to_the_same) {
  const Dataset poisoned{full({8, 2}, std::numeric_limits<float>::quiet_NaN()), zeros({8, 1})};
  const Values before = values(model);
  const Trainer training = train(system.supervisor(), model, poisoned, with(4));
  EXPECT_EQ(training.history().wait().error().code(), ErrorCode::invalid_argument);
  EXPECT_EQ(training.status().restarts, 0U);
  EXPECT_EQ(values(model), before);
}

TEST_F(Trainers, refuse_what_does_not_fit_when_they_are_asked) {
  const auto refused = [&](const Dataset& data, const FitOptions& options) {
    return code_of([&] { return train(system.supervisor(), model, data, options); });
  };
  EXPECT_EQ(refused(Dataset{zeros({4, 3}), zeros({4, 1})}, with(1)), ErrorCode::shape_mismatch);
  EXPECT_EQ(refused(rows(10), with(0)), ErrorCode::invalid_argument);
  FitOptions empty = with(1);
  empty.batch_size = 0;
  EXPECT_EQ(error_of([&] { return train(system.supervisor(), model, rows(10), empty); }).op(),
            "train");
  EXPECT_EQ(code_of([&] { return train(Supervisor{}, model, rows(10), with(1)); }),
            ErrorCode::invalid_argument);
}

TEST_F(Trainers, of_one_supervisor_have_names_of_their_own) {
  Stop stop;
  const Trainer first = train(system.supervisor(), model, rows(10), stopping_at(2, 1, 1, stop));
  stop.wait();
  const Trainer second = train(system.supervisor(), fresh(), rows(10), with(1));
  EXPECT_EQ(second.history().wait().error().code(), ErrorCode::already_exists);
  const Trainer third = train(system.supervisor(), fresh(), rows(10), with(1), {.name = "another"});
  EXPECT_EQ(third.history().get().size(), 1U) << "while the first one stands still";
  stop.go();
  EXPECT_EQ(first.history().get().size(), 2U);
}

// --- whatever goes first -------------------------------------------------------------------------

TEST_F(Trainers, go_on_when_every_handle_has_been_dropped) {
  Future<History> history;
  {
    Model mine = fresh();
    history = train(system.supervisor(), mine, rows(10), with(3)).history();
  }
  EXPECT_EQ(history.get().size(), 3U);
}

TEST_F(Trainers, may_be_held_by_their_own_callbacks) {
  std::promise<Trainer> handle;
  auto watched = std::make_shared<int>(0);
  FitOptions options = with_batches(
      2, [watched, trainer = handle.get_future().share()](const TrainingProgress& at, Training&) {
        if (at.epoch == 2) trainer.get().cancel();
      });
  Future<History> history;
  {
    const Trainer training = train(system.supervisor(), model, rows(10), std::move(options));
    handle.set_value(training);
    options = {};
    history = training.history();
  }
  EXPECT_EQ(history.wait().error().code(), ErrorCode::cancelled);
  EXPECT_EQ(values(model), trained_by_fit(1));
  system.stop();
  handle = {};
  EXPECT_EQ(watched.use_count(), 1) << "nothing of it is left";
}

TEST_F(Trainers, are_closed_when_their_system_stops) {
  std::optional<System> own{System{}};
  Model mine = fresh(own->device("cpu"));
  Stop stop;
  const Trainer training =
      train(own->supervisor(), mine, rows(10), stopping_at(1'000'000, 3, 2, stop));
  stop.wait();
  stop.go();
  own.reset();
  const Result<History>& history = training.history().wait();
  ASSERT_FALSE(history);
  EXPECT_EQ(history.error().code(), ErrorCode::closed);
  EXPECT_GE(training.status().history.size(), 2U);
  EXPECT_FALSE(training.actor());
}

TEST_F(Trainers, stress_systems_may_go_at_any_moment) {
  for (int i = 0; i < 20; ++i) {
    std::optional<Trainer> training;
    {
      const System own;
      training = train(own.supervisor(), fresh(own.device("cpu")), rows(10), with(1'000'000));
      if (i % 4 == 1) training.reset();
      if (i % 4 == 2)
        if (const ActorAddress actor = training->actor()) actor.exit(ExitReason::kill());
      if (i % 4 == 3) static_cast<void>(training->pause());
    }
    if (training) {
      EXPECT_FALSE(training->history().wait());
    }
  }
}

TEST_F(Trainers, end_with_a_supervisor_of_the_programs_own) {
  Future<History> history;
  Stop stop;
  {
    const Supervisor pool =
        start_supervisor(system.shared_executor(), {.name = "trainings"}, {}).get();
    history = train(pool, model, rows(10), stopping_at(1'000'000, 2, 1, stop)).history();
    stop.wait();
    stop.go();
    (void)pool.stop().get();
  }
  EXPECT_EQ(history.wait().error().code(), ErrorCode::closed);
}

TEST_F(Trainers, let_the_process_exit_at_any_moment) {
  testing::GTEST_FLAG(death_test_style) = "threadsafe";
  EXPECT_EXIT(
      {
        const System own;
        Stop stop;
        const Trainer training = train(own.supervisor(), fresh(own.device("cpu")), rows(10),
                                       stopping_at(1'000'000, 2, 1, stop));
        stop.wait();
        stop.go();
        std::exit(0);
      },
      testing::ExitedWithCode(0), "");
}

// --- lost devices --------------------------------------------------------------------------------

TEST_F(Trainers, wait_for_a_lost_device_and_go_on_to_the_bit) {
  Faults faults;
  SystemOptions options;
  options.drivers = with_faults(faults);
  const System own{options};
  Model mine = fresh(own.device("cpu"));
  Stop stop;
  const Trainer training = train(own.supervisor(), mine, rows(10), stopping_at(4, 3, 2, stop));
  stop.wait();
  faults.lose("unplugged");
  stop.go();
  EXPECT_EQ(training.history().get().size(), 4U);
  EXPECT_GE(training.status().restarts, 1U);
  EXPECT_EQ(values(mine), trained_by_fit(4));
}

}  // namespace
}  // namespace stoker::nn
