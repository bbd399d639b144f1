// Large copies and fills go by shader on a GPU. Here lavapipe is shown as one, and what it is asked
// to do is counted.
#include <algorithm>
#include <utility>

#include "fixture.hpp"

namespace stoker::device::vulkan::testing {
namespace {

constexpr std::uint64_t large = std::uint64_t{1} << 20;

struct ShownAs {
  static inline VkPhysicalDeviceType type = VK_PHYSICAL_DEVICE_TYPE_DISCRETE_GPU;
  static inline int dispatches = 0;
  static inline int commands = 0;  // copies and fills by the driver's own means

  static DriverOptions driver() { return {default_library_names(), install}; }
  static void reset() { dispatches = commands = 0; }

 private:
  static inline PFN_vkGetPhysicalDeviceProperties2 properties = nullptr;
  static inline PFN_vkCmdDispatch dispatch = nullptr;
  static inline PFN_vkCmdCopyBuffer copy = nullptr;
  static inline PFN_vkCmdFillBuffer fill = nullptr;

  static void install(VulkanApi& api) {
    if (api.vkGetPhysicalDeviceProperties2 && api.vkGetPhysicalDeviceProperties2 != on_properties)
      properties = std::exchange(api.vkGetPhysicalDeviceProperties2, on_properties);
    if (api.vkCmdDispatch && api.vkCmdDispatch != on_dispatch) {
      dispatch = std::exchange(api.vkCmdDispatch, on_dispatch);
      copy = std::exchange(api.vkCmdCopyBuffer, on_copy);
      fill = std::exchange(api.vkCmdFillBuffer, on_fill);
    }
  }
  static void VKAPI_CALL on_properties(VkPhysicalDevice device, VkPhysicalDeviceProperties2* out) {
    properties(device, out);
    out->properties.deviceType = type;
  }
  static void VKAPI_CALL on_dispatch(VkCommandBuffer commands_, std::uint32_t x, std::uint32_t y,
                                     std::uint32_t z) {
    ++dispatches;
    dispatch(commands_, x, y, z);
  }
  static void VKAPI_CALL on_copy(VkCommandBuffer commands_, VkBuffer from, VkBuffer to,
                                 std::uint32_t count, const VkBufferCopy* regions) {
    ++commands;
    copy(commands_, from, to, count, regions);
  }
  static void VKAPI_CALL on_fill(VkCommandBuffer commands_, VkBuffer to, VkDeviceSize offset,
                                 VkDeviceSize bytes, std::uint32_t word) {
    ++commands;
    fill(commands_, to, offset, bytes, word);
  }
};

class BulkMovesTest : public VulkanTest {
 protected:
  /// While one lives, nothing counts.
  struct Uncounted {
    const int dispatches = ShownAs::dispatches;
    const int commands = ShownAs::commands;
    ~Uncounted() {
      ShownAs::dispatches = dispatches;
      ShownAs::commands = commands;
    }
  };
  void SetUp() override {
    ShownAs::type = VK_PHYSICAL_DEVICE_TYPE_DISCRETE_GPU;
    VulkanTest::SetUp();
    ShownAs::reset();
  }
  [[nodiscard]] DriverOptions driver_options() const override { return ShownAs::driver(); }

  /// Device memory of these bytes. What it takes to bring them there is not counted.
  std::unique_ptr<MemoryBlock> block(const std::vector<std::uint8_t>& bytes) {
    const Uncounted uncounted;
    auto staging = device_->backend().allocate(bytes.size(), MemoryKind::upload).value();
    std::ranges::copy(bytes, reinterpret_cast<std::uint8_t*>(staging->host));
    auto made = device_->backend().allocate(bytes.size(), MemoryKind::device).value();
    device_->run(std::vector{copy_step(whole(staging), whole(made))});
    return made;
  }
  /// What is in device memory.
  std::vector<std::uint8_t> contents(const std::unique_ptr<MemoryBlock>& block) {
    const Uncounted uncounted;
    const auto staging = device_->backend().allocate(block->bytes, MemoryKind::readback).value();
    device_->run(std::vector{copy_step(whole(block), whole(staging))});
    return values_of<std::uint8_t>(staging);
  }
  static std::vector<std::uint8_t> noise(std::uint64_t bytes) {
    std::vector<std::uint8_t> values(bytes);
    for (std::uint64_t i = 0; i < bytes; ++i)
      values[i] = static_cast<std::uint8_t>((i * 2654435761U) >> 13U);
    return values;
  }
};

TEST_F(BulkMovesTest, large_copies_are_dispatched_and_exact_at_any_common_offset) {
  struct Case {
    std::uint64_t from, to, bytes;
  };
  const Case cases[] = {{0, 0, large},       {0, 0, large + 1},   {0, 16, large + 15},
                        {3, 3, large},       {5, 37, large + 19}, {4, 20, large + 4},
                        {15, 15, large + 1}, {8, 8, large + 8},   {1, 17, large + 14}};
  for (const Case& one : cases) {
    SCOPED_TRACE(std::to_string(one.from) + " " + std::to_string(one.to) + " " +
                 std::to_string(one.bytes));
    ShownAs::reset();
    const auto source = noise(one.from + one.bytes + 7);
    auto wanted = std::vector<std::uint8_t>(one.to + one.bytes + 9, 0xaa);
    const auto from = block(source);
    const auto to = block(wanted);
    device_->run(
        std::vector{copy_step(part(from, one.from, one.bytes), part(to, one.to, one.bytes))});
    std::copy_n(source.begin() + static_cast<std::ptrdiff_t>(one.from), one.bytes,
                wanted.begin() + static_cast<std::ptrdiff_t>(one.to));
    EXPECT_TRUE(contents(to) == wanted);
    EXPECT_GT(ShownAs::dispatches, 0);
    EXPECT_EQ(ShownAs::commands, 0);
  }
}

TEST_F(BulkMovesTest, small_copies_and_those_between_offsets_keep_the_drivers_command) {
  const auto source = noise(large + 64);
  const auto from = block(source);
  const auto to = block(std::vector<std::uint8_t>(large + 64));
  device_->run(std::vector{copy_step(part(from, 0, large - 1), part(to, 0, large - 1))});
  device_->run(std::vector{copy_step(part(from, 1, large), part(to, 2, large))});
  EXPECT_EQ(ShownAs::dispatches, 0);
  EXPECT_EQ(ShownAs::commands, 2);
  EXPECT_TRUE(std::equal(source.begin() + 1, source.begin() + 1 + large, contents(to).begin() + 2));
}

TEST_F(BulkMovesTest, copies_from_and_to_staging_memory_keep_the_drivers_command) {
  const auto device = block(noise(large));
  const auto staging = device_->backend().allocate(large, MemoryKind::readback).value();
  device_->run(std::vector{copy_step(whole(device), whole(staging))});
  EXPECT_EQ(ShownAs::dispatches, 0);
  EXPECT_EQ(values_of<std::uint8_t>(staging), noise(large));
}

TEST_F(BulkMovesTest, large_fills_are_dispatched_and_exact_whatever_offset_and_element) {
  const std::uint8_t element[8] = {1, 2, 3, 4, 5, 6, 7, 8};
  for (const std::uint8_t width : {1, 2, 4, 8})
    for (const std::uint64_t offset : {0U, 3U, 8U, 20U})
      for (const std::uint64_t bytes : {large, large + 13}) {
        SCOPED_TRACE(std::to_string(width) + " " + std::to_string(offset) + " " +
                     std::to_string(bytes));
        ShownAs::reset();
        auto wanted = std::vector<std::uint8_t>(offset + bytes + 9, 0xaa);
        const auto to = block(wanted);
        Step step = fill_step(part(to, offset, bytes), std::uint64_t{0});
        std::memcpy(step.pattern.data(), element, width);
        step.pattern_bytes = width;
        device_->run(std::vector{step});
        for (std::uint64_t i = 0; i < bytes; ++i) wanted[offset + i] = element[i % width];
        EXPECT_TRUE(contents(to) == wanted);
        EXPECT_GT(ShownAs::dispatches, 0);
        EXPECT_EQ(ShownAs::commands, 0);
      }
}

TEST_F(BulkMovesTest, are_ordered_with_kernels_and_commands_and_can_be_replayed) {
  constexpr std::int64_t count = 300'000;
  const auto executable = device_->prepare(affine_kernel(), count);
  const auto a = device_->backend().allocate(count * 4, MemoryKind::device).value();
  const auto b = device_->backend().allocate(count * 4, MemoryKind::device).value();
  const auto c = device_->backend().allocate(count * 4, MemoryKind::readback).value();
  const std::vector steps{fill_step(whole(a), 4.0F),
                          dispatch_step(executable, whole(a), whole(b), {0}),
                          copy_step(whole(b), whole(a), {1}), fill_step(part(a, 0, 8), 1.0F, {2}),
                          copy_step(whole(a), whole(c), {3})};
  auto wanted = std::vector<float>(count, 9.0F);
  wanted[0] = wanted[1] = 1.0F;
  device_->run(steps);
  EXPECT_EQ(ShownAs::dispatches, 3);
  EXPECT_TRUE(values_of<float>(c) == wanted);

  const auto recording = device_->backend().record(steps).value();
  std::ranges::fill(std::span{reinterpret_cast<float*>(c->host), count}, 0.0F);
  Submission replay;
  replay.recording = recording.get();
  ASSERT_TRUE(device_->wait({QueueKind::compute, device_->submit(replay)}));
  EXPECT_TRUE(values_of<float>(c) == wanted);
}

/// Any device, shown as a software one.
class SoftwareDevice : public VulkanTest {
 protected:
  void SetUp() override {
    ShownAs::type = VK_PHYSICAL_DEVICE_TYPE_CPU;
    VulkanTest::SetUp();
  }
  [[nodiscard]] DriverOptions driver_options() const override { return ShownAs::driver(); }
};

TEST_F(SoftwareDevice, keeps_the_drivers_commands) {
  const auto to = device_->backend().allocate(large, MemoryKind::device).value();
  device_->run(std::vector{fill_step(whole(to), 1.0F)});
  EXPECT_EQ(device_->backend().counters().pipelines_created, 0U);
}

}  // namespace
}  // namespace stoker::device::vulkan::testing
