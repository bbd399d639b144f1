// What convolutions must hold on the CPU that the conformance suites cannot see.
#include <gtest/gtest.h>

#include "cpu_run.hpp"

namespace stoker {
namespace {

// The sums of these outputs fill whole tiles of every instruction set.
TEST(Convolution, without_channels_is_its_bias_and_stays_in_its_memory) {
  const std::vector<TensorSpec> specs{
      {DType::f32, Shape{1, 0, 3, 11}}, {DType::f32, Shape{24, 0, 1, 1}}, {DType::f32, Shape{24}}};
  const std::vector<float> bias(24, 1.5F);
  const std::vector<Bytes> inputs{{}, {}, bytes_of(std::span{bias})};
  const KernelOutputs made = run_kernel("conv2d", specs, inputs);
  EXPECT_EQ(values_in<float>(made.bytes[0]), std::vector<float>(24 * 33, 1.5F));
}

}  // namespace
}  // namespace stoker
