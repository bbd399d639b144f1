// Commands that wait for the outside, and who waits for them.
#include "scheduler_fixture.hpp"
#include "stoker/tests/actors/failing_allocation.hpp"

namespace stoker {
namespace {

class HeldBack : public Scheduler {
 protected:
  /// Queues a copy that waits for `gate` to reach `value`.
  CommandPtr submit_behind(const std::shared_ptr<Timeline>& gate,
                           const std::shared_ptr<BufferState>& from,
                           const std::shared_ptr<BufferState>& to, std::uint64_t value = 1) {
    CommandPtr command = make_behind(gate, from, to, value);
    scheduler->submit(command);
    return command;
  }
  CommandPtr make_behind(const std::shared_ptr<Timeline>& gate,
                         const std::shared_ptr<BufferState>& from,
                         const std::shared_ptr<BufferState>& to, std::uint64_t value = 1) {
    CommandPtr command = commands->make(++ids, "copy");
    command->work.step.kind = StepKind::copy;
    command->work.step.inputs.push_back({from, 0, 64});
    command->work.step.outputs.push_back({to, 0, 64});
    command->work.waits.push_back(std::make_unique<HostWait>(TimelinePoint{gate, value}));
    return command;
  }
  static Error by_the_test() { return {"copy", ErrorCode::cancelled, "by the test"}; }

  const std::shared_ptr<Timeline> gate = std::make_shared<Timeline>();
  std::size_t completed = 0;  // of what the backend was given
};

TEST_F(HeldBack, are_readers_and_writers_behind_a_held_writer_and_nobody_else) {
  open();
  const auto a = buffer(), b = buffer(), c = buffer(), d = buffer();
  const auto held = submit_behind(gate, a, b);
  const auto reader = submit(b, c);
  const auto writer = submit(d, b);
  const auto bystander = submit(a, d);  // but that writes what `writer` reads
  const auto free = submit(a, buffer());
  scheduler->turn();
  EXPECT_EQ(held->status(), CommandStatus::pending);
  EXPECT_EQ(reader->status(), CommandStatus::pending);
  EXPECT_EQ(writer->status(), CommandStatus::pending);
  EXPECT_EQ(bystander->status(), CommandStatus::pending);
  EXPECT_EQ(free->status(), CommandStatus::running);
  EXPECT_EQ(scheduler->stats().queued, 4U);
  gate->advance(1);
  EXPECT_EQ(notifications, 1);
  scheduler->turn();
  EXPECT_EQ(scheduler->stats().queued, 0U);
  ASSERT_EQ(backend->submitted.size(), 2U);
  const auto& after = backend->submitted[1].after;
  ASSERT_EQ(after.size(), 4U);
  EXPECT_EQ(after[1], std::vector<std::uint32_t>{0});       // the reader behind the writer
  EXPECT_EQ(after[2], (std::vector<std::uint32_t>{0, 1}));  // who overwrites behind both
  EXPECT_EQ(after[3], std::vector<std::uint32_t>{2});
}

TEST_F(HeldBack, are_only_writers_behind_a_held_reader) {
  open();
  const auto a = buffer(), b = buffer(), c = buffer();
  const auto held = submit_behind(gate, a, b);
  const auto reader = submit(a, c);
  const auto writer = submit(c, a);
  scheduler->turn();
  EXPECT_EQ(held->status(), CommandStatus::pending);
  EXPECT_EQ(reader->status(), CommandStatus::running);
  EXPECT_EQ(writer->status(), CommandStatus::pending);
  gate->advance(1);
  scheduler->turn();
  EXPECT_EQ(writer->status(), CommandStatus::running);
}

TEST_F(HeldBack, is_a_writer_by_the_readers_before_a_writer_that_was_cancelled) {
  open();
  const auto a = buffer(), b = buffer(), c = buffer();
  const auto reader = submit_behind(gate, a, b);
  const auto cancelled = submit(c, a);
  const auto writer = submit(c, a);
  scheduler->cancel(*cancelled, by_the_test());
  EXPECT_EQ(code_of(cancelled), ErrorCode::cancelled);
  scheduler->turn();
  EXPECT_EQ(reader->status(), CommandStatus::pending);
  EXPECT_EQ(writer->status(), CommandStatus::pending);  // it may not overtake the reader
  gate->advance(1);
  scheduler->turn();
  EXPECT_EQ(reader->status(), CommandStatus::running);
  EXPECT_EQ(writer->status(), CommandStatus::running);
}

TEST_F(HeldBack, is_nobody_once_what_waits_was_cancelled) {
  open();
  const auto a = buffer(), b = buffer(), c = buffer();
  const auto held = submit_behind(gate, a, b);
  const auto writer = submit(a, b);
  const auto reader = submit(b, c);
  scheduler->cancel(*held, by_the_test());
  scheduler->turn();
  EXPECT_EQ(code_of(held), ErrorCode::cancelled);
  EXPECT_EQ(writer->status(), CommandStatus::running);
  EXPECT_EQ(reader->status(), CommandStatus::running);
  gate->advance(1);  // nobody waits for it any more
  EXPECT_EQ(notifications, 0);
}

TEST_F(HeldBack, fails_who_reads_what_was_never_written) {
  open();
  const auto a = buffer(), b = buffer(), c = buffer();
  const auto held = submit_behind(gate, a, b);
  const auto reader = submit(b, c);
  gate->fail(Error{"test", ErrorCode::io_error, "the source is gone"});
  scheduler->turn();
  EXPECT_EQ(code_of(held), ErrorCode::io_error);
  EXPECT_EQ(code_of(reader), ErrorCode::io_error);
}

TEST_F(HeldBack, waits_for_each_of_several_points) {
  open();
  const auto other = std::make_shared<Timeline>();
  const auto a = buffer(), b = buffer();
  CommandPtr command = commands->make(++ids, "copy");
  command->work.step.kind = StepKind::copy;
  command->work.step.inputs.push_back({a, 0, 64});
  command->work.step.outputs.push_back({b, 0, 64});
  for (const auto& line : {gate, other, gate})
    command->work.waits.push_back(std::make_unique<HostWait>(TimelinePoint{line, 2}));
  scheduler->submit(command);
  gate->advance(2);
  scheduler->turn();
  EXPECT_EQ(command->status(), CommandStatus::pending);
  other->advance(1);
  scheduler->turn();
  EXPECT_EQ(command->status(), CommandStatus::pending);
  other->advance(2);
  scheduler->turn();
  EXPECT_EQ(command->status(), CommandStatus::running);
}

TEST_F(HeldBack, is_nobody_by_a_point_that_was_reached_before) {
  open();
  gate->advance(1);
  const auto a = buffer(), b = buffer();
  const auto command = submit_behind(gate, a, b);
  scheduler->turn();
  EXPECT_EQ(command->status(), CommandStatus::running);
  EXPECT_EQ(notifications, 0);
}

TEST_F(HeldBack, fails_and_holds_nobody_without_the_memory_to_wait) {
  open();
  bool failed = true;
  std::size_t which = 0;
  for (; failed; ++which) {
    const auto a = buffer(), b = buffer(), c = buffer();
    const auto line = std::make_shared<Timeline>();
    const auto first = submit_behind(line, a, b);
    const auto reader = submit(b, c);
    // Behind both, and for a point of its own.
    CommandPtr command = make_behind(gate, c, b);
    {
      const FailingAllocation failing{which};
      scheduler->submit(command);
      failed = failing.failed();
    }
    const auto after = submit(a, b);
    scheduler->turn();
    EXPECT_EQ(first->status(), CommandStatus::pending) << "allocation " << which;
    EXPECT_EQ(after->status(), CommandStatus::pending) << "it overtakes who was held before";
    EXPECT_EQ(code_of(command), failed ? ErrorCode::out_of_memory : ErrorCode::internal);
    scheduler->cancel(*command, by_the_test());
    line->advance(1);
    scheduler->turn();
    EXPECT_EQ(first->status(), CommandStatus::running) << "allocation " << which;
    EXPECT_EQ(reader->status(), CommandStatus::running) << "allocation " << which;
    EXPECT_EQ(after->status(), CommandStatus::running) << "allocation " << which;
    while (completed < backend->submitted.size()) backend->complete(completed++);
    scheduler->turn();
    EXPECT_TRUE(scheduler->idle()) << "allocation " << which;
  }
  EXPECT_GT(which, 4U);
}

TEST_F(HeldBack, ends_with_the_device_however_many_wait_for_each_other) {
  open();
  const auto a = buffer(), b = buffer();
  std::vector<CommandPtr> row{submit_behind(gate, a, b)};
  for (int i = 0; i < 100'000; ++i) row.push_back(submit(a, b));  // each behind the one before
  scheduler->turn();
  EXPECT_EQ(scheduler->stats().queued, row.size());
  scheduler->close(Error{"device", ErrorCode::closed, "stopped"});
  for (const CommandPtr& command : row) ASSERT_EQ(code_of(command), ErrorCode::closed);
}

TEST_F(HeldBack, are_let_go_together_however_many_wait_for_each_other) {
  open();
  const auto a = buffer(), b = buffer();
  const auto first = submit_behind(gate, a, b);
  CommandPtr last;
  for (int i = 0; i < 100'000; ++i) last = submit(a, b);
  gate->advance(1);
  for (scheduler->turn(); !last->ready(); scheduler->turn())
    while (completed < backend->submitted.size()) backend->complete(completed++);
  EXPECT_EQ(first->status(), CommandStatus::completed);
  EXPECT_EQ(last->status(), CommandStatus::completed);
}

TEST_F(Scheduler, fails_what_finds_no_memory_to_queue) {
  open();
  const auto a = buffer(), b = buffer();
  CommandPtr command = commands->make(++ids, "copy");
  command->work.step.inputs.push_back({a, 0, 64});
  command->work.step.outputs.push_back({b, 0, 64});
  {
    const FailingAllocation failing{0};
    scheduler->submit(command);
    EXPECT_TRUE(failing.failed());
  }
  EXPECT_EQ(code_of(command), ErrorCode::out_of_memory);
  const auto next = submit(a, b);
  scheduler->turn();
  EXPECT_EQ(next->status(), CommandStatus::running);
}

TEST_F(Scheduler, cancels_what_queues_one_by_one) {
  open(false, 1);
  const auto a = buffer(), b = buffer();
  submit(a, b);
  scheduler->turn();
  std::vector<CommandPtr> queued;
  for (int i = 0; i < 100'000; ++i) queued.push_back(submit(a, b));
  for (std::size_t i = 0; i < queued.size(); i += 2)
    scheduler->cancel(*queued[i], Error{"copy", ErrorCode::cancelled, "by the test"});
  scheduler->turn();
  EXPECT_EQ(scheduler->stats().queued, queued.size() / 2);
  EXPECT_EQ(code_of(queued[0]), ErrorCode::cancelled);
  std::size_t completed = 0;
  for (; !queued.back()->ready(); scheduler->turn())
    while (completed < backend->submitted.size()) backend->complete(completed++);
  EXPECT_EQ(scheduler->stats().commands_cancelled, queued.size() / 2);
  EXPECT_TRUE(scheduler->idle());
}

}  // namespace
}  // namespace stoker
