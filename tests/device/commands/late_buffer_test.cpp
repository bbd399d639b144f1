// Buffers that get their memory when the first command that uses them goes to the device.
#include "scheduler_fixture.hpp"
#include "stoker/runtime/futures/timeline.hpp"

namespace stoker {
namespace {

constexpr std::uint64_t mebibyte = std::uint64_t{1} << 20;

class LateBuffers : public Scheduler {
 protected:
  std::shared_ptr<BufferState> late(std::uint64_t bytes = mebibyte) {
    return scheduler->make_late_buffer({DType::u8, {static_cast<std::int64_t>(bytes)}}, "test")
        .value();
  }
  CommandPtr submit_behind(const std::shared_ptr<Timeline>& gate,
                           const std::shared_ptr<BufferState>& from,
                           const std::shared_ptr<BufferState>& to) {
    CommandPtr command = commands->make(++ids, "copy");
    command->work.step.kind = StepKind::copy;
    command->work.step.inputs.push_back({from, 0, 64});
    command->work.step.outputs.push_back({to, 0, 64});
    command->work.waits.push_back(std::make_unique<HostWait>(TimelinePoint{gate, 1}));
    scheduler->submit(command);
    return command;
  }
  std::uint64_t in_use() const { return scheduler->pool().stats().in_use; }
};

TEST_F(LateBuffers, take_no_memory_before_their_first_command_goes_to_the_device) {
  open(false, 1);
  const auto a = buffer();
  const std::uint64_t before = in_use();
  BufferStates results;
  for (int i = 0; i < 5; ++i) {
    results.push_back(late());
    submit(a, results.back());
    scheduler->turn();
  }
  EXPECT_EQ(in_use() - before, mebibyte);  // the window holds one submission
  backend->complete(0);
  scheduler->turn();
  EXPECT_EQ(in_use() - before, 5 * mebibyte);  // the other four went together
}

TEST_F(LateBuffers, leave_their_memory_to_the_next_while_their_last_use_is_in_flight) {
  open();
  const auto a = buffer();
  const auto first = late(), second = late();
  submit(a, first);
  submit(first, a);
  scheduler->turn();
  scheduler->release(*first);
  submit(a, second);
  scheduler->turn();
  EXPECT_EQ(second->memory, first->memory);
  ASSERT_EQ(backend->submitted.size(), 2U);
  ASSERT_EQ(backend->submitted[1].waits.size(), 1U);  // for whoever reads what was there
  EXPECT_EQ(backend->submitted[1].waits[0].value, 1U);
  EXPECT_EQ(scheduler->pool().stats().allocations, 2U);
}

TEST_F(LateBuffers, are_ordered_within_a_submission_that_reuses_their_memory) {
  open();
  const auto a = buffer(), b = buffer();
  const auto first = late(), second = late();
  submit(a, first);
  submit(first, b);
  scheduler->release(*first);
  submit(a, second);
  scheduler->turn();
  ASSERT_EQ(backend->submitted.size(), 1U);
  EXPECT_EQ(second->memory, first->memory);
  const auto& after = backend->submitted[0].after;
  EXPECT_EQ(after[1], std::vector<std::uint32_t>{0});
  ASSERT_EQ(after.size(), 3U);
  EXPECT_NE(std::ranges::find(after[2], 1U), after[2].end());  // behind the reader
}

TEST_F(LateBuffers, give_their_memory_back_when_everything_has_ended) {
  open();
  const auto a = buffer();
  const std::uint64_t before = in_use();
  auto result = late();
  submit(a, result);
  scheduler->release(*result);
  result.reset();
  scheduler->turn();
  EXPECT_EQ(in_use() - before, mebibyte);
  backend->complete(0);
  scheduler->turn();
  EXPECT_EQ(in_use(), before);
}

TEST_F(LateBuffers, of_work_that_waits_for_the_outside_leave_nothing_to_others) {
  open();
  const auto gate = std::make_shared<Timeline>();
  const auto a = buffer(), b = buffer();
  const auto first = late(), second = late();
  submit(a, first);
  scheduler->turn();
  const CommandPtr held = submit_behind(gate, first, b);
  scheduler->release(*first);
  submit(a, second);  // must not be made to wait for the gate
  scheduler->turn();
  EXPECT_NE(second->memory, first->memory);
  EXPECT_EQ(backend->submitted.size(), 2U);
  gate->advance(1);
  scheduler->turn();
  EXPECT_EQ(held->status(), CommandStatus::running);
}

TEST_F(LateBuffers, that_somebody_looks_into_are_left_to_nobody) {
  open();
  const auto a = buffer();
  const auto first = late(), second = late();
  submit(a, first);
  scheduler->turn();
  const std::shared_ptr<MemoryLease> view = scheduler->share(*first);
  ASSERT_NE(view, nullptr);
  scheduler->release(*first);
  submit(a, second);
  scheduler->turn();
  EXPECT_NE(second->memory, view);
}

TEST_F(LateBuffers, wait_for_memory_as_long_as_something_in_flight_may_give_some_back) {
  open(false, 3, 2 * mebibyte);
  const auto a = buffer();
  auto first = late();
  const auto second = late(mebibyte + mebibyte / 2);
  submit(a, first);
  scheduler->turn();
  scheduler->release(*first);
  const CommandPtr larger = submit(a, second);
  scheduler->turn();
  EXPECT_EQ(larger->status(), CommandStatus::pending);
  backend->complete(0);
  scheduler->turn();
  EXPECT_EQ(larger->status(), CommandStatus::running);
  backend->complete(1);
  scheduler->turn();
  EXPECT_EQ(larger->status(), CommandStatus::completed);
}

TEST_F(LateBuffers, fail_their_command_when_nothing_can_give_memory_back) {
  open(false, 3, 2 * mebibyte);
  const auto a = buffer();
  const auto first = late(), second = late(mebibyte + mebibyte / 2), third = buffer();
  submit(a, first);
  const CommandPtr failed = submit(a, second);
  const CommandPtr reader = submit(second, third);
  scheduler->turn();
  backend->complete(0);
  scheduler->turn();
  EXPECT_EQ(code_of(failed), ErrorCode::out_of_memory);
  EXPECT_EQ(code_of(reader), ErrorCode::out_of_memory);
  EXPECT_EQ(scheduler->lost(), std::nullopt);
}

TEST_F(LateBuffers, that_no_budget_holds_are_refused_when_they_are_made) {
  open(false, 3, 2 * mebibyte);
  const auto refused =
      scheduler->make_late_buffer({DType::u8, {static_cast<std::int64_t>(3 * mebibyte)}}, "test");
  ASSERT_TRUE(refused.has_error());
  EXPECT_EQ(refused.error().code(), ErrorCode::limit_exceeded);
  EXPECT_EQ(refused.error().detail("requested"), std::to_string(3 * mebibyte));
}

TEST_F(LateBuffers, of_a_cancelled_command_end_with_it) {
  open(false, 1);
  const auto a = buffer(), b = buffer();
  submit(a, b);
  scheduler->turn();
  auto result = late();
  const std::weak_ptr<BufferState> watched = result;
  const CommandPtr queued = submit(a, result);
  scheduler->release(*result);
  result.reset();
  scheduler->cancel(*queued, Error{"test", ErrorCode::cancelled, "no longer needed"});
  EXPECT_EQ(code_of(queued), ErrorCode::cancelled);
  EXPECT_TRUE(watched.expired());
}

}  // namespace
}  // namespace stoker
