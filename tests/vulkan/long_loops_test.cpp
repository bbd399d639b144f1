// llvmpipe ends the loops of a thread after 65,535 rounds, silently. What would need more is refused
// there rather than wrong.
#include "fixture.hpp"

namespace stoker::device::vulkan::testing {
namespace {

using List = std::vector<std::int64_t>;

class LongLoops : public VulkanTest {
 protected:
  void SetUp() override {
    VulkanTest::SetUp();
    if (device_ && !device_->backend().info().driver.starts_with("llvmpipe"))
      GTEST_SKIP() << "this driver ends no loops";
  }

  Result<std::shared_ptr<const Executable>> prepare(const char* name,
                                                    const std::vector<TensorSpec>& inputs,
                                                    const Params& given = {}) {
    const auto kernel = KernelRegistry::builtin().find(name).value();
    const ParamSet params = ParamSet::resolve(name, kernel->params, given).value();
    const auto outputs = kernel->check(inputs, params).value();
    return device_->backend().prepare(kernel, {inputs, params}, outputs);
  }
  void expect_refused(const char* name, const std::vector<TensorSpec>& inputs,
                      const Params& given = {}) {
    const auto prepared = prepare(name, inputs, given);
    ASSERT_FALSE(prepared) << name;
    EXPECT_EQ(prepared.error().op(), name);
    EXPECT_EQ(prepared.error().code(), ErrorCode::unsupported);
    EXPECT_EQ(prepared.error().detail("limit"), "65535");
    EXPECT_GT(std::stoull(std::string{prepared.error().detail("requested")}), 65535U) << name;
  }
};

TEST_F(LongLoops, are_refused_where_the_driver_ends_them) {
  const TensorSpec row{DType::f32, Shape{65536}};
  expect_refused("window_sum", {row}, {{"window", List{65536}}});
  EXPECT_TRUE(prepare("window_sum", {row}, {{"window", List{65535}}}));

  const TensorSpec plane{DType::f32, Shape{300, 300}};
  const TensorSpec one{DType::f32, Shape{1, 1}}, init{DType::f32, Shape{1}};
  expect_refused("window_scatter_max", {plane, one, init}, {{"window", List{300, 300}}});
  EXPECT_TRUE(prepare("window_scatter_max", {plane, {DType::f32, Shape{51, 51}}, init},
                      {{"window", List{250, 250}}}));

  // Three spatial axes have no tiles, in which threads share a sum.
  const TensorSpec volume{DType::f64, Shape{1, 3, 4, 64, 100}};
  expect_refused("conv", {volume, volume});
  const TensorSpec image{DType::f64, Shape{1, 3, 256, 100}};
  EXPECT_TRUE(prepare("conv", {image, image}));

  expect_refused("resize", {{DType::u8, Shape{1, 200'000, 1}}},
                 {{"width", std::int64_t{1}}, {"height", std::int64_t{1}}, {"antialias", true}});
}

TEST_F(LongLoops, of_a_programs_own_kernel_are_refused_if_its_plan_says_how_long_they_are) {
  for (const std::uint64_t rounds : {std::uint64_t{65535}, std::uint64_t{65536}}) {
    Kernel kernel = affine_kernel();
    kernel.gpu = [rounds, plan = kernel.gpu](const KernelCall& call,
                                             std::span<const TensorSpec> outputs,
                                             const GpuTraits& traits) -> Result<GpuPlan> {
      STOKER_ASSIGN(GpuPlan made, plan(call, outputs, traits));
      made.passes[0].rounds = rounds;
      return made;
    };
    const TensorSpec spec{DType::f32, Shape{4}};
    const ParamSet params;
    const auto prepared = device_->backend().prepare(std::make_shared<const Kernel>(kernel),
                                                     {{&spec, 1}, params}, {&spec, 1});
    EXPECT_EQ(prepared.has_value(), rounds == 65535);
  }
}

}  // namespace
}  // namespace stoker::device::vulkan::testing
