// Models that run again: what was compiled, recorded and allocated for a signature serves its next runs, on any thread.
#include <array>
#include <atomic>
#include <thread>

#include "stoker/tests/onnx/run/small_models.hpp"
#include "stoker/tests/tensor/fixture.hpp"

namespace stoker::onnx {
namespace {

class ModelReplays : public TensorsOnDevices {
 protected:
  /// softmax(relu(x · w + b)) in rows of eight, as many as x's own.
  static Model layer() {
    std::vector<float> weights(std::size_t{24} * 16);
    for (std::size_t i = 0; i < weights.size(); ++i)
      weights[i] = 0.125F * (static_cast<float>(i * 5 % 11) - 5);
    TensorData w = reals(weights);
    w.dims = {24, 16};
    return GraphBuilder{}
        .input("x", {"n", 24})
        .constant("w", w)
        .constant("b", reals(std::vector<float>(16, 0.5F)))
        .constant("eight", integers({-1, 8}))
        .node("Gemm", {"x", "w", "b"}, {"a"})
        .node("Relu", {"a"}, {"r"})
        .node("Reshape", {"r", "eight"}, {"rows"})
        .node("Softmax", {"rows"}, {"y"}, {named("axis", std::int64_t{1})})
        .output("y")
        .load({.device = current_device()});
  }
  static Tensor rows(std::int64_t n) {
    return as_type(remainder(iota({n, 24}), 7), DType::f32).eval();
  }
  static std::vector<float> y_of(const Model& model, const Tensor& x) {
    return model.run({{"x", x}}).get().at("y").tensor().to_vector<float>();
  }
};
INSTANTIATE_TEST_SUITE_P(Devices, ModelReplays, every_device(), device_name);

TEST_P(ModelReplays, a_run_of_a_known_signature_compiles_records_and_allocates_nothing) {
  const Model model = layer();
  const std::array operands{rows(4), rows(6)};
  const auto again = [&] {
    for (const Tensor& x : operands) model.run({{"x", x}}).get().at("y").tensor().computed().get();
  };
  again();
  const std::uint64_t compiled = current_device().stats().backend.pipelines_created;
  again();
  EXPECT_EQ(current_device().stats().backend.pipelines_created, compiled) << "the second run";
  // The first run measures its kernels, the second is encoded on its memory, the third on any.
  for (int i = 0; i < 2; ++i) again();
  const DeviceStats before = current_device().stats();
  for (int i = 0; i < 20; ++i) again();
  const DeviceStats after = current_device().stats();
  EXPECT_EQ(after.backend.recordings, before.backend.recordings);
  EXPECT_EQ(after.backend.encoded, before.backend.encoded);
  EXPECT_EQ(after.backend.pipelines_created, compiled);
  EXPECT_EQ(after.memory.allocations, before.memory.allocations);
  EXPECT_EQ(after.executables, before.executables);
  EXPECT_EQ(model.stats().traced, 2U);
}

TEST_P(ModelReplays, threads_run_two_signatures_by_turns) {
  const Model model = layer();
  const std::array operands{rows(3), rows(8)};
  const std::array expected{y_of(model, operands[0]), y_of(model, operands[1])};
  ASSERT_EQ(expected[0].size(), 3U * 16);
  ASSERT_EQ(expected[1].size(), 8U * 16);
  std::atomic<int> wrong{0};
  {
    std::vector<std::jthread> threads;
    for (std::size_t thread = 0; thread < 8; ++thread)
      threads.emplace_back([&, thread, device = current_device()] {
        const DeviceScope here{device};
        for (std::size_t i = 0; i < 50; ++i) {
          const std::size_t which = (i + thread) % 2;
          if (y_of(model, operands[which]) != expected[which]) ++wrong;
        }
      });
  }
  EXPECT_EQ(wrong, 0);
  EXPECT_EQ(model.stats().traced, 2U);
  EXPECT_EQ(model.stats().found, 400U);
}

}  // namespace
}  // namespace stoker::onnx
