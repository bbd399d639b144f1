// What an executable says about kernels that hold up the device.
#include "stoker/device/vulkan/pipelines/executable.hpp"

#include <gtest/gtest.h>

#include "stoker/runtime/observe/log.hpp"

namespace stoker::device::vulkan {
namespace {

constexpr std::uint64_t target_ns = 1000;

TEST(LongKernels, are_reported_once_and_by_name) {
  const LogCapture log;
  VulkanExecutable executable;
  executable.kernel = "glacier";
  for (int i = 0; i < 5; ++i) executable.measured(2 * target_ns, target_ns);
  EXPECT_EQ(log.lines().size(), 1U);
  EXPECT_TRUE(log.contains("kernel=glacier"));
}

TEST(LongKernels, are_not_judged_by_their_first_run) {
  const LogCapture log;
  const VulkanExecutable executable;
  executable.measured(100 * target_ns, target_ns);
  for (int i = 0; i < 5; ++i) executable.measured(target_ns, target_ns);
  EXPECT_TRUE(log.lines().empty());
}

TEST(LongKernels, may_take_their_time_where_there_is_no_target) {
  const LogCapture log;
  const VulkanExecutable executable;
  for (int i = 0; i < 5; ++i) executable.measured(100 * target_ns, 0);
  EXPECT_TRUE(log.lines().empty());
}

}  // namespace
}  // namespace stoker::device::vulkan
