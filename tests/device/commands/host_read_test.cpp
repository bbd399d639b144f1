// Small reads, which the host does when the writers have ended. The device does not hear of them.
#include <cstring>
#include <vector>

#include "scheduler_fixture.hpp"

namespace stoker {
namespace {

class HostRead : public Scheduler {
 protected:
  CommandPtr ask(const std::shared_ptr<BufferState>& of) {
    CommandPtr command = commands->make(++ids, "read");
    CommandWork& work = command->work;
    work.step.kind = StepKind::copy;
    work.queue = QueueKind::transfer;
    work.step.inputs.push_back({of, 0, 0});
    work.step.outputs.push_back({std::shared_ptr<MemoryBlock>{}, 0, 0});
    scheduler->submit(command);
    return command;
  }
  /// Reads the whole buffer.
  CommandPtr read(const std::shared_ptr<BufferState>& from, std::vector<float>& to) {
    CommandPtr command = commands->make(++ids, "read");
    CommandWork& work = command->work;
    const std::size_t bytes = to.size() * sizeof(float);
    work.step.kind = StepKind::copy;
    work.queue = QueueKind::transfer;
    work.step.inputs.push_back({from, 0, bytes});
    work.step.outputs.push_back(
        {std::make_shared<HostBlock>(reinterpret_cast<std::byte*>(to.data()), bytes), 0, bytes});
    scheduler->submit(command);
    return command;
  }
  static void fill(BufferState& buffer, float value) {
    const std::vector<float> values(buffer.spec.elements(), value);
    std::memcpy(buffer.memory->view().host(), values.data(), buffer.spec.bytes());
  }
};

TEST_F(HostRead, takes_what_the_writer_has_left_when_its_submission_ends) {
  open(true);
  const auto a = buffer(), b = buffer();
  std::vector<float> values(16, 0);
  submit(a, b);
  const auto reading = read(b, values);
  scheduler->turn();
  EXPECT_EQ(backend->submitted.size(), 1U);
  EXPECT_EQ(reading->status(), CommandStatus::running);
  fill(*b, 3);
  EXPECT_EQ(values, std::vector<float>(16, 0));
  backend->complete(0);
  scheduler->turn();
  EXPECT_EQ(reading->status(), CommandStatus::completed);
  EXPECT_EQ(values, std::vector<float>(16, 3));
}

TEST_F(HostRead, comes_before_a_later_writer) {
  open();
  const auto a = buffer(), b = buffer();
  std::vector<float> values(16, 0);
  submit(a, b);
  const auto reading = read(b, values);
  const auto later = submit(a, b);
  scheduler->turn();
  ASSERT_EQ(backend->submitted.size(), 1U);
  EXPECT_EQ(backend->submitted[0].after.size(), 1U);
  EXPECT_EQ(later->status(), CommandStatus::pending);
  fill(*b, 3);
  backend->complete(0);
  scheduler->turn();
  EXPECT_EQ(values, std::vector<float>(16, 3));
  EXPECT_EQ(later->status(), CommandStatus::running);
  ASSERT_EQ(backend->submitted.size(), 2U);
}

TEST_F(HostRead, of_what_is_written_already_needs_no_submission_while_the_device_is_busy) {
  open();
  const auto a = buffer(), b = buffer(), c = buffer();
  std::vector<float> values(16, 0);
  fill(*c, 5);
  submit(a, b);
  scheduler->turn();
  const auto reading = read(c, values);
  const auto later = submit(a, c);
  scheduler->turn();
  EXPECT_EQ(reading->status(), CommandStatus::completed);
  EXPECT_EQ(values, std::vector<float>(16, 5));
  EXPECT_EQ(later->status(), CommandStatus::running);
}

TEST_F(HostRead, writes_nothing_when_the_writer_fails_or_it_was_cancelled) {
  open();
  const auto a = buffer(), b = buffer(), c = buffer();
  std::vector<float> failed(16, 0), cancelled(16, 0);
  const auto writer = submit(a, b);
  submit(a, c);
  const auto reading = read(b, failed);
  const auto other = read(c, cancelled);
  scheduler->turn();
  scheduler->cancel(*other, Error{"read", ErrorCode::cancelled, "not wanted"});
  EXPECT_EQ(code_of(other), ErrorCode::cancelled);
  fill(*b, 3);
  fill(*c, 3);
  backend->complete(0, {{0, Error{"copy", ErrorCode::out_of_memory, "broke"}}});
  scheduler->turn();
  EXPECT_EQ(code_of(writer), ErrorCode::out_of_memory);
  EXPECT_EQ(code_of(reading), ErrorCode::out_of_memory);
  EXPECT_EQ(failed, std::vector<float>(16, 0));
  EXPECT_EQ(cancelled, std::vector<float>(16, 0));
  const auto later = submit(a, c);  // nobody reads it any more
  scheduler->turn();
  EXPECT_EQ(later->status(), CommandStatus::running);
}

TEST_F(HostRead, is_the_devices_where_much_is_read_from_a_gpu) {
  open();
  const auto a = buffer();
  const auto large = scheduler->make_buffer({DType::f32, {17}}, "test").value();
  std::vector<float> values(17, 0);
  submit(a, large);
  scheduler->turn();
  const auto reading = read(large, values);
  scheduler->turn();
  EXPECT_EQ(reading->status(), CommandStatus::running);
  EXPECT_EQ(backend->submitted.size(), 2U);
}

TEST_F(HostRead, ends_with_the_submission_of_the_writer) {
  open(true);
  const auto a = buffer(), b = buffer();
  submit(a, b);
  scheduler->turn();
  const auto question = ask(b);
  scheduler->turn();
  EXPECT_EQ(question->status(), CommandStatus::running);
  EXPECT_EQ(question->point().value, 1U);
  EXPECT_EQ(question->point().queue, QueueKind::compute);
  EXPECT_EQ(scheduler->stats().in_flight, 2U);
  backend->complete(0);
  scheduler->turn();
  EXPECT_EQ(question->status(), CommandStatus::completed);
  EXPECT_EQ(backend->submitted.size(), 1U);
  EXPECT_EQ(scheduler->stats().in_flight, 0U);
}

TEST_F(HostRead, ends_with_the_writer_that_came_in_the_same_turn) {
  open();
  const auto a = buffer(), b = buffer();
  submit(a, b);
  const auto question = ask(b);
  const auto last = submit(b, a);
  scheduler->turn();
  ASSERT_EQ(backend->submitted.size(), 1U);
  EXPECT_EQ(backend->submitted[0].after.size(), 2U);  // steps of the two copies
  EXPECT_EQ(scheduler->stats().in_flight, 3U);
  backend->complete(0);
  scheduler->turn();
  EXPECT_EQ(question->status(), CommandStatus::completed);
  EXPECT_EQ(last->status(), CommandStatus::completed);
}

TEST_F(HostRead, does_not_wait_for_readers_nor_for_other_buffers) {
  open();
  const auto a = buffer(), b = buffer(), c = buffer();
  submit(a, b);
  scheduler->turn();
  const auto question = ask(a);
  const auto other = ask(c);
  scheduler->turn();
  EXPECT_EQ(question->status(), CommandStatus::completed);
  EXPECT_EQ(other->status(), CommandStatus::completed);
  EXPECT_EQ(backend->submitted.size(), 1U);
}

TEST_F(HostRead, makes_no_later_writer_wait) {
  open();
  const auto a = buffer(), b = buffer();
  ask(a);
  submit(b, a);
  scheduler->turn();
  ASSERT_EQ(backend->submitted.size(), 1U);
  EXPECT_TRUE(backend->submitted[0].after[0].empty());
}

TEST_F(HostRead, fails_with_the_writer) {
  open();
  const auto a = buffer(), b = buffer();
  const auto writer = submit(a, b);
  scheduler->turn();
  const auto question = ask(b);
  scheduler->turn();
  backend->complete(0, {{0, Error{"copy", ErrorCode::internal, "broke"}}});
  scheduler->turn();
  EXPECT_EQ(code_of(writer), ErrorCode::internal);
  ASSERT_TRUE(question->ready());
  question->observe();
  EXPECT_EQ(question->status(), CommandStatus::failed);
  EXPECT_EQ(question->result().error().reason(), "broke");
  const auto later = ask(b);  // the poison stays
  scheduler->turn();
  later->observe();
  EXPECT_EQ(later->status(), CommandStatus::failed);
}

TEST_F(HostRead, fails_with_the_writer_though_a_later_one_overwrites_in_the_same_submission) {
  open();
  const auto a = buffer(), b = buffer();
  const auto writer = submit(a, b);
  const auto question = ask(b);
  const auto later = submit(a, b);
  scheduler->turn();
  ASSERT_EQ(backend->submitted.size(), 1U);
  backend->complete(0, {{0, Error{"copy", ErrorCode::out_of_memory, "broke"}}});
  scheduler->turn();
  EXPECT_EQ(code_of(writer), ErrorCode::out_of_memory);
  EXPECT_EQ(code_of(question), ErrorCode::out_of_memory);
  EXPECT_EQ(later->status(), CommandStatus::completed);
}

TEST_F(HostRead, keeps_dropped_memory_from_other_buffers) {
  open();
  const TensorSpec large{DType::f32, {1 << 18}};
  const auto a = scheduler->make_buffer(large, "test").value();
  auto b = scheduler->make_late_buffer(large, "test").value();
  std::vector<float> values(16, 0);
  submit(a, b);
  scheduler->turn();
  const auto reading = read(b, values);
  static_cast<void>(scheduler->drop(b));
  scheduler->release_dropped([] { return true; });
  const auto c = scheduler->make_late_buffer(large, "test").value();
  submit(a, c);
  scheduler->turn();
  ASSERT_EQ(backend->submitted.size(), 2U);
  EXPECT_TRUE(backend->submitted[1].waits.empty());  // it is other memory
  fill(*b, 3);
  fill(*c, 4);
  backend->complete(0);
  scheduler->turn();
  EXPECT_EQ(reading->status(), CommandStatus::completed);
  EXPECT_EQ(values, std::vector<float>(16, 3));
}

TEST_F(HostRead, fails_with_a_submission_that_is_refused) {
  open();
  const auto a = buffer(), b = buffer();
  const auto writer = submit(a, b);
  const auto question = ask(b);
  backend->fail_submit = true;
  scheduler->turn();
  EXPECT_EQ(code_of(writer), ErrorCode::out_of_memory);
  EXPECT_EQ(code_of(question), ErrorCode::out_of_memory);
  EXPECT_EQ(scheduler->stats().in_flight, 0U);
  backend->fail_submit = false;
}

TEST_F(HostRead, fails_with_the_device) {
  open();
  const auto a = buffer(), b = buffer();
  const auto writer = submit(a, b);
  scheduler->turn();
  const auto question = ask(b);
  scheduler->turn();
  backend->lose();
  scheduler->turn();
  EXPECT_EQ(code_of(writer), ErrorCode::device_lost);
  EXPECT_EQ(code_of(question), ErrorCode::device_lost);
}

TEST_F(HostRead, ends_at_once_when_it_is_cancelled) {
  open();
  const auto a = buffer(), b = buffer();
  submit(a, b);
  scheduler->turn();
  const auto question = ask(b);
  scheduler->turn();
  scheduler->cancel(*question, Error{"read", ErrorCode::cancelled, "not wanted"});
  EXPECT_EQ(code_of(question), ErrorCode::cancelled);
  backend->complete(0);
  scheduler->turn();
  EXPECT_EQ(scheduler->stats().commands_cancelled, 1U);
  EXPECT_EQ(scheduler->stats().in_flight, 0U);
}

TEST_F(HostRead, waits_for_writers_of_both_queues) {
  open(true);
  const auto a = buffer(), b = buffer();
  submit(a, b, QueueKind::transfer);
  scheduler->turn();
  submit(a, b, QueueKind::compute);
  scheduler->turn();
  const auto question = ask(b);
  scheduler->turn();
  backend->complete(1);
  scheduler->turn();
  EXPECT_EQ(question->status(), CommandStatus::running);
  for (std::size_t i : {std::size_t{0}, std::size_t{2}}) backend->complete(i);
  scheduler->turn();
  EXPECT_EQ(question->status(), CommandStatus::completed);
}

}  // namespace
}  // namespace stoker
