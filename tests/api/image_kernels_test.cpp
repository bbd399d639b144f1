// What image kernels promise on every device, to the bit.
#include <gtest/gtest.h>

#include <vector>

#include "stoker/api/stoker.hpp"

namespace stoker {
namespace {

class ImageKernels : public testing::TestWithParam<const char*> {};

TEST_P(ImageKernels, a_picture_of_one_colour_keeps_it_when_it_is_turned) {
  const System system;
  const Device device = system.device(GetParam());
  const float level = 0.3F;
  const Buffer picture = device.buffer(std::vector<float>(31 * 47 * 3, level), Shape{31, 47, 3});
  const Buffer turned = device.run(
      "rotate", {picture}, {{"angle", -17.5}, {"expand", true}, {"background", double{level}}});
  for (const float value : turned.read<float>().get()) ASSERT_EQ(value, level);
}

INSTANTIATE_TEST_SUITE_P(Devices, ImageKernels, testing::Values("cpu", "vulkan"),
                         [](const auto& info) { return std::string{info.param}; });

}  // namespace
}  // namespace stoker
