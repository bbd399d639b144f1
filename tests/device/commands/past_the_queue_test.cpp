// Threads that use settled buffers past the queue, and the commands that must not overtake them.
#include "scheduler_fixture.hpp"

namespace stoker {
namespace {

class PastTheQueue : public Scheduler {
 protected:
  /// As a client sends it: it counts as a writer from before it is sent.
  CommandPtr write(const std::shared_ptr<BufferState>& from,
                   const std::shared_ptr<BufferState>& to) {
    CommandPtr command = commands->make(++ids, "copy");
    command->work.step.kind = StepKind::copy;
    command->work.step.inputs.push_back({from, 0, 64});
    command->work.step.outputs.push_back({to, 0, 64});
    command->work.writes.add(*to);
    scheduler->submit(command);
    return command;
  }
  [[nodiscard]] SettledReads::Reading read(const std::shared_ptr<BufferState>& buffer) {
    read_ = buffer.get();
    return scheduler->read_settled({&read_, 1});
  }
  BufferState* read_ = nullptr;
};

TEST_F(PastTheQueue, a_buffer_is_read_unless_a_writer_is_on_its_way) {
  open();
  const auto a = buffer(), b = buffer();
  EXPECT_TRUE(read(b));
  const auto writer = write(a, b);
  EXPECT_FALSE(read(b));
  EXPECT_TRUE(read(a));
  scheduler->turn();
  EXPECT_EQ(writer->status(), CommandStatus::running);
  EXPECT_FALSE(read(b));
  backend->complete(0);
  scheduler->turn();
  EXPECT_TRUE(read(b));
}

TEST_F(PastTheQueue, a_writer_waits_for_the_thread_that_reads) {
  open();
  const auto a = buffer(), b = buffer();
  CommandPtr writer;
  {
    const auto reading = read(b);
    ASSERT_TRUE(reading);
    writer = write(a, b);
    scheduler->turn();
    EXPECT_TRUE(backend->submitted.empty());
    EXPECT_EQ(notifications, 0);
  }
  EXPECT_EQ(notifications, 1);
  scheduler->turn();
  EXPECT_EQ(writer->status(), CommandStatus::running);
}

TEST_F(PastTheQueue, nobody_waits_for_a_thread_that_reads_what_they_only_read) {
  open();
  const auto a = buffer(), b = buffer();
  const auto reading = read(a);
  ASSERT_TRUE(reading);
  const auto reader = write(a, b);
  scheduler->turn();
  EXPECT_EQ(reader->status(), CommandStatus::running);
}

TEST_F(PastTheQueue,
       a_writer_that_was_cancelled_while_it_waited_leaves_the_buffer_unsettled_no_longer) {
  open();
  const auto a = buffer(), b = buffer();
  {
    const auto reading = read(b);
    ASSERT_TRUE(reading);
    const auto writer = write(a, b);
    scheduler->turn();
    scheduler->cancel(*writer, Error{"copy", ErrorCode::cancelled, "not wanted"});
    EXPECT_EQ(code_of(writer), ErrorCode::cancelled);
  }
  scheduler->turn();
  EXPECT_FALSE(read(b)) << "it would have written it: whoever reads it fails";
  const auto next = write(a, b);
  scheduler->turn();
  backend->complete(0);
  scheduler->turn();
  EXPECT_EQ(next->status(), CommandStatus::completed);
  EXPECT_TRUE(read(b));
}

TEST_F(PastTheQueue, released_memory_goes_when_the_thread_has_done) {
  open();
  const auto a = buffer();
  {
    const auto reading = read(a);
    ASSERT_TRUE(reading);
    a->released = true;
    scheduler->release_for_good(a);
    scheduler->turn();
    EXPECT_NE(a->memory, nullptr);
  }
  EXPECT_EQ(notifications, 1);
  scheduler->turn();
  EXPECT_EQ(a->memory, nullptr);
  EXPECT_FALSE(read(a));
}

TEST_F(PastTheQueue, nothing_is_read_once_the_device_is_closed_or_lost) {
  open();
  const auto a = buffer();
  ASSERT_TRUE(read(a));
  scheduler->close(Error{"device", ErrorCode::closed, "over"});
  EXPECT_FALSE(read(a));
  open();
  const auto b = buffer();
  ASSERT_TRUE(read(b));
  backend->lose();
  EXPECT_FALSE(read(b));
}

TEST_F(PastTheQueue, what_was_done_counts_as_commands_do) {
  open();
  const auto a = buffer();
  {
    auto reading = read(a);
    scheduler->count_done(reading, true);
  }
  EXPECT_EQ(scheduler->stats().commands_submitted, 1U);
  EXPECT_EQ(scheduler->stats().commands_completed, 1U);
  EXPECT_EQ(scheduler->stats().submissions, 0U);
}

}  // namespace
}  // namespace stoker
