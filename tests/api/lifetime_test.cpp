// Handles may go in any order, on any thread, with work in flight.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <memory>
#include <thread>

#include "stoker/api/stoker.hpp"

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

INSTANTIATE_TEST_SUITE_P(Devices, Lifetimes, testing::Values("cpu", "null", "vulkan"),
                         [](const auto& info) { return std::string{info.param}; });

TEST(Systems, come_and_go_many_times) {
  for (int i = 0; i < 1000; ++i) {
    const System system;
    const Device device = system.device("cpu");
    const Buffer x = device.buffer({1.0F, -1.0F});
    device.submit("relu", {x}, x);
  }
}

}  // namespace
}  // namespace stoker
