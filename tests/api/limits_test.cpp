// Deadlines and cancellation of whole requests, wherever the system runs.
#include <gtest/gtest.h>

#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/bind_executor.hpp>
#include <boost/asio/cancellation_signal.hpp>
#include <thread>

#include "gated_kernel.hpp"
#include "stoker/actors/device/device_client.hpp"
#include "stoker/api/asio.hpp"
#include "stoker/api/stoker.hpp"
#include "stoker/device/commands/command_scheduler.hpp"
#include "stoker/runtime/execution/manual_executor.hpp"

namespace stoker {
namespace {

using std::chrono::seconds;

enum class Where { own_pool, host_loop, by_hand };

/// A system on one kind of executor, with time in the test's hands.
class Requests : public testing::TestWithParam<Where> {
 protected:
  void SetUp() override {
    SystemOptions options;
    if (GetParam() == Where::host_loop) use_event_loop(options, loop.get_executor());
    if (GetParam() == Where::by_hand)
      options.executor = hand = std::make_shared<ManualExecutor>(*clock);
    options.clock = clock;
    options.stall_limit = std::chrono::nanoseconds{0};
    system.emplace(options);
    system->add_kernel(held.kernel("held"));
    system->add_kernel(next.kernel("next"));
    device = system->device("cpu");
    x = device.buffer({1.0F});
    y = device.buffer({0.0F});
  }
  void TearDown() override {
    held.release();
    next.release();
    until([&] { return device.stats().commands.in_flight == 0; });
    device = {};
    x = y = {};
    system.reset();
    turns();
    clock->advance(std::chrono::hours{1});  // whether a late command hangs is asked for later
    turns();
  }
  void turns() {
    loop.restart();
    loop.poll();
    if (hand) hand->run_all();
  }
  template <class Done> void until(Done&& done) {
    while (!done()) {
      turns();
      std::this_thread::yield();
    }
  }
  template <class Awaited> Result<void> outcome(const Awaited& awaited) {
    until([&] { return awaited.ready(); });
    return awaited.wait();
  }
  template <class Awaited> ErrorCode code_of(const Awaited& awaited) {
    until([&] { return awaited.ready(); });
    const auto& result = awaited.wait();
    return result ? ErrorCode::internal : result.error().code();
  }

  const std::shared_ptr<ManualClock> clock = std::make_shared<ManualClock>();
  boost::asio::io_context loop{1};
  std::shared_ptr<ManualExecutor> hand;
  GatedKernel held, next;
  std::optional<System> system;
  Device device;
  Buffer x, y;
};

TEST_P(Requests, whose_deadline_is_over_never_run) {
  next.release();
  const CommandOptions late{.deadline = clock->now()};
  const Command kernel = device.submit("next", {x}, y, {}, late);
  EXPECT_EQ(code_of(kernel), ErrorCode::deadline_exceeded);
  EXPECT_EQ(kernel.poll(), CommandStatus::cancelled);
  Pipeline pipeline = system->pipeline(device);
  pipeline.input("x", x.spec()).add("next", {"x"}, "a").add("next", {"a"}, "y").output("y");
  EXPECT_EQ(code_of(pipeline.run({{"x", x}, {"y", y}}, late)), ErrorCode::deadline_exceeded);
  EXPECT_EQ(code_of(x.read<float>(late)), ErrorCode::deadline_exceeded);
  EXPECT_EQ(code_of(device.run("next", {x}, {}, late).read<float>()), ErrorCode::deadline_exceeded);
  EXPECT_EQ(code_of(y.write(std::vector<float>{3}, 0, late)), ErrorCode::deadline_exceeded);
  EXPECT_EQ(code_of(y.fill(3, late)), ErrorCode::deadline_exceeded);
  EXPECT_EQ(code_of(x.copy_to(y, late)), ErrorCode::deadline_exceeded);
  EXPECT_EQ(next.entered, 0);
  // Overwriting makes the buffer good again.
  EXPECT_TRUE(outcome(y.fill(5)));
  EXPECT_EQ(code_of(y.read<float>()), ErrorCode::internal);
}

TEST_P(Requests, of_a_group_are_cancelled_as_one_wherever_they_are) {
  const CancelSource request;
  const CommandOptions group{.cancel = request.token()};
  const auto line = std::make_shared<Timeline>();
  const Buffer z = device.buffer({0.0F});
  const Command running = device.submit("held", {x}, y, {}, group);
  held.wait_entered();
  const Command behind = device.submit("next", {y}, z, {}, group);
  const Command waiting =
      device.submit("next", {x}, z, {}, {.waits = {{line, 1}}, .cancel = request.token()});
  const auto read = z.read<float>(group);
  EXPECT_TRUE(request.cancel(cancelled_error("request")));
  for (const Command& command : {running, behind, waiting}) {
    EXPECT_EQ(code_of(command), ErrorCode::cancelled);
    EXPECT_EQ(command.wait().error().op(), "request");
  }
  EXPECT_EQ(code_of(read), ErrorCode::cancelled);
  held.release();
  until([&] { return device.stats().commands.in_flight == 0; });
  EXPECT_EQ(next.entered, 0);
  // A source is cancelled once: what comes later is refused by it at once.
  EXPECT_EQ(code_of(device.submit("next", {x}, z, {}, group)), ErrorCode::cancelled);
}

TEST_P(Requests, that_are_late_while_they_wait_or_run_are_told_so) {
  const auto line = std::make_shared<Timeline>();
  const CommandOptions soon{.deadline = clock->now() + seconds{1}};
  const Buffer z = device.buffer({0.0F});
  const Command running = device.submit("held", {x}, y, {}, soon);
  held.wait_entered();
  CommandOptions later = soon;
  later.waits = {{line, 1}};
  const Command waiting = device.submit("next", {x}, z, {}, later);
  turns();
  EXPECT_FALSE(running.ready());
  EXPECT_FALSE(waiting.ready());
  clock->advance(seconds{1});
  EXPECT_EQ(code_of(running), ErrorCode::deadline_exceeded);
  EXPECT_EQ(code_of(waiting), ErrorCode::deadline_exceeded);
}

TEST_P(Requests, stop_between_the_steps_of_a_pipeline) {
  next.release();
  Pipeline pipeline = system->pipeline(device);
  pipeline.input("x", x.spec()).add("held", {"x"}, "a").add("next", {"a"}, "y").output("y");
  const Command run = pipeline.run({{"x", x}, {"y", y}});
  held.wait_entered();
  run.cancel();
  EXPECT_EQ(code_of(run), ErrorCode::cancelled);
  held.release();
  until([&] { return device.stats().commands.in_flight == 0; });
  EXPECT_EQ(next.entered, 0);
  EXPECT_EQ(run.step_status(0), CommandStatus::completed);
  EXPECT_EQ(run.step_status(1), CommandStatus::cancelled);
}

TEST_P(Requests, that_have_ended_stay_as_they_are) {
  const CancelSource request;
  held.release();
  const Command done = device.submit(
      "held", {x}, y, {}, {.deadline = clock->now() + seconds{1}, .cancel = request.token()});
  EXPECT_TRUE(outcome(done));
  clock->advance(seconds{2});
  request.cancel(cancelled_error("request"));
  turns();
  EXPECT_EQ(done.poll(), CommandStatus::completed);
  EXPECT_EQ(code_of(y.read<float>()), ErrorCode::internal);
}

TEST_P(Requests, go_on_when_a_wait_is_cancelled_unless_they_shall_not) {
  const auto line = std::make_shared<Timeline>();
  boost::asio::io_context waiters;
  for (const bool cancels : {false, true}) {
    const Command waiting = device.submit("held", {x}, y, {}, {.waits = {{line, 1}}});
    boost::asio::cancellation_signal signal;
    bool told = false;
    async_wait(waiting,
               boost::asio::bind_cancellation_slot(
                   signal.slot(), boost::asio::bind_executor(waiters,
                                                             [&](const Result<void>& result) {
                                                               told = true;
                                                               EXPECT_EQ(result.error().code(),
                                                                         ErrorCode::cancelled);
                                                             })),
               cancels ? OnCancel::cancel_work : OnCancel::stop_waiting);
    signal.emit(boost::asio::cancellation_type::terminal);
    waiters.restart();
    waiters.run();
    EXPECT_TRUE(told);
    turns();
    EXPECT_EQ(waiting.poll() == CommandStatus::pending, !cancels);
    if (!cancels) waiting.cancel();
    EXPECT_EQ(code_of(waiting), ErrorCode::cancelled);
  }
}

TEST_P(Requests, of_reading_end_with_the_future_that_is_cancelled) {
  const Command running = device.submit("held", {x}, y);
  held.wait_entered();
  const auto values = y.read<float>();
  values.cancel();
  EXPECT_EQ(code_of(values), ErrorCode::cancelled);
  EXPECT_EQ(running.poll(), CommandStatus::running);
}

INSTANTIATE_TEST_SUITE_P(Anywhere, Requests,
                         testing::Values(Where::own_pool, Where::host_loop, Where::by_hand));

TEST(LateWork, keeps_no_loop_running_once_it_has_ended) {
  GatedKernel held;
  boost::asio::io_context loop;
  SystemOptions options;
  use_event_loop(options, loop.get_executor());
  const auto clock = std::make_shared<ManualClock>();
  options.clock = clock;  // of deadlines; the loop has its own
  options.device.hang_patience = std::chrono::hours{1};
  options.stall_limit = std::chrono::nanoseconds{0};
  {
    const System system{options};
    system.add_kernel(held.kernel("held"));
    const Device device = system.device("cpu");
    const Buffer x = device.buffer({1.0F});
    const Buffer y = device.buffer({0.0F});
    const Command late = device.submit("held", {x}, y, {}, {.deadline = clock->now() + seconds{1}});
    held.wait_entered();
    clock->advance(seconds{1});
    async_wait(late, boost::asio::bind_executor(loop, [&](const Result<void>& outcome) {
                 EXPECT_EQ(outcome.error().code(), ErrorCode::deadline_exceeded);
                 held.release();
               }));
    loop.run_for(std::chrono::minutes{1});
    EXPECT_TRUE(loop.stopped()) << "it waits to ask whether the device hangs";
  }
  loop.restart();
  loop.poll();
}

TEST(WorkLeftBehind, is_answered_and_keeps_the_device_until_it_ends) {
  GatedKernel held;
  Future<void> done;
  Future<void> gone;
  Future<std::vector<float>> values;
  {
    SystemOptions options;
    options.stop_patience = std::chrono::milliseconds{1};
    const System system{options};
    system.add_kernel(held.kernel("held"));
    const Device device = system.device("cpu");
    const Buffer x = device.buffer({1.0F});
    const Buffer y = device.buffer({0.0F});
    gone = device.client()->scheduler().gone();
    done = device.submit("held", {x}, y).future();
    values = y.read<float>();
    held.wait_entered();
  }
  ASSERT_TRUE(done.wait().has_error());
  EXPECT_EQ(done.wait().error().code(), ErrorCode::closed);
  ASSERT_TRUE(values.wait().has_error());
  EXPECT_EQ(values.wait().error().code(), ErrorCode::closed);
  EXPECT_FALSE(gone.ready());
  held.release();
  static_cast<void>(gone.wait());  // with the work, or never
}

TEST(TimedWaits, do_not_run_what_may_take_any_time) {
  GatedKernel held;
  const System system;
  system.add_kernel(held.kernel("held"));
  const Device device = system.device("cpu");
  const Buffer x = device.buffer({1.0F});
  for (int round = 0; round < 20; ++round) {
    const Command command = device.submit("held", {x}, device.buffer({0.0F}));
    // A waiter that took the kernel over would never come back: only it opens the gate.
    EXPECT_FALSE(command.wait_for(std::chrono::milliseconds{1}));
    held.release();
    EXPECT_TRUE(command.wait());
    held.open = false;
  }
}

}  // namespace
}  // namespace stoker
