// Handles may go in any order, on any thread, with work in flight.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <boost/asio/io_context.hpp>
#include <memory>
#include <semaphore>
#include <thread>
#include <utility>

#include "stoker/actors/device/device_client.hpp"
#include "stoker/api/asio.hpp"
#include "stoker/api/stoker.hpp"
#include "stoker/runtime/execution/manual_executor.hpp"
#include "stoker/runtime/observe/log.hpp"
#include "stoker/runtime/process/process.hpp"

namespace stoker {
namespace {

/// One of each handle, with work in flight.
struct Handles {
  std::unique_ptr<System> system = std::make_unique<System>();
  std::unique_ptr<Device> device;
  std::unique_ptr<Buffer> buffer;
  std::unique_ptr<Command> command;
  std::unique_ptr<Pipeline> pipeline;

  explicit Handles(const char* name) {
    device = std::make_unique<Device>(system->device(name));
    buffer = std::make_unique<Buffer>(device->buffer(std::vector<float>(65536, -1.5F)));
    pipeline = std::make_unique<Pipeline>(system->pipeline(*device));
    pipeline->add("abs", {*buffer}, "positive");
    pipeline->add("neg", {"positive"}, "negative");
    pipeline->add("copy", {"negative"}, *buffer);
    for (int i = 0; i < 8; ++i) command = std::make_unique<Command>(pipeline->run());
  }

  void drop(int which) {
    switch (which) {
      case 0: system.reset(); break;
      case 1: device.reset(); break;
      case 2: buffer.reset(); break;
      case 3: command.reset(); break;
      default: pipeline.reset();
    }
  }
};

class Lifetimes : public testing::TestWithParam<const char*> {};

TEST_P(Lifetimes, every_order_of_destruction_is_clean_with_work_in_flight) {
  std::array order{0, 1, 2, 3, 4};
  do {
    Handles handles{GetParam()};
    for (const int which : order) handles.drop(which);
  } while (std::ranges::next_permutation(order).found);
}

TEST_P(Lifetimes, handles_go_on_other_threads_at_the_same_time) {
  for (int round = 0; round < 20; ++round) {
    Handles handles{GetParam()};
    std::vector<std::jthread> threads;
    for (int which = 0; which < 5; ++which)
      threads.emplace_back([&, which] { handles.drop(which); });
  }
}

TEST_P(Lifetimes, commands_and_buffers_outlive_their_system) {
  Handles handles{GetParam()};
  handles.system.reset();
  EXPECT_TRUE(handles.command->wait().has_value() ||
              handles.command->wait().error().code() == ErrorCode::closed);
  try {
    static_cast<void>(handles.device->run("abs", {*handles.buffer}).read<float>().get());
    FAIL() << "a stopped system did work";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::closed);
  }
}

TEST_P(Lifetimes, the_last_handle_may_go_inside_a_continuation) {
  auto system = std::make_shared<System>();
  const Device device = system->device(GetParam());
  const Buffer x = device.buffer({1.0F});
  const Command command = device.submit("relu", {x}, x);
  Executor& executor = system->executor();
  const auto gone = command.then(
      executor, [system = std::move(system)](const Result<void>&) mutable { system.reset(); });
  gone.wait();
}

TEST(SharedExecutors, are_watched_until_the_system_stops_that_watches_them) {
  struct Hog : Actor {
    explicit Hog(ManualClock& time) : clock{&time} {}
    void on(std::chrono::seconds how_long) { clock->advance(how_long); }
    ManualClock* clock;
  };
  const LogCapture log{LogLevel::warn};
  const auto clock = std::make_shared<ManualClock>();
  SystemOptions options;
  options.clock = clock;
  const auto executor = std::make_shared<ManualExecutor>(*clock);
  options.executor = executor;
  const System system{options};
  { const System other{options}; }
  const auto hog = spawn<Hog>(executor, {.name = "hog"}, *clock);
  EXPECT_TRUE(hog.cast(std::chrono::seconds{10}));
  executor->run_all();
  EXPECT_TRUE(log.contains("a handler hogs its thread actor=hog"));
}

TEST(SharedExecutors, stay_watched_when_a_system_goes_that_was_stopped_before) {
  SystemOptions options;
  const auto clock = std::make_shared<ManualClock>();
  options.clock = clock;
  const auto executor = std::make_shared<ManualExecutor>(*clock);
  options.executor = executor;
  auto first = std::make_unique<System>(options);
  first->stop();
  const System second{options};
  ASSERT_NE(executor->stall_detector().here(), nullptr);
  first.reset();
  EXPECT_NE(executor->stall_detector().here(), nullptr);
}

TEST(SystemOptions, out_of_their_range_are_refused_by_name) {
  const auto refusal = [](auto change) {
    SystemOptions options;
    change(options);
    try {
      const System system{options};
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::invalid_argument);
      return std::string{error.detail("parameter")};
    }
    return std::string{};
  };
  EXPECT_EQ(refusal([](SystemOptions& it) { it.device_restarts.period = std::chrono::seconds{0}; }),
            "device_restarts.period");
  EXPECT_EQ(refusal([](SystemOptions& it) { it.device.submissions_in_flight = 0; }),
            "submissions_in_flight");
  EXPECT_EQ(refusal([](SystemOptions& it) { it.device.submissions_in_flight = 1 << 20; }),
            "submissions_in_flight");
  EXPECT_EQ(refusal([](SystemOptions& it) { it.device.steps_per_submission = 0; }),
            "steps_per_submission");
  EXPECT_EQ(refusal([](SystemOptions& it) { it.device.hang_patience = std::chrono::seconds{-1}; }),
            "hang_patience");
  EXPECT_EQ(refusal([](SystemOptions& it) { it.blocking.threads = 4'000'000'000; }),
            "blocking.threads");
  EXPECT_EQ(refusal([](SystemOptions& it) { it.device.steps_per_submission = 1; }), "");
}

TEST(StopPatience, may_be_for_ever) {
  SystemOptions options;
  options.stop_patience = std::chrono::nanoseconds::max();
  const System system{options};
  static std::binary_semaphore running{0};
  static std::binary_semaphore release{0};
  CppKernelSpec spec;
  spec.name = "waits";
  spec.grain = 0;
  spec.run = [](const CppCall&, std::size_t, std::size_t) {
    running.release();
    release.acquire();
  };
  system.add_kernel(std::move(spec));
  const Device device = system.device("cpu");
  const Buffer x = device.buffer({1.0F});
  const Command command = device.submit("waits", {x}, device.buffer({1.0F}));
  running.acquire();
  const std::jthread releaser{[&] {
    // Refused once the system is being stopped. What came before that ends behind the kernel.
    const Buffer y = device.buffer({1.0F});
    for (bool stopping = false; !stopping; std::this_thread::yield()) try {
        const Command next = device.submit("relu", {y}, y);
        stopping = next.ready() && !next.wait();
      } catch (const Error&) {
        stopping = true;
      }
    release.release();
  }};
  EXPECT_TRUE(system.stop());
  EXPECT_TRUE(command.ready());
  EXPECT_TRUE(command.wait());
}

INSTANTIATE_TEST_SUITE_P(Devices, Lifetimes, testing::Values("cpu", "null", "vulkan"),
                         [](const auto& info) { return std::string{info.param}; });

/// What waits for a number on the executor of a system that has gone.
struct Waiting {
  explicit Waiting(const SystemOptions& options) {
    const System system{options};
    continued = number.future().then(system.executor(),
                                     [](const Result<int>& got) { return got.value() + 1; });
    process =
        Process::spawn(system.executor(), [future = number.future()] { return future.get() + 2; });
  }
  Promise<int> number;
  Future<int> continued;
  Future<int> process;
};

TEST(LifetimesOfSystems, are_shorter_than_those_of_what_waits_on_their_pool) {
  Waiting waiting{SystemOptions{}};
  waiting.number.set(1);
  EXPECT_EQ(waiting.continued.get(), 2);
  EXPECT_EQ(waiting.process.get(), 3);
}

TEST(LifetimesOfSystems, are_shorter_than_those_of_what_waits_on_a_hosts_loop) {
  boost::asio::io_context loop;
  SystemOptions options;
  use_event_loop(options, loop.get_executor());
  Waiting waiting{std::exchange(options, {})};
  waiting.number.set(1);
  loop.run();
  EXPECT_EQ(waiting.continued.get(), 2);
  EXPECT_EQ(waiting.process.get(), 3);
}

TEST(LifetimesOfSystems, end_what_waits_on_a_hosts_loop_that_has_gone) {
  auto loop = std::make_unique<boost::asio::io_context>();
  SystemOptions options;
  use_event_loop(options, loop->get_executor());
  Waiting waiting{std::exchange(options, {})};
  loop.reset();
  waiting.number.set(1);
  EXPECT_EQ(waiting.continued.wait().error().code(), ErrorCode::closed);
  EXPECT_EQ(waiting.process.wait().error().code(), ErrorCode::closed);
}

/// A device that does nothing, and counts how many of it there are.
class CountedDevice final : public Backend {
 public:
  explicit CountedDevice(std::atomic<int>& count) : count_{count} { ++count_; }
  ~CountedDevice() override { --count_; }
  CountedDevice(const CountedDevice&) = delete;
  CountedDevice& operator=(const CountedDevice&) = delete;

  static DeviceInfo described() {
    DeviceInfo info;
    info.name = "counted";
    return info;
  }
  const DeviceInfo& info() const noexcept override { return info_; }
  Result<std::unique_ptr<MemoryBlock>> allocate(std::uint64_t, MemoryKind) override {
    return nothing();
  }
  Result<std::shared_ptr<const Executable>> prepare(std::shared_ptr<const Kernel>,
                                                    const KernelCall&,
                                                    std::span<const TensorSpec>) override {
    return nothing();
  }
  Result<std::unique_ptr<Recording>> record(std::span<const Step>) override { return nothing(); }
  Result<void> submit(const Submission&) override { return nothing(); }
  bool wait(QueuePoint, std::chrono::steady_clock::time_point) noexcept override { return false; }
  BackendCounters counters() const noexcept override { return {}; }

 private:
  static Error nothing() { return {"device", ErrorCode::unsupported, "it does nothing"}; }

  std::atomic<int>& count_;
  const DeviceInfo info_ = described();
};

struct CountingDriver final : Driver {
  std::string_view name() const noexcept override { return "counted"; }
  std::vector<DeviceInfo> devices() override {
    ++times_asked;
    return {CountedDevice::described()};
  }
  std::vector<Diagnosis> diagnose() override { return {}; }
  Result<std::unique_ptr<Backend>> open(std::size_t, CompletionSink&, const OpenOptions&) override {
    return std::unique_ptr<Backend>{std::make_unique<CountedDevice>(count)};
  }
  std::atomic<int> count{0};
  std::atomic<int> times_asked{0};
};

TEST(Systems, ask_no_other_driver_for_a_device_whose_name_says_its_own) {
  const auto driver = std::make_shared<CountingDriver>();
  SystemOptions options;
  options.drivers = {driver};
  for (std::unique_ptr<Driver>& other : all_drivers())
    options.drivers.emplace_back(std::move(other));
  const System system{options};
  static_cast<void>(system.device("cpu"));
  EXPECT_EQ(driver->times_asked, 0);
  static_cast<void>(system.device("counted"));
  EXPECT_EQ(driver->times_asked, 1);
  try {
    static_cast<void>(system.device("cpu:7"));
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::not_found);
    EXPECT_NE(std::string_view{error.what()}.find("counted"), std::string_view::npos)
        << error.what();
  }
}

// What comes next may need its memory, or be the end of the process.
TEST(Systems, have_ended_their_devices_when_the_last_handle_is_gone) {
  const auto driver = std::make_shared<CountingDriver>();
  for (int round = 0; round < 200; ++round) {
    {
      SystemOptions options;
      options.drivers = {driver};
      const System system{options};
      static_cast<void>(system.device("counted"));
      ASSERT_EQ(driver->count, 1);
    }
    ASSERT_EQ(driver->count, 0) << "round " << round;
  }
}

TEST(Systems, come_and_go_many_times) {
  for (int i = 0; i < 300; ++i) {
    const System system;
    const Device device = system.device("cpu");
    const Buffer x = device.buffer({1.0F, -1.0F});
    device.submit("relu", {x}, x);
  }
}

}  // namespace
}  // namespace stoker
