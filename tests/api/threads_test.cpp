// Any handle may be made, used and destroyed on any thread: sixteen threads do everything at once
// on every device. STOKER_TEST_ROUNDS=5000 makes a soak of it.
#include <gtest/gtest.h>

#include <cstdlib>
#include <random>
#include <thread>
#include <vector>

#include "stoker/api/stoker.hpp"

namespace stoker {
namespace {

constexpr int threads = 16;
constexpr std::size_t elements = 256;

int rounds() {
  const char* given = std::getenv("STOKER_TEST_ROUNDS");
  return given ? std::atoi(given) : 20;
}

/// What all threads share; each slot is used by many and owned by none.
struct Shared {
  std::vector<Device> devices;
  std::vector<Buffer> buffers;      // one per device, read by everybody
  std::vector<Pipeline> pipelines;  // one per device
};

/// One thread's life: makes, uses, cancels and drops, and returns how many results were wrong.
int live(const System& system, const Shared& shared, unsigned seed) {
  std::minstd_rand random{seed};
  int wrong = 0;
  for (int round = 0; round < rounds(); ++round) {
    const std::size_t which = random() % shared.devices.size();
    const Device device =
        random() % 2 ? shared.devices[which] : system.device(shared.devices[which].info().name);
    const bool computes = device.info().type != DeviceType::null;
    const float value = static_cast<float>(random() % 1000);
    const Buffer mine = device.buffer(std::vector<float>(elements, value));
    const Buffer sum = device.buffer(DType::f32, {elements});
    const Command add = device.submit("add", {mine, shared.buffers[which]}, sum);
    switch (random() % 6) {
      case 0: add.cancel(); break;
      case 1: mine.release(); break;
      case 2: shared.pipelines[which].run(); break;
      case 3: sum.fill(value); break;
      case 4: static_cast<void>(device.stats()); break;
      default: {
        const auto result = sum.read<float>().get();
        if (computes && result != std::vector<float>(elements, value + 1.0F)) ++wrong;
      }
    }
    if (random() % 4 == 0) static_cast<void>(add.wait());
    if (random() % 16 == 0) device.trim();
  }
  return wrong;
}

TEST(Threads, do_everything_at_once_on_every_device) {
  const System system;
  Shared shared;
  for (const char* name : {"cpu", "null", "vulkan"}) {
    const Device device = system.device(name);
    shared.devices.push_back(device);
    shared.buffers.push_back(device.buffer(std::vector<float>(elements, 1.0F)));
    Pipeline pipeline = system.pipeline(device);
    pipeline.add("sigmoid", {shared.buffers.back()}, "once");
    pipeline.add("neg", {"once"}, device.buffer(DType::f32, {elements}));
    shared.pipelines.push_back(std::move(pipeline));
  }
  std::vector<int> wrong(threads);
  {
    std::vector<std::jthread> running;
    for (unsigned i = 0; i < threads; ++i)
      running.emplace_back([&, i] { wrong[i] = live(system, shared, i + 1); });
  }
  EXPECT_EQ(wrong, std::vector<int>(threads));
}

}  // namespace
}  // namespace stoker
