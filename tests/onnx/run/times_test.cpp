// The times of kernels in Model::stats().
#include "stoker/api/onnx/times/kernel_times.hpp"
#include "stoker/api/pipeline.hpp"
#include "stoker/runtime/observe/trace.hpp"
#include "stoker/tests/onnx/run/small_models.hpp"

namespace stoker::onnx {
namespace {

class TimesOfModel : public OnnxTest {
 protected:
  /// Two kernels: one for Exp and Neg, one for CumSum.
  [[nodiscard]] Model sums() const {
    return GraphBuilder{}
        .input("x", {"n"})
        .constant("axis", integers({0}))
        .node("Exp", {"x"}, {"a"})
        .node("Neg", {"a"}, {"b"})
        .node("CumSum", {"b", "axis"}, {"y"})
        .output("y")
        .load(here());
  }
  static void run(const Model& model, std::int64_t elements) {
    static_cast<void>(floats(model.run({{"x", zeros({elements})}}).get(), "y"));
  }
};

TEST_F(TimesOfModel, are_summed_up_while_the_system_traces) {
  const Model model = sums();
  run(model, 4096);
  EXPECT_TRUE(model.stats().times.empty()) << "nobody asked for them";
  system_.trace().enable();
  for (int i = 0; i < 3; ++i) run(model, 4096);
  system_.trace().enable(false);
  run(model, 4096);
  const std::vector<KernelTime> times = model.stats().times;
  ASSERT_EQ(times.size(), 2U);
  EXPECT_GE(times[0].total, times[1].total);
  for (const KernelTime& time : times) {
    EXPECT_EQ(time.runs, 3U) << time.kernel;
    EXPECT_GT(time.total.count(), 0) << time.kernel;
  }
  const bool sum_is_first = times[0].nodes.size() == 1;
  EXPECT_EQ(times[sum_is_first ? 0 : 1].nodes,
            (std::vector<std::string>{"the node of 'y' (CumSum)"}));
  EXPECT_EQ(times[sum_is_first ? 1 : 0].nodes,
            (std::vector<std::string>{"the node of 'a' (Exp)", "the node of 'b' (Neg)"}));
}

TEST_F(TimesOfModel, of_equal_kernels_in_several_plans_share_an_entry) {
  system_.trace().enable();
  const Model model = sums();
  run(model, 4096);
  run(model, 2048);
  EXPECT_EQ(model.stats().traced, 2U);
  const std::vector<KernelTime> times = model.stats().times;
  ASSERT_EQ(times.size(), 2U);
  EXPECT_EQ(times[0].runs, 2U);
  EXPECT_EQ(times[1].runs, 2U);
}

TEST_F(TimesOfModel, are_kept_for_a_limited_number_of_kernels) {
  system_.trace().enable();
  Pipeline pipeline = system_.pipeline("cpu");
  pipeline.input("x", {DType::f32, {64}});
  pipeline.add("relu", {"x"}, "y");
  pipeline.output("y");
  const auto ended = [&] {
    const Buffer y = device_.buffer(TensorSpec{DType::f32, Shape{64}});
    const Command command = pipeline.run({{"x", device_.buffer(y.spec())}, {"y", y}});
    command.get();
    return command.state();
  };
  Node one;
  one.op = "One";
  KernelTimes times{1};
  for (const char* const kernel : {"first", "second", "third", "first"})
    times.add({ended()}, std::make_shared<const PlannedKernels>(
                             PlannedKernels{{PlannedKernel{kernel, {&one}}}}));
  std::vector<KernelTime> all = times.list();
  ASSERT_EQ(all.size(), 2U);
  if (all[0].kernel.empty()) std::swap(all[0], all[1]);
  EXPECT_EQ(all[0].kernel, "first");
  EXPECT_EQ(all[0].runs, 2U);
  EXPECT_EQ(all[1].runs, 2U);
  EXPECT_TRUE(all[1].kernel.empty());
  EXPECT_TRUE(all[1].nodes.empty());
}

}  // namespace
}  // namespace stoker::onnx
