#include <gtest/gtest.h>

#include "gated_kernel.hpp"
#include "stoker/actors/device/device_client.hpp"
#include "stoker/api/stoker.hpp"
#include "stoker/device/fault/fault_injection.hpp"
#include "stoker/runtime/execution/manual_executor.hpp"
#include "stoker/runtime/observe/log.hpp"
#include "stoker/runtime/process/process.hpp"

namespace stoker {
namespace {

Kernel throwing_kernel() {
  CppKernelSpec spec;
  spec.name = "throws";
  spec.run = [](const CppCall&, std::size_t, std::size_t) {
    throw std::runtime_error{"on purpose"};
  };
  return cpp_kernel(std::move(spec));
}

ErrorCode code_of(const Result<void>& outcome) {
  return outcome ? ErrorCode::internal : outcome.error().code();
}

TEST(Commands, have_ids_kernels_and_states) {
  const System system;
  const Device device = system.device("cpu");
  const Buffer x = device.buffer({-1.0F, 2.0F});
  const Buffer y = device.buffer(DType::f32, Shape{2});
  const Command first = device.submit("relu", {x}, y);
  const Command second = device.submit("relu", {y}, x);
  EXPECT_GT(first.id(), 0U);
  EXPECT_NE(first.id(), second.id());
  EXPECT_EQ(first.kernel(), "relu");
  EXPECT_TRUE(second.wait());
  EXPECT_EQ(first.poll(), CommandStatus::completed);
  EXPECT_TRUE(first.wait());  // again
  EXPECT_EQ(x.read<float>().get(), (std::vector<float>{0, 2}));
}

TEST(Commands, refuse_bad_input_at_the_call) {
  const System system;
  const Device device = system.device("cpu");
  const Buffer x = device.buffer({1.0F, 2.0F});
  const Buffer small = device.buffer({1.0F});
  const Buffer ints = device.buffer({1, 2});
  const auto code = [&](std::string_view kernel, std::vector<Buffer> inputs, const Buffer& output,
                        Params params = {}) {
    try {
      device.submit(kernel, inputs, output, params);
    } catch (const Error& error) {
      return error.code();
    }
    return ErrorCode::internal;
  };
  EXPECT_EQ(code("gauss", {x}, x), ErrorCode::unknown_kernel);
  EXPECT_EQ(code("relu", {}, x), ErrorCode::arity_mismatch);
  EXPECT_EQ(code("relu", {x}, small), ErrorCode::shape_mismatch);
  EXPECT_EQ(code("add", {x, ints}, x), ErrorCode::dtype_mismatch);
  EXPECT_EQ(code("relu", {x}, ints), ErrorCode::dtype_mismatch);
  EXPECT_EQ(code("relu", {x}, x, {{"slope", 2}}), ErrorCode::invalid_parameter);
  EXPECT_EQ(code("relu", {x}, system.device("null").buffer({1.0F, 2.0F})), ErrorCode::wrong_device);
  EXPECT_EQ(code("relu", {Buffer{}}, x), ErrorCode::invalid_argument);
  EXPECT_EQ(x.read<float>().get(), (std::vector<float>{1, 2}));
}

TEST(Commands, that_throw_fail_and_so_do_exactly_their_dependents) {
  const System system;
  system.add_kernel(throwing_kernel());
  const Device device = system.device("cpu");
  const Buffer x = device.buffer({1.0F, 2.0F});
  const Buffer broken = device.run("throws", {x});
  const Buffer after = device.run("relu", {broken});
  const Buffer independent = device.run("relu", {x});
  const auto outcome = after.read<float>().wait();
  ASSERT_FALSE(outcome);
  EXPECT_EQ(outcome.error().code(), ErrorCode::handler_failed);
  EXPECT_EQ(outcome.error().reason(), "on purpose");
  EXPECT_EQ(independent.read<float>().get(), (std::vector<float>{1, 2}));
  // Overwriting makes a buffer good again.
  broken.fill(3).get();
  EXPECT_EQ(device.run("relu", {broken}).read<float>().get(), (std::vector<float>{3, 3}));
}

TEST(Commands, of_a_pipeline_say_which_step_failed) {
  const System system;
  system.add_kernel(throwing_kernel());
  const Device device = system.device("cpu");
  Pipeline pipeline = system.pipeline(device);
  pipeline.input("x", {DType::f32, {2}});
  pipeline.add("relu", {"x"}, "a").add("throws", {"a"}, "b").add("relu", {"b"}, "y").output("y");
  const Buffer x = device.buffer({1.0F, 2.0F});
  const Buffer y = device.buffer(DType::f32, Shape{2});
  const Command run = pipeline.run({{"x", x}, {"y", y}});
  const auto outcome = run.wait();
  ASSERT_FALSE(outcome);
  EXPECT_EQ(outcome.error().detail("step"), "1");
  EXPECT_EQ(run.step_status(0), CommandStatus::completed);
  EXPECT_EQ(run.step_status(1), CommandStatus::failed);
  EXPECT_EQ(run.step_status(2), CommandStatus::cancelled);
}

TEST(Commands, that_are_cancelled_while_pending_never_run) {
  const System system;
  GatedKernel gate;
  GatedKernel never;
  system.add_kernel(gate.kernel("gate"));
  system.add_kernel(never.kernel("never"));
  const Device device = system.device("cpu");
  const Buffer x = device.buffer({1.0F});
  const Buffer y = device.buffer({0.0F});
  std::vector<Command> running;
  // One after the other on the same buffers, so that the last ones must queue.
  for (int i = 0; i < 8; ++i) running.push_back(device.submit("gate", {x}, y));
  gate.wait_entered(1);
  const Command pending = device.submit("never", {y}, x);
  const Buffer dependent = device.run("relu", {x});
  EXPECT_EQ(pending.poll(), CommandStatus::pending);
  pending.cancel();
  EXPECT_EQ(code_of(pending.wait()), ErrorCode::cancelled);
  EXPECT_EQ(pending.poll(), CommandStatus::cancelled);
  gate.release();
  for (const Command& command : running) EXPECT_TRUE(command.wait());
  const auto outcome = dependent.read<float>().wait();
  ASSERT_FALSE(outcome);
  EXPECT_EQ(outcome.error().code(), ErrorCode::cancelled);
  EXPECT_EQ(never.entered.load(), 0);
}

TEST(Commands, that_are_cancelled_while_running_end_at_once_and_drop_their_result) {
  const System system;
  GatedKernel gate;
  system.add_kernel(gate.kernel("gate"));
  const Device device = system.device("cpu");
  const Buffer x = device.buffer({1.0F});
  const Buffer y = device.buffer({0.0F});
  const Command command = device.submit("gate", {x}, y);
  gate.wait_entered(1);
  command.cancel();
  EXPECT_EQ(code_of(command.wait()), ErrorCode::cancelled);
  gate.release();
  const auto outcome = y.read<float>().wait();
  ASSERT_FALSE(outcome);
  EXPECT_EQ(outcome.error().code(), ErrorCode::cancelled);
}

TEST(Commands, end_with_deadline_exceeded_when_their_time_has_come) {
  SystemOptions options;
  const auto clock = std::make_shared<ManualClock>();
  options.clock = clock;
  const System system{options};
  GatedKernel gate;
  system.add_kernel(gate.kernel("gate"));
  const Device device = system.device("cpu");
  const Buffer x = device.buffer({1.0F});
  const Buffer y = device.buffer({0.0F});
  CommandOptions command_options;
  command_options.deadline = clock->now() + std::chrono::seconds{1};
  const std::vector<Buffer> inputs{x};
  const Command command = device.submit("gate", inputs, y, {}, command_options);
  gate.wait_entered(1);
  EXPECT_FALSE(command.ready());
  clock->advance(std::chrono::seconds{2});
  EXPECT_EQ(code_of(command.wait()), ErrorCode::deadline_exceeded);
  gate.release();
}

TEST(Commands, wait_for_points_of_host_timelines) {
  const System system;
  const Device device = system.device("cpu");
  const Buffer x = device.buffer({-1.0F});
  const Buffer y = device.buffer({5.0F});
  const auto timeline = std::make_shared<Timeline>();
  CommandOptions options;
  options.waits = {{timeline, 3}};
  const std::vector<Buffer> inputs{x};
  const Command held = device.submit("relu", inputs, y, {}, options);
  const Command behind = device.submit("relu", {y}, x);              // must not overtake
  device.run("relu", {device.buffer({1.0F})}).read<float>().wait();  // others go on
  EXPECT_EQ(held.poll(), CommandStatus::pending);
  EXPECT_EQ(behind.poll(), CommandStatus::pending);
  timeline->advance(3);
  EXPECT_TRUE(behind.wait());
  EXPECT_EQ(x.read<float>().get(), (std::vector<float>{0}));
}

TEST(Commands, refuse_to_wait_for_a_point_of_no_timeline) {
  const System system;
  const Device device = system.device("cpu");
  const Buffer x = device.buffer({1.0F});
  CommandOptions options;
  options.waits = {{nullptr, 1}};
  const auto refusal = [](const auto& call) {
    try {
      call();
    } catch (const Error& error) {
      return error.code();
    }
    return ErrorCode::internal;
  };
  EXPECT_EQ(refusal([&] { device.submit("relu", {x}, x, {}, options); }),
            ErrorCode::invalid_argument);
  const std::vector<KernelCallRequest> calls{{"relu", {x}, {x}}};
  EXPECT_EQ(refusal([&] { device.submit(calls, options); }), ErrorCode::invalid_argument);
}

TEST(Commands, fail_with_the_timeline_they_wait_for) {
  const System system;
  const Device device = system.device("cpu");
  const Buffer x = device.buffer({1.0F});
  const auto timeline = std::make_shared<Timeline>();
  CommandOptions options;
  options.waits = {{timeline, 1}};
  const std::vector<Buffer> inputs{x};
  const Command held = device.submit("relu", inputs, x, {}, options);
  timeline->fail(Error{"test", ErrorCode::io_error, "the source is gone"});
  EXPECT_EQ(code_of(held.wait()), ErrorCode::io_error);
}

TEST(Commands, submitted_together_are_all_or_nothing) {
  const System system;
  const Device device = system.device("cpu");
  const Buffer x = device.buffer({-1.0F});
  const Buffer y = device.buffer({7.0F});
  std::vector<KernelCallRequest> calls{{"relu", {x}, {y}}, {"no_such", {x}, {y}}};
  EXPECT_THROW(device.submit(calls), Error);
  EXPECT_EQ(y.read<float>().get(), (std::vector<float>{7}));
  calls[1].kernel = "neg";
  const auto commands = device.submit(calls);
  ASSERT_EQ(commands.size(), 2U);
  EXPECT_EQ(y.read<float>().get(), (std::vector<float>{1}));
}

TEST(Commands, continue_on_the_executor_they_are_given) {
  const System system;
  const Device device = system.device("cpu");
  const Buffer x = device.buffer({1.0F});
  const auto answer =
      device.submit("relu", {x}, x).then(system.executor(), [&](const Result<void>& outcome) {
        return outcome.has_value() && system.executor().in_executor();
      });
  EXPECT_TRUE(answer.get());
}

TEST(Commands, combine_with_when_all) {
  const System system;
  const Device device = system.device("cpu");
  std::vector<Future<void>> all;
  std::vector<Buffer> results;
  const Buffer x = device.buffer({-2.0F});
  for (int i = 0; i < 16; ++i) {
    results.push_back(device.buffer({0.0F}));
    all.push_back(device.submit("abs", {x}, results.back()).future());
  }
  when_all(all).get();
  for (const Buffer& result : results)
    EXPECT_EQ(result.read<float>().get(), (std::vector<float>{2}));
}

/// Failures of a command, and whether the log has a line for each that nobody looked at.
class LookedAt : public testing::Test {
 protected:
  LookedAt() { system.add_kernel(throwing_kernel()); }
  [[nodiscard]] bool logged() const { return log.contains("nobody looked at a failure"); }

  const LogCapture log{LogLevel::warn};
  const System system;
  const Device device = system.device("cpu");
  const Buffer x = device.buffer({1.0F});
  Buffer y = device.buffer(DType::f32, Shape{1});
};

TEST_F(LookedAt, by_whoever_reads_an_output) {
  for (int i = 0; i < 3; ++i) device.submit("throws", {x}, y);
  EXPECT_TRUE(y.read<float>().wait().has_error());
  const Buffer later = device.run("relu", {y});
  EXPECT_TRUE(later.read<float>().wait().has_error());
  y = {};
  EXPECT_TRUE(system.stop());
  EXPECT_FALSE(logged());
}

TEST_F(LookedAt, by_whoever_polls) {
  Command command = device.submit("throws", {x}, y);
  while (!command.ready()) this_process::yield();
  EXPECT_EQ(command.poll(), CommandStatus::failed);
  command = {};
  y = {};
  EXPECT_TRUE(system.stop());
  EXPECT_FALSE(logged());
}

TEST_F(LookedAt, by_nobody_once_it_is_overwritten) {
  device.submit("throws", {x}, y);
  EXPECT_TRUE(device.submit("relu", {x}, y).wait());
  EXPECT_TRUE(system.stop());
  EXPECT_TRUE(logged());
}

TEST_F(LookedAt, by_nobody_once_its_outputs_have_gone) {
  Command command = device.submit("throws", {x}, y);
  while (!command.ready()) this_process::yield();
  command = {};
  y = {};
  EXPECT_TRUE(system.stop());
  EXPECT_TRUE(logged());
}

/// A host's loop that does not run while somebody submits: the device's mailbox fills.
class Refusals : public testing::Test {
 protected:
  Refusals() {
    SystemOptions options;
    options.executor = executor;
    options.clock = std::shared_ptr<Clock>{std::shared_ptr<void>{}, &clock};
    options.stall_limit = std::chrono::nanoseconds{0};
    options.drivers = with_faults(faults);
    options.device.hang_patience = std::chrono::seconds{10};
    system.emplace(options);
    device = system->device("null");
    x = device.buffer({1.0F});
    y = device.buffer({1.0F});
  }
  void TearDown() override {
    system.reset();
    executor->run_all();
  }
  /// Submits until it is refused, then calls `then`, and has the loop run.
  void refuse(const std::function<void()>& then = [] {}) {
    // In a process, where nothing runs at once.
    const auto done = Process::spawn(*executor, [&] {
      try {
        for (;;) device.submit("relu", {x}, y);
      } catch (const Error& error) {
        then();
        return error.code();
      }
    });
    executor->run_all();
    EXPECT_EQ(done.get(), ErrorCode::overloaded);
  }

  const LogCapture log{LogLevel::warn};
  ManualClock clock;
  const std::shared_ptr<ManualExecutor> executor = std::make_shared<ManualExecutor>(clock);
  const Faults faults;
  std::optional<System> system;
  Device device;
  Buffer x, y;
};

TEST_F(Refusals, are_told_and_not_logged) {
  refuse();
  EXPECT_FALSE(log.contains("nobody looked at a failure"));
}

TEST_F(Refusals, do_not_meet_who_cancels_what_waits) {
  const auto never = std::make_shared<Timeline>();
  const Command waits =
      device.submit("relu", {x}, device.buffer({1.0F}), {}, {.waits = {{never, 1}}});
  executor->run_all();
  refuse([&] { waits.cancel(); });
  EXPECT_EQ(waits.poll(), CommandStatus::cancelled);
}

TEST_F(Refusals, do_not_meet_who_releases_a_buffer) {
  const Buffer large = device.buffer(DType::f32, Shape{1 << 20});
  const std::uint64_t before = device.stats().memory.in_use;
  refuse([&] { large.release(); });
  EXPECT_EQ(device.stats().memory.in_use, before - large.spec().bytes());
}

TEST_F(Refusals, do_not_meet_who_closes_the_device) {
  const auto client = device.client();
  refuse([&] {
    EXPECT_FALSE(client->close(Clock::time_point::max(), DeviceClient::AwaitTurns::no))
        << "it has not come to that yet";
  });
  const Command late = device.submit("relu", {x}, y);
  executor->run_all();
  EXPECT_EQ(code_of(late.wait()), ErrorCode::closed);
}

TEST_F(Refusals, do_not_meet_who_asks_whether_the_device_hangs) {
  faults.hang_submission();
  const auto second = std::chrono::seconds{1};
  const Command hung = device.submit("relu", {x}, x, {}, {.deadline = clock.now() + second});
  executor->run_all();
  clock.advance(second);
  executor->run_all();
  EXPECT_EQ(hung.wait().error().code(), ErrorCode::deadline_exceeded);
  const auto lost = device.client()->actor().ended();
  // The question is due before the loop has run what fills the mailbox.
  const auto asked = Process::spawn(*executor, [&] { clock.advance(10 * second); });
  refuse();
  EXPECT_TRUE(lost.ready());
}

}  // namespace
}  // namespace stoker
