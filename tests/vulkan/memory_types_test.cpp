#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "stoker/device/vulkan/instance/physical_device.hpp"

namespace stoker::device::vulkan {
namespace {

constexpr VkMemoryPropertyFlags local = VK_MEMORY_PROPERTY_DEVICE_LOCAL_BIT;
constexpr VkMemoryPropertyFlags mapped =
    VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT | VK_MEMORY_PROPERTY_HOST_COHERENT_BIT;
constexpr VkMemoryPropertyFlags cached = VK_MEMORY_PROPERTY_HOST_CACHED_BIT;
constexpr std::uint64_t gib = std::uint64_t{1} << 30;

VkPhysicalDeviceMemoryProperties memory_of(std::vector<VkMemoryHeap> heaps,
                                           std::vector<VkMemoryType> types) {
  VkPhysicalDeviceMemoryProperties memory{};
  memory.memoryHeapCount = static_cast<std::uint32_t>(heaps.size());
  std::ranges::copy(heaps, memory.memoryHeaps);
  memory.memoryTypeCount = static_cast<std::uint32_t>(types.size());
  std::ranges::copy(types, memory.memoryTypes);
  return memory;
}

std::uint32_t best(const VkPhysicalDeviceMemoryProperties& memory, MemoryKind kind) {
  return memory_types_for(memory, kind).at(0);
}

TEST(MemoryTypes, device_memory_that_the_host_maps_whole_is_preferred) {
  // An H200: one heap of 140 GiB, mappable all of it; system memory beside it.
  const auto memory =
      memory_of({{140 * gib, VK_MEMORY_HEAP_DEVICE_LOCAL_BIT}, {64 * gib, 0}},
                {{0, 1}, {local, 0}, {mapped, 1}, {mapped | cached, 1}, {local | mapped, 0}});
  EXPECT_EQ(best(memory, MemoryKind::device), 4U);
  EXPECT_EQ(best(memory, MemoryKind::upload), 2U);
  EXPECT_EQ(best(memory, MemoryKind::readback), 3U);
}

TEST(MemoryTypes, a_small_window_into_device_memory_is_not) {
  const auto memory = memory_of({{8 * gib, VK_MEMORY_HEAP_DEVICE_LOCAL_BIT},
                                 {32 * gib, 0},
                                 {gib / 4, VK_MEMORY_HEAP_DEVICE_LOCAL_BIT}},
                                {{local | mapped, 2}, {mapped, 1}, {local, 0}});
  EXPECT_EQ(best(memory, MemoryKind::device), 2U);
  EXPECT_EQ(main_heap(memory), 0U);
}

TEST(MemoryTypes, integrated_devices_use_cached_memory) {
  const auto memory = memory_of({{16 * gib, VK_MEMORY_HEAP_DEVICE_LOCAL_BIT}},
                                {{local | mapped, 0}, {local | mapped | cached, 0}});
  EXPECT_EQ(best(memory, MemoryKind::device), 1U);
  EXPECT_EQ(best(memory, MemoryKind::readback), 1U);
}

TEST(MemoryTypes, types_that_need_features_of_their_own_are_left_alone) {
  const auto memory = memory_of({{16 * gib, VK_MEMORY_HEAP_DEVICE_LOCAL_BIT}},
                                {{local | VK_MEMORY_PROPERTY_PROTECTED_BIT, 0},
                                 {local | VK_MEMORY_PROPERTY_DEVICE_COHERENT_BIT_AMD, 0},
                                 {local, 0}});
  EXPECT_EQ(memory_types_for(memory, MemoryKind::device), std::vector<std::uint32_t>{2});
}

}  // namespace
}  // namespace stoker::device::vulkan
