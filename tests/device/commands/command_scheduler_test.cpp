// What the scheduler does with commands: order, failure, loss.
#include "scheduler_fixture.hpp"

namespace stoker {
namespace {

TEST_F(Scheduler, makes_one_submission_of_commands_that_arrive_together) {
  open();
  const auto a = buffer(), b = buffer(), c = buffer(), d = buffer();
  submit(a, b);
  submit(c, d);
  submit(b, c);
  scheduler->turn();
  ASSERT_EQ(backend->submitted.size(), 1U);
  const auto& after = backend->submitted[0].after;
  EXPECT_TRUE(after[0].empty());
  EXPECT_TRUE(after[1].empty());  // independent of the first
  EXPECT_EQ(after[2], (std::vector<std::uint32_t>{
                          0, 1}));  // reads b after its writer, writes c after its reader
}

TEST_F(Scheduler, waits_across_submissions_for_exactly_the_writers_and_readers) {
  open();
  const auto a = buffer(), b = buffer(), c = buffer();
  submit(a, b);
  scheduler->turn();
  submit(a, c);
  scheduler->turn();
  submit(b, a);
  scheduler->turn();
  ASSERT_EQ(backend->submitted.size(), 3U);
  EXPECT_TRUE(backend->submitted[1].waits.empty());  // both only read a
  ASSERT_EQ(backend->submitted[2].waits.size(), 1U);
  EXPECT_EQ(backend->submitted[2].waits[0].value,
            2U);  // a's last reader; the writer of b came before
}

TEST_F(Scheduler, waits_for_earlier_readers_also_where_the_writers_own_submission_reads) {
  open();
  const auto a = buffer(), b = buffer(), c = buffer(), d = buffer();
  submit(a, b);
  scheduler->turn();
  submit(a, c);
  submit(d, a);
  scheduler->turn();
  ASSERT_EQ(backend->submitted.size(), 2U);
  ASSERT_EQ(backend->submitted[1].waits.size(), 1U);  // for the first reader of a
  EXPECT_EQ(backend->submitted[1].waits[0].value, 1U);
  EXPECT_EQ(backend->submitted[1].after[1], std::vector<std::uint32_t>{0});  // and for the second
}

TEST_F(Scheduler, waits_for_the_other_queue_and_settles_in_order_of_dependency) {
  open(true);
  const auto a = buffer(), b = buffer(), c = buffer();
  const auto first = submit(a, b, QueueKind::transfer);
  const auto second = submit(b, c, QueueKind::compute);
  scheduler->turn();
  ASSERT_EQ(backend->submitted.size(), 2U);
  ASSERT_EQ(backend->submitted[1].waits.size(), 1U);
  EXPECT_EQ(backend->submitted[1].waits[0].queue, QueueKind::transfer);
  // The report of the transfer is late, and the backend uses what its command keeps until then.
  backend->complete(1);
  scheduler->turn();
  EXPECT_EQ(first->status(), CommandStatus::running);
  EXPECT_EQ(second->status(), CommandStatus::running);
  backend->complete(0);
  scheduler->turn();
  EXPECT_EQ(first->status(), CommandStatus::completed);
  EXPECT_EQ(second->status(), CommandStatus::completed);
}

TEST_F(Scheduler, keeps_commands_beyond_the_window_where_they_can_be_cancelled) {
  open(false, 1);
  const auto a = buffer(), b = buffer();
  const auto running = submit(a, b);
  scheduler->turn();
  const auto waiting = submit(a, b);
  scheduler->turn();
  EXPECT_EQ(running->status(), CommandStatus::running);
  EXPECT_EQ(waiting->status(), CommandStatus::pending);
  scheduler->cancel(*waiting, Error{"copy", ErrorCode::cancelled, "by the test"});
  EXPECT_EQ(waiting->status(), CommandStatus::cancelled);
  backend->complete(0);
  scheduler->turn();
  EXPECT_EQ(running->status(), CommandStatus::completed);
  EXPECT_EQ(backend->submitted.size(), 1U);
}

TEST_F(Scheduler, fails_dependents_with_the_first_cause_and_nobody_else) {
  open();
  const auto a = buffer(), b = buffer(), c = buffer(), d = buffer();
  const auto broken = submit(a, b);
  const auto dependent = submit(b, c);
  const auto bystander = submit(a, d);
  scheduler->turn();
  const Error cause{"copy", ErrorCode::handler_failed, "on purpose"};
  backend->complete(0, {{0, cause}, {1, cause}});
  scheduler->turn();
  EXPECT_EQ(code_of(broken), ErrorCode::handler_failed);
  EXPECT_EQ(code_of(dependent), ErrorCode::handler_failed);
  EXPECT_EQ(bystander->status(), CommandStatus::completed);
  // Later readers fail too, until somebody overwrites the buffer.
  const auto late = submit(c, d);
  scheduler->turn();
  EXPECT_EQ(code_of(late), ErrorCode::handler_failed);
  EXPECT_EQ(backend->submitted.size(), 1U);  // it never ran
  const auto repair = submit(a, c);
  const auto good = submit(c, d);
  scheduler->turn();
  backend->complete(1);
  scheduler->turn();
  EXPECT_EQ(repair->status(), CommandStatus::completed);
  EXPECT_EQ(good->status(), CommandStatus::completed);
}

TEST_F(Scheduler, does_not_blame_earlier_commands_for_a_later_cancel) {
  open(false, 1);
  const auto a = buffer(), b = buffer();
  const auto reader = submit(a, b);
  scheduler->turn();
  const auto writer = submit(b, a);
  scheduler->turn();
  scheduler->cancel(*writer, Error{"copy", ErrorCode::cancelled, "by the test"});
  const auto later = submit(a, b);
  backend->complete(0);
  scheduler->turn();
  EXPECT_EQ(reader->status(), CommandStatus::completed);
  EXPECT_EQ(code_of(later), ErrorCode::cancelled);
}

TEST_F(Scheduler, blames_a_cancelled_command_for_what_its_readers_make_of_nothing) {
  open();
  const auto between = buffer();
  const CommandPtr cancelled = submit(buffer(), between);
  const CommandPtr reader = submit(between, buffer());
  scheduler->turn();
  ASSERT_EQ(backend->submitted.size(), 1U);
  scheduler->cancel(*cancelled, cancelled_error("test"));
  // Its step was left out: the reader's found an index that means nothing.
  backend->complete(0, {{1, Error{"gather", ErrorCode::invalid_argument, "out of range"}}});
  scheduler->turn();
  EXPECT_EQ(code_of(reader), ErrorCode::cancelled);
}

TEST_F(Scheduler, ends_everything_with_device_lost_at_once) {
  open(false, 1);
  const auto a = buffer(), b = buffer();
  const auto running = submit(a, b);
  scheduler->turn();
  const auto waiting = submit(a, b);
  scheduler->turn();
  backend->lose();
  EXPECT_EQ(notifications, 1);
  scheduler->turn();
  EXPECT_EQ(code_of(running), ErrorCode::device_lost);
  EXPECT_EQ(code_of(waiting), ErrorCode::device_lost);
  EXPECT_TRUE(scheduler->lost());
  EXPECT_EQ(code_of(submit(a, b)), ErrorCode::device_lost);
}

TEST_F(Scheduler, completes_what_was_reported_before_the_loss) {
  open();
  const auto a = buffer(), b = buffer(), c = buffer();
  const auto done = submit(a, b);
  scheduler->turn();
  const auto running = submit(a, c);
  scheduler->turn();
  backend->complete(0);
  backend->lose();
  scheduler->turn();
  EXPECT_EQ(done->status(), CommandStatus::completed);
  EXPECT_EQ(code_of(running), ErrorCode::device_lost);
}

TEST(SchedulerThatOpens, hears_of_a_loss_before_it_has_hooks) {
  ScriptedDriver driver{false};
  const auto scheduler = CommandScheduler::open(driver, 0, {}, {}).value();
  driver.opened->lose();
  int notifications = 0;
  SchedulerHooks hooks;
  hooks.notify = [&] { ++notifications; };
  scheduler->set_hooks(std::move(hooks));
  EXPECT_EQ(notifications, 1);
  scheduler->turn();
  EXPECT_TRUE(scheduler->lost());
}

TEST_F(Scheduler, goes_on_after_a_refused_submission) {
  open();
  const auto a = buffer(), b = buffer(), c = buffer();
  const auto before = submit(a, b);
  scheduler->turn();
  backend->fail_submit = true;
  const auto refused = submit(b, c);
  scheduler->turn();
  EXPECT_EQ(code_of(refused), ErrorCode::out_of_memory);
  backend->fail_submit = false;
  const auto after = submit(a, c);
  scheduler->turn();
  ASSERT_EQ(backend->submitted.size(), 2U);
  // The refused command's hazards are forgotten, so what comes next waits for all before it.
  ASSERT_EQ(backend->submitted[1].waits.size(), 1U);
  EXPECT_EQ(backend->submitted[1].waits[0].value, backend->submitted[0].value);
  backend->complete(0);
  backend->complete(1);
  scheduler->turn();
  EXPECT_EQ(before->status(), CommandStatus::completed);
  EXPECT_EQ(after->status(), CommandStatus::completed);
}

TEST_F(Scheduler, waits_for_no_point_that_was_never_handed_over) {
  open(true);
  const auto a = buffer(), b = buffer(), c = buffer();
  backend->fail_submit = true;
  const auto refused = submit(a, b, QueueKind::transfer);
  scheduler->turn();
  EXPECT_EQ(code_of(refused), ErrorCode::out_of_memory);
  backend->fail_submit = false;
  // The refused writer's point is no work of anybody's: whoever overwrites need not wait for it.
  const auto writer = submit(c, b, QueueKind::compute);
  scheduler->turn();
  ASSERT_EQ(backend->submitted.size(), 1U);
  EXPECT_TRUE(backend->submitted[0].waits.empty());
  backend->complete(0);
  scheduler->turn();
  EXPECT_EQ(writer->status(), CommandStatus::completed);
}

TEST_F(Scheduler, goes_on_to_the_other_queue_when_a_command_cannot_be_put_together) {
  open(true);
  const auto a = buffer(), b = buffer(), c = buffer();
  auto executable = std::make_shared<Executable>();
  executable->scratch_bytes = {std::size_t{300} * 1024};
  const CommandPtr refused = commands->make(++ids, "needs_scratch");
  refused->work.step.executable = executable;
  refused->work.step.inputs.push_back({a, 0, 64});
  refused->work.step.outputs.push_back({b, 0, 64});
  backend->fail_allocation = true;
  scheduler->submit(refused);
  const auto other = submit(a, c, QueueKind::transfer);
  scheduler->turn();
  EXPECT_EQ(code_of(refused), ErrorCode::out_of_memory);
  ASSERT_EQ(backend->submitted.size(), 1U);
  EXPECT_EQ(other->status(), CommandStatus::running);
}

TEST_F(Scheduler, answers_out_of_memory_with_the_numbers_and_goes_on) {
  open();
  backend->fail_allocation = true;
  const auto refused = scheduler->make_buffer({DType::u8, {std::int64_t{300} * 1024}}, "buffer");
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code(), ErrorCode::out_of_memory);
  EXPECT_FALSE(refused.error().detail("requested").empty());
  EXPECT_EQ(refused.error().detail("in_use"), "0");
  backend->fail_allocation = false;
  EXPECT_TRUE(scheduler->make_buffer({DType::u8, {std::int64_t{300} * 1024}}, "buffer"));
}

TEST_F(Scheduler, lets_a_released_buffer_finish_its_work_and_refuses_new) {
  open(false, 1);
  const auto a = buffer(), b = buffer();
  const auto running = submit(a, b);
  scheduler->turn();
  scheduler->release(*a);
  const auto late = submit(a, b);
  scheduler->turn();
  backend->complete(0);
  scheduler->turn();
  EXPECT_EQ(running->status(), CommandStatus::completed);
  EXPECT_EQ(code_of(late), ErrorCode::released);
}

TEST_F(Scheduler, runs_what_queued_before_a_buffer_was_released) {
  open(false, 1);
  const auto a = buffer(), b = buffer(), c = buffer();
  submit(a, b);
  scheduler->turn();
  const auto waiting = submit(a, c);
  scheduler->release(*a);
  EXPECT_TRUE(a->memory);
  backend->complete(0);
  scheduler->turn();
  backend->complete(1);
  scheduler->turn();
  EXPECT_EQ(waiting->status(), CommandStatus::completed);
  EXPECT_FALSE(a->memory);
}

TEST_F(Scheduler, settles_each_command_once_when_closed) {
  open(false, 1);
  const auto a = buffer(), b = buffer();
  const auto running = submit(a, b);
  scheduler->turn();
  const auto waiting = submit(a, b);
  scheduler->close(Error{"device", ErrorCode::closed, "stopped"});
  EXPECT_EQ(code_of(waiting), ErrorCode::closed);
  backend->complete(0);
  scheduler->turn();
  EXPECT_EQ(running->status(), CommandStatus::completed);
  EXPECT_EQ(code_of(submit(a, b)), ErrorCode::closed);
}

TEST_F(Scheduler, answers_what_runs_when_nobody_waits_for_it_any_more) {
  open();
  const auto a = buffer();
  auto b = buffer();
  const auto running = submit(a, b);
  scheduler->turn();
  const Error stopped{"device", ErrorCode::closed, "stopped"};
  scheduler->close(stopped);
  scheduler->abandon(stopped);
  EXPECT_EQ(code_of(running), ErrorCode::closed);
  EXPECT_EQ(scheduler->stats().in_flight, 0U);
  EXPECT_EQ(scheduler->stats().quarantined, 1U);
  // The device may still write there.
  scheduler->release(*b);
  EXPECT_EQ(scheduler->pool().stats().leases, 2U);
  backend->complete(0);
  EXPECT_EQ(scheduler->stats().quarantined, 0U);
  EXPECT_EQ(scheduler->pool().stats().leases, 1U);
}

TEST_F(Scheduler, ends_with_the_last_of_what_it_has_abandoned) {
  open();
  submit(buffer(), buffer());
  scheduler->turn();
  const Error stopped{"device", ErrorCode::closed, "stopped"};
  scheduler->close(stopped);
  scheduler->abandon(stopped);
  const Future<void> gone = scheduler->gone();
  scheduler.reset();
  EXPECT_FALSE(gone.ready());  // the device still reports to it
  backend->complete(0);
  EXPECT_TRUE(gone.ready());
  open();
}

TEST_F(Scheduler, keeps_what_runs_when_there_is_no_memory_to_say_what_failed) {
  open(true);
  const CommandPtr failed = submit(buffer(), buffer());
  scheduler->turn();
  const CommandPtr runs = submit(buffer(), buffer());
  scheduler->turn();
  ASSERT_EQ(backend->submitted.size(), 2U);

  const Error why{"copy", ErrorCode::internal, "it failed"};
  const std::size_t room = queue_kinds * scheduler->options().submissions_in_flight;
  for (std::size_t i = 0; i < room; ++i)
    scheduler->on_completed({{QueueKind::transfer, 0}, {{0, why}}, {}});
  backend->complete(0, {{0, why}});
  scheduler->turn();

  EXPECT_EQ(code_of(failed), ErrorCode::out_of_memory);
  EXPECT_EQ(code_of(runs), ErrorCode::out_of_memory);
  EXPECT_EQ(scheduler->stats().quarantined, 2U) << "the device may still write to its memory";
  backend->complete(1);
  EXPECT_EQ(scheduler->stats().quarantined, 0U);
}

TEST_F(Scheduler, ends_a_command_whose_executor_goes_without_running_its_end) {
  open();
  SchedulerHooks hooks;
  hooks.notify = [] {};
  hooks.run_later = [](const std::function<void()>&) {};
  scheduler->set_hooks(std::move(hooks));
  const auto a = buffer(), b = buffer();
  const CommandPtr read = commands->make(++ids, "read");
  read->work.step.kind = StepKind::copy;
  read->work.step.inputs.push_back({a, 0, 64});
  read->work.step.outputs.push_back({b, 0, 64});
  std::optional<ErrorCode> told;
  read->work.on_result = [&](const Error* failure) {
    told = failure ? failure->code() : ErrorCode::internal;
  };
  scheduler->submit(read);
  scheduler->turn();
  backend->complete(0);
  scheduler->turn();
  EXPECT_EQ(told, ErrorCode::closed);
  EXPECT_EQ(code_of(read), ErrorCode::closed);
}

class ScratchMemory : public Scheduler {
 protected:
  CommandPtr submit_with_scratch(std::size_t bytes) {
    auto executable = std::make_shared<Executable>();
    executable->scratch_bytes = {bytes};
    CommandPtr command = commands->make(++ids, "needs_scratch");
    command->work.step.executable = executable;
    command->work.step.inputs.push_back({buffer(), 0, 64});
    command->work.step.outputs.push_back({buffer(), 0, 64});
    scheduler->submit(command);
    return command;
  }
  static constexpr std::size_t mebibyte = std::size_t{1} << 20;
};

TEST_F(ScratchMemory, is_waited_for_as_long_as_something_in_flight_may_give_some_back) {
  open(false, 3, 2 * mebibyte);
  const auto first = submit_with_scratch(mebibyte), second = submit_with_scratch(mebibyte);
  scheduler->turn();
  EXPECT_EQ(first->status(), CommandStatus::running);
  EXPECT_EQ(second->status(), CommandStatus::pending);
  backend->complete(0);
  scheduler->turn();
  EXPECT_EQ(first->status(), CommandStatus::completed);
  EXPECT_EQ(second->status(), CommandStatus::running);
}

TEST_F(ScratchMemory, that_nothing_can_give_back_fails_its_command_alone) {
  open(false, 3, 2 * mebibyte);
  const auto failed = submit_with_scratch(3 * mebibyte), other = submit_with_scratch(mebibyte);
  scheduler->turn();
  EXPECT_EQ(code_of(failed), ErrorCode::limit_exceeded);
  EXPECT_EQ(other->status(), CommandStatus::running);
}

}  // namespace
}  // namespace stoker
