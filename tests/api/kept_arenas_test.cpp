// Pipelines keep the memory of their intermediate values for the next run, all of a device's within one
// bound.
#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "stoker/api/stoker.hpp"

namespace stoker {
namespace {

constexpr std::uint64_t budget = std::uint64_t{64} << 20;
constexpr std::uint64_t bound = budget / 8;

class ArenasOfPipelines : public testing::Test {
 protected:
  static SystemOptions options() {
    SystemOptions options;
    options.device.memory.budget = budget;
    return options;
  }

  /// y = |−|x||, whose intermediate value is as large as x.
  struct OfSize {
    OfSize(const System& system, const Device& device, std::int64_t elements)
        : x{device.buffer(std::vector<float>(static_cast<std::size_t>(elements), -2.0F))},
          y{device.buffer(x.spec())},
          pipeline{system.pipeline(device)} {
      pipeline.input("x", x.spec()).add("abs", {"x"}, "a").add("neg", {"a"}, "b");
      pipeline.add("abs", {"b"}, "y").output("y");
    }
    void run() const { pipeline.run({{"x", x}, {"y", y}}).get(); }
    Buffer x, y;
    Pipeline pipeline;
  };

  System system{options()};
  Device device = system.device("cpu");
};

TEST_F(ArenasOfPipelines, that_are_many_stay_within_their_bound) {
  std::vector<Pipeline> pipelines;
  for (std::int64_t i = 0; i < 40; ++i) {
    const OfSize one{system, device, (1 << 17) + 4096 * i};
    one.run();
    pipelines.push_back(one.pipeline);
    EXPECT_LE(device.stats().kept_arenas, bound) << i;
  }
  EXPECT_GT(device.stats().kept_arenas, bound / 2);
}

TEST_F(ArenasOfPipelines, are_used_again_without_an_allocation_or_a_recording) {
  const OfSize often{system, device, 1 << 17};
  often.run();
  const OfSize other{system, device, (1 << 17) + 4096};
  other.run();
  const DeviceStats before = device.stats();
  for (int i = 0; i < 5; ++i) {
    often.run();
    other.run();
  }
  const DeviceStats after = device.stats();
  EXPECT_EQ(after.memory.allocations, before.memory.allocations);
  EXPECT_EQ(after.memory.reuses, before.memory.reuses);
  EXPECT_EQ(after.backend.recordings, before.backend.recordings);
}

TEST_F(ArenasOfPipelines, that_were_used_last_stay) {
  const OfSize often{system, device, 1 << 17};
  often.run();
  const std::uint64_t recordings = device.stats().backend.recordings;
  std::vector<Pipeline> others;
  for (std::int64_t i = 1; i <= 30; ++i) {
    const OfSize other{system, device, (1 << 17) + 4096 * i};
    other.run();
    often.run();
    others.push_back(other.pipeline);
  }
  EXPECT_EQ(device.stats().backend.recordings, recordings + others.size());
}

TEST_F(ArenasOfPipelines, that_went_are_had_anew) {
  const OfSize first{system, device, 1 << 17};
  first.run();
  const OfSize large{system, device, bound / sizeof(float)};
  large.run();
  first.run();
  EXPECT_EQ(first.y.read<float>().get(), std::vector<float>(1 << 17, 2.0F));
}

TEST_F(ArenasOfPipelines, are_given_back_by_trim_and_with_their_pipeline) {
  EXPECT_EQ(device.stats().kept_arenas, 0U);
  {
    const OfSize one{system, device, 1 << 17};
    one.run();
    EXPECT_GT(device.stats().kept_arenas, 0U);
    EXPECT_EQ(one.pipeline.trim(), 1U);
    EXPECT_EQ(device.stats().kept_arenas, 0U);
    EXPECT_EQ(one.pipeline.trim(), 0U);
    one.run();
    EXPECT_GT(device.stats().kept_arenas, 0U);
  }
  // The pipeline ends on the device's strand, before what is sent after it.
  const Buffer x = device.buffer({1.0F});
  for (int i = 0; i < 100 && device.stats().kept_arenas > 0; ++i)
    static_cast<void>(device.run("abs", {x}).read<float>().get());
  EXPECT_EQ(device.stats().kept_arenas, 0U);
}

TEST_F(ArenasOfPipelines, that_do_not_run_make_room_for_what_does) {
  // Buffers and one arena take three quarters of the budget.
  constexpr std::int64_t elements = 3 * static_cast<std::int64_t>(budget / sizeof(float)) / 16;
  const Buffer x = device.buffer(DType::f32, Shape{elements});
  const Buffer y = device.buffer(x.spec());
  std::vector<Pipeline> pipelines;
  for (int i = 0; i < 3; ++i) {
    Pipeline& pipeline = pipelines.emplace_back(system.pipeline(device));
    pipeline.input("x", x.spec()).add("abs", {"x"}, "a").add("neg", {"a"}, "b");
    pipeline.add("add", {"a", "b"}, "y").output("y");
    EXPECT_NO_THROW(pipeline.run({{"x", x}, {"y", y}}).get()) << i;
  }
}

}  // namespace
}  // namespace stoker
