// Replays: one recording on the memory of one run after the other.
#include "scheduler_fixture.hpp"

namespace stoker {
namespace {

class Replays : public Scheduler {
 protected:
  void SetUp() override { open(); }

  /// One step from buffer 0 to buffer 1.
  static std::shared_ptr<const ReplayPlan> one_step() {
    ReplayPlan plan;
    ReplayPlan::Step& step = plan.steps.emplace_back();
    step.executable = std::make_shared<Executable>();
    step.inputs.push_back({0, 0, 64});
    step.outputs.push_back({1, 0, 64});
    plan.uses = {{0, false, false}, {1, true, true}};
    return std::make_shared<const ReplayPlan>(std::move(plan));
  }
  void bind(Replay& replay, const std::shared_ptr<BufferState>& from,
            const std::shared_ptr<BufferState>& to) {
    replay.bound = std::make_shared<const BufferStates>(BufferStates{from, to});
    replay.moved = true;
  }
  /// Runs it to its end.
  void run(const std::shared_ptr<Replay>& replay) {
    CommandPtr command = commands->make(++ids, "pipeline");
    command->work.replay = replay;
    command->set_steps(1);
    replay->busy = true;
    scheduler->submit(command);
    scheduler->turn();
    backend->complete(backend->submitted.size() - 1);
    scheduler->turn();
    ASSERT_TRUE(command->ready());
    EXPECT_TRUE(command->result()) << command->result().error().what();
    EXPECT_FALSE(replay->busy);
  }

  std::shared_ptr<Replay> replay_ =
      std::make_shared<Replay>(Replay{.plan = one_step(), .bound = {}, .arena = {}});
};

TEST_F(Replays, on_the_same_memory_are_recorded_once) {
  backend->can_rebind = true;
  bind(*replay_, buffer(), buffer());
  run(replay_);
  const int rebound = backend->rebound;
  run(replay_);
  EXPECT_EQ(backend->recorded, 1);
  EXPECT_EQ(backend->rebound, rebound);
}

TEST_F(Replays, move_to_other_memory_without_being_recorded_where_the_backend_can) {
  backend->can_rebind = true;
  bind(*replay_, buffer(), buffer());
  run(replay_);
  const int rebound = backend->rebound;
  const auto from = buffer(), to = buffer();
  bind(*replay_, from, to);
  run(replay_);
  EXPECT_EQ(backend->recorded, 1);
  EXPECT_EQ(backend->rebound, rebound + 1);
  ASSERT_EQ(backend->last_recorded.size(), 1U);
  EXPECT_EQ(backend->last_recorded[0].inputs[0].host(), from->memory->view().host());
  EXPECT_EQ(backend->last_recorded[0].outputs[0].host(), to->memory->view().host());
}

TEST_F(Replays, are_recorded_anew_on_other_memory_where_it_cannot) {
  bind(*replay_, buffer(), buffer());
  run(replay_);
  const auto to = buffer();
  bind(*replay_, buffer(), to);
  run(replay_);
  EXPECT_EQ(backend->recorded, 2);
  EXPECT_EQ(backend->last_recorded.at(0).outputs[0].host(), to->memory->view().host());
}

TEST_F(Replays, that_pass_let_go_of_their_memory_with_the_run) {
  replay_->passing = true;
  std::weak_ptr<BufferState> from, to;
  {
    const auto a = buffer(), b = buffer();
    from = a;
    to = b;
    bind(*replay_, a, b);
  }
  EXPECT_FALSE(from.expired());
  run(replay_);
  EXPECT_TRUE(from.expired());
  EXPECT_TRUE(to.expired());
  EXPECT_EQ(scheduler->pool().stats().in_use, 0U);
  EXPECT_EQ(replay_->recording, nullptr) << "it is of no use on other memory";
}

TEST_F(Replays, that_pass_keep_a_recording_that_can_move) {
  backend->can_rebind = true;
  replay_->passing = true;
  bind(*replay_, buffer(), buffer());
  run(replay_);
  EXPECT_NE(replay_->recording, nullptr);
  bind(*replay_, buffer(), buffer());
  run(replay_);
  EXPECT_EQ(backend->recorded, 1);
}

TEST_F(Replays, tell_the_backend_when_a_run_has_ended_and_whether_the_next_is_elsewhere) {
  backend->can_rebind = true;
  replay_->runs_again = true;
  bind(*replay_, buffer(), buffer());
  run(replay_);
  EXPECT_EQ(backend->ended, 1);
  EXPECT_FALSE(backend->moving);
  replay_->passing = true;
  run(replay_);
  EXPECT_EQ(backend->ended, 2);
  EXPECT_TRUE(backend->moving);
}

TEST_F(Replays, have_nothing_made_for_a_next_run_that_is_not_expected) {
  backend->can_rebind = true;
  bind(*replay_, buffer(), buffer());
  run(replay_);
  EXPECT_EQ(backend->ended, 0);
}

TEST_F(Replays, have_nothing_made_for_a_next_run_that_cannot_use_it) {
  replay_->passing = true;
  replay_->runs_again = true;
  bind(*replay_, buffer(), buffer());
  run(replay_);
  EXPECT_EQ(backend->ended, 0);
  EXPECT_FALSE(backend->moving);
}

TEST_F(Replays, wait_for_the_writer_of_what_they_read_after_they_moved) {
  bind(*replay_, buffer(), buffer());
  run(replay_);
  const auto from = buffer();
  const CommandPtr writer = submit(buffer(), from);
  scheduler->turn();
  const std::uint64_t written = backend->submitted.back().value;
  bind(*replay_, from, buffer());
  CommandPtr command = commands->make(++ids, "pipeline");
  command->work.replay = replay_;
  replay_->busy = true;
  scheduler->submit(command);
  scheduler->turn();
  ASSERT_EQ(backend->submitted.back().waits.size(), 1U);
  EXPECT_EQ(backend->submitted.back().waits[0].value, written);
  backend->complete(backend->submitted.size() - 2);
  backend->complete(backend->submitted.size() - 1);
  scheduler->turn();
  EXPECT_TRUE(writer->ready() && command->ready());
}

}  // namespace
}  // namespace stoker
