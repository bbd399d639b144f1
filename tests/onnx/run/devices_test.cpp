// The same numbers on every device.
#include "stoker/runtime/futures/when.hpp"
#include "stoker/tests/onnx/run/small_models.hpp"

namespace stoker::onnx {
namespace {

class OnDevices : public testing::TestWithParam<const char*> {
 protected:
  System system_;
  Device device_ = system_.device(GetParam());
  DeviceScope scope_{device_};
};

TEST_P(OnDevices, a_convolution_a_pool_and_a_product) {
  GraphBuilder builder;
  TensorData kernel = reals({1, 0, 0, -1});
  kernel.dims = {1, 1, 2, 2};
  TensorData weights = reals({1, 2, 3, 4});
  weights.dims = {4, 1};
  const Model model =
      builder.input("x", {"n", 1, 4, 4})
          .constant("kernel", kernel)
          .constant("weights", weights)
          .node("Conv", {"x", "kernel"}, {"c"}, {named("auto_pad", std::string{"SAME_UPPER"})})
          .node("Relu", {"c"}, {"r"})
          .node("MaxPool", {"r"}, {"p"},
                {named("kernel_shape", std::vector<std::int64_t>{2, 2}),
                 named("strides", std::vector<std::int64_t>{2, 2})})
          .node("Flatten", {"p"}, {"f"})
          .node("Gemm", {"f", "weights"}, {"y"})
          .output("y")
          .load({.device = device_});
  // The kernel gives -5 inside, and x itself where its corner hangs over: in the last row and column.
  const Tensor x = reshape(iota({16}, DType::f32), {1, 1, 4, 4});
  const NamedValues out = model.run({{"x", x}}).get();
  const std::vector<float> expected{2 * 7 + 3 * 13 + 4 * 15};
  EXPECT_EQ(out.at("y").tensor().to_vector<float>(), expected);
  const Binding binding = model.bind({{"x", x}});
  std::vector<Future<>> runs;
  for (int i = 0; i < 3; ++i) runs.push_back(binding.run());
  EXPECT_EQ(binding.outputs().at("y").read<float>().get(), expected);
  when_all(std::move(runs)).get();
}

TEST_P(OnDevices, a_plan_with_a_cut) {
  const Model model = GraphBuilder{}
                          .input("x", {"rows", "columns"})
                          .node("NonZero", {"x"}, {"places"})
                          .node("Shape", {"places"}, {"shape"})
                          .output("places")
                          .output("shape")
                          .load({.device = device_});
  for (int i = 0; i < 2; ++i) {
    const NamedValues out = model.run({{"x", tensor({{0.0, 3.0}, {5.0, 0.0}, {1.0, 0.0}})}}).get();
    EXPECT_EQ(out.at("places").tensor().to_vector<int>(), (std::vector{0, 1, 2, 1, 0, 0}));
    EXPECT_EQ(out.at("shape").tensor().to_vector<int>(), (std::vector{2, 3}));
  }
  EXPECT_EQ(model.stats().traced, 2U);
}

TEST_P(OnDevices, the_cpu_computes_what_a_gpu_has_no_kernel_for) {
  const bool is_gpu = device_.info().type != DeviceType::cpu;
  const auto hosts = [&](const char* op, DType dtype) {
    GraphBuilder builder;
    builder.graph.inputs.push_back({.name = "x", .type = {}, .doc = {}});
    const Model model = builder.node(op, {"x"}, {"y"}).output("y").load({.device = device_});
    std::size_t count = 0;
    for (const auto& segment : model.plan({{"x", ones({2, 2}, dtype)}}).segments)
      for (const auto& step : segment.steps) count += step.host.ends_with(" on cpu");
    return count;
  };
  EXPECT_EQ(hosts("Det", DType::f32), is_gpu ? 1U : 0U);
  for (const char* op : {"Exp", "Log", "Sin", "Tanh", "Erf", "Sigmoid", "Softmax"}) {
    EXPECT_EQ(hosts(op, DType::f64), is_gpu ? 1U : 0U) << op;
    EXPECT_EQ(hosts(op, DType::f32), 0U) << op;
  }
}

INSTANTIATE_TEST_SUITE_P(Devices, OnDevices, testing::Values("cpu", "vulkan"),
                         [](const auto& info) { return std::string{info.param}; });

}  // namespace
}  // namespace stoker::onnx
