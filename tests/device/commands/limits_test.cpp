// Deadlines and tokens of commands: looked at when a command comes, when it goes to the device, and when
// it ends, whether or not anybody tells the device of them.
#include "scheduler_fixture.hpp"

namespace stoker {
namespace {

using std::chrono::seconds;

class Limits : public Scheduler {
 protected:
  void SetUp() override {
    commands = std::make_shared<CommandPool>(std::weak_ptr<Backend>{}, clock);
    open(false, 1);
  }
  /// Queues a copy with a deadline `time` from now, and the token of `group`.
  CommandPtr submit_within(seconds time) { return submit_with(Deadline::after(*clock, time), {}); }
  CommandPtr submit_with(Deadline deadline, const CancelToken& token) {
    CommandPtr command = commands->make(++ids, "copy");
    command->work.step.kind = StepKind::copy;
    command->work.step.inputs.push_back({from, 0, 64});
    command->work.step.outputs.push_back({to, 0, 64});
    command->set_limits(deadline, token);
    scheduler->submit(command);
    return command;
  }
  ErrorCode reading_the_output() {
    const auto reader = submit(to, sink);
    scheduler->turn();
    return code_of(reader);
  }

  const std::shared_ptr<ManualClock> clock = std::make_shared<ManualClock>();
  const CancelSource group;
  std::shared_ptr<BufferState> from, to, sink;

  void open(bool transfer_queue, std::size_t window) {
    Scheduler::open(transfer_queue, window);
    from = buffer();
    to = buffer();
    sink = buffer();
  }
};

TEST_F(Limits, that_are_over_when_a_command_comes_keep_it_from_the_device) {
  group.cancel(cancelled_error("request"));
  const auto late = submit_within(seconds{0});
  const auto unwanted = submit_with({}, group.token());
  scheduler->turn();
  EXPECT_EQ(code_of(late), ErrorCode::deadline_exceeded);
  EXPECT_EQ(late->status(), CommandStatus::cancelled);
  EXPECT_EQ(code_of(unwanted), ErrorCode::cancelled);
  EXPECT_EQ(unwanted->result().error().op(), "request");
  EXPECT_TRUE(backend->submitted.empty());
  EXPECT_EQ(reading_the_output(), ErrorCode::deadline_exceeded);
}

TEST_F(Limits, that_pass_while_a_command_queues_keep_it_from_the_device) {
  const auto running = submit(from, to);
  scheduler->turn();
  const auto late = submit_within(seconds{1});
  const auto unwanted = submit_with({}, group.token());
  clock->advance(seconds{1});
  group.cancel(cancelled_error("request"));
  backend->complete(0);
  scheduler->turn();
  EXPECT_EQ(running->status(), CommandStatus::completed);
  EXPECT_EQ(code_of(late), ErrorCode::deadline_exceeded);
  EXPECT_EQ(code_of(unwanted), ErrorCode::cancelled);
  EXPECT_EQ(backend->submitted.size(), 1U);
}

TEST_F(Limits, that_pass_while_a_command_runs_drop_its_result) {
  const auto late = submit_within(seconds{1});
  scheduler->turn();
  EXPECT_EQ(late->status(), CommandStatus::running);
  clock->advance(seconds{1});
  backend->complete(0);
  scheduler->turn();
  EXPECT_EQ(code_of(late), ErrorCode::deadline_exceeded);
  EXPECT_EQ(reading_the_output(), ErrorCode::deadline_exceeded);
}

TEST_F(Limits, that_are_not_over_change_nothing) {
  const auto command = submit_with(Deadline::after(*clock, seconds{2}), group.token());
  scheduler->turn();
  clock->advance(seconds{1});
  backend->complete(0);
  scheduler->turn();
  EXPECT_EQ(command->status(), CommandStatus::completed);
  clock->advance(seconds{9});
  group.cancel(cancelled_error("request"));
  scheduler->turn();
  EXPECT_EQ(command->status(), CommandStatus::completed);
}

TEST_F(Limits, are_asked_for_by_a_backend_before_each_step) {
  const auto command = submit_within(seconds{1});
  scheduler->turn();
  ASSERT_EQ(backend->stop_signs.size(), 1U);
  EXPECT_FALSE(backend->stop_signs[0]->must_end());
  clock->advance(seconds{1});
  EXPECT_TRUE(backend->stop_signs[0]->must_end());
  backend->complete(0);
  scheduler->turn();
  EXPECT_EQ(code_of(command), ErrorCode::deadline_exceeded);
}

}  // namespace
}  // namespace stoker
