#include "stoker/pipeline/kernel_graph/pipeline_plan.hpp"

#include <gtest/gtest.h>

#include <random>

#include "stoker/api/stoker.hpp"
#include "stoker/device/commands/command_work.hpp"

namespace stoker {
namespace {

bool overlap(const ReplayPlan::Operand& a, const ReplayPlan::Operand& b) {
  return a.buffer == b.buffer && a.offset < b.offset + b.bytes && b.offset < a.offset + a.bytes;
}

// The bindings of shaders are `restrict` (kernels/shader/preamble.cpp).
TEST(PipelinePlans, have_no_stage_write_what_it_reads_but_in_place) {
  const System system;
  const Device device = system.device("cpu");
  const TensorSpec spec{DType::f32, {64, 64}};
  std::mt19937 random{11};
  std::size_t in_place = 0;
  std::size_t apart = 0;
  for (int round = 0; round < 50; ++round) {
    KernelGraph graph;
    std::vector<ValueId> values{graph.external("x", spec).value()};
    const auto any = [&] {  // of the latest: those before have been read for the last time
      const std::size_t latest = std::min<std::size_t>(values.size(), 4);
      return values[values.size() - 1 - random() % latest];
    };
    for (int i = 0; i < 40; ++i) {
      const ValueId made = graph.value("v" + std::to_string(i));
      const char* const unary[] = {"relu", "transpose", "softmax", "cumulative_sum", "copy"};
      const std::size_t which = random() % 8;
      const auto kernel = system.kernel(which < 5 ? unary[which] : "add");
      std::vector<ValueId> inputs{any()};
      if (which >= 5) inputs.push_back(any());
      ASSERT_TRUE(graph.add(kernel, std::move(inputs), {made}, {}));
      values.push_back(made);
    }
    const auto plan = PipelinePlan::make(std::move(graph), *device.client()).value();
    for (std::size_t i = 0; i < plan->stages.size(); ++i) {
      const Kernel& kernel = *plan->graph.stages()[plan->stages[i].stage].kernel;
      const ReplayPlan::Step& step = plan->replay->steps[i];
      for (const auto& output : step.outputs) {
        for (std::size_t k = 0; k < step.inputs.size(); ++k) {
          if (!overlap(step.inputs[k], output)) {
            ++apart;
            continue;
          }
          ++in_place;
          EXPECT_TRUE(kernel.in_place) << kernel.name;
          EXPECT_EQ(k, 0U) << kernel.name;
          EXPECT_EQ(step.inputs[k].offset, output.offset);
          EXPECT_EQ(step.inputs[k].bytes, output.bytes);
        }
        for (const auto& scratch : step.scratch) EXPECT_FALSE(overlap(scratch, output));
      }
      for (const auto& scratch : step.scratch)
        for (const auto& input : step.inputs) EXPECT_FALSE(overlap(scratch, input));
    }
  }
  EXPECT_GT(in_place, 100U);
  EXPECT_GT(apart, 100U);
}

}  // namespace
}  // namespace stoker
