// A model that is given new signatures without end.
#include "stoker/tests/actors/failing_allocation.hpp"
#include "stoker/tests/onnx/run/small_models.hpp"

namespace stoker::onnx {
namespace {

using ManySignatures = OnnxTest;

TEST_F(ManySignatures, leave_memory_where_the_first_of_them_left_it) {
  LoadOptions options = here();
  options.max_plans = 16;
  options.max_plan_bytes = 64 << 10;
  // y = x + twos: a plan holds as many twos as x has numbers.
  const Model model =
      GraphBuilder{}
          .input("x", {"n", "m"})
          .node("Shape", {"x"}, {"extents"})
          .node("ConstantOfShape", {"extents"}, {"twos"}, {named("value", reals({2}))})
          .node("Add", {"x", "twos"}, {"y"})
          .output("y")
          .load(options);
  const auto run = [&](std::int64_t from, std::int64_t to) {
    for (std::int64_t i = from; i < to; ++i) {
      const std::int64_t both = i * 7919 % 10'000;  // large ones and small ones by turns, each once
      const Tensor x{device_.buffer(DType::f32, {1 + both / 100, 1 + both % 100})};
      model.run({{"x", x}}).get().at("y").tensor().computed().get();
    }
  };
  run(0, 200);
  const std::int64_t allocations = live_allocations();
  const std::uint64_t on_device = device_.stats().memory.in_use;
  run(200, 10'000);
  const ModelStats stats = model.stats();
  EXPECT_EQ(stats.traced, 10'000U);
  EXPECT_LE(stats.segments, options.max_plans);
  EXPECT_LE(stats.plan_bytes, options.max_plan_bytes);
  EXPECT_LE(device_.stats().memory.in_use, on_device + 2 * options.max_plan_bytes);
  EXPECT_LT(live_allocations() - allocations, 2000) << "one for each fifth signature";
}

}  // namespace
}  // namespace stoker::onnx
