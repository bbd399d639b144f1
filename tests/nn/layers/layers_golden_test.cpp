// Layers against their definitions in NumPy (golden/layers.py), which has the same shapes and
// seeds.
#include "stoker/tests/nn/golden_numbers.hpp"
#include "stoker/tests/nn/layer_fixture.hpp"
#include "stoker/tests/tensor/differences.hpp"

namespace stoker::nn {
namespace {

// In f64 on the CPU, in f32 elsewhere.
class GoldenLayers : public TensorsOnDevices {
 protected:
  const bool is_double = std::string_view{GetParam()} == "cpu";
  const double exact = is_double ? 1e-12 : 2e-5;
  GoldenNumbers golden{"layers"};

  [[nodiscard]] OneLayer::Result apply(std::string_view kind, const Params& options,
                                       std::vector<Tensor> inputs, Variables variables,
                                       bool training = false) const {
    const auto narrow = [&](Tensor& x) {
      // By the host: a device without f64 would leave the cast, and what is fused to it, to another.
      if (!is_double && x.dtype() == DType::f64) x = tensor(x.to_vector<float>(), x.shape());
    };
    for (Tensor& input : inputs) narrow(input);
    for (auto& [name, value] : variables) narrow(value);
    return OneLayer{kind, options}(inputs, variables, training);
  }
  void expect_golden(const char* name, std::string_view kind, const Params& options,
                     const std::vector<Tensor>& inputs, const Variables& variables = {}) const {
    SCOPED_TRACE(name);
    expect_near(apply(kind, options, inputs, variables).outputs[0], golden[name], exact);
  }
};
INSTANTIATE_TEST_SUITE_P(Devices, GoldenLayers, every_device(), device_name);

Tensor images(const Shape& shape) { return sample(shape, -1, 1, 1); }
Tensor weights(const Shape& shape, double seed) { return sample(shape, -1, 1, seed); }

TEST_P(GoldenLayers, convolutions) {
  const Tensor x = images({2, 5, 4, 3});
  const Variables whole{{"kernel", weights({3, 2, 3, 4}, 2)}, {"bias", weights({4}, 3)}};
  expect_golden("conv", "conv",
                {{"units", 4},
                 {"kernel_size", {3, 2}},
                 {"strides", {2, 1}},
                 {"kernel_dilation", {1, 2}},
                 {"pads", {1, 0, 0, 2}}},
                {x}, whole);
  expect_golden("conv_same", "conv",
                {{"units", 4}, {"kernel_size", {3, 2}}, {"strides", {2, 1}}, {"padding", "same"}},
                {x}, whole);
  expect_golden("depthwise_conv", "depthwise_conv", {{"multiplier", 2}, {"kernel_size", {3, 2}}},
                {x}, {{"kernel", weights({3, 2, 1, 6}, 2)}, {"bias", weights({6}, 3)}});
}

TEST_P(GoldenLayers, separable_convolutions) {
  expect_golden(
      "separable_conv2d", "separable_conv2d",
      {{"multiplier", 2}, {"kernel_size", {3, 2}}, {"strides", {2, 1}}, {"use_bias", false}},
      {images({2, 5, 4, 3})},
      {{"kernel_1", weights({3, 1, 1, 6}, 2)}, {"kernel_2", weights({1, 2, 1, 6}, 3)}});
  expect_golden("separable_conv3d", "separable_conv3d",
                {{"kernel_size", {2, 3, 2}}, {"padding", "same"}, {"use_bias", false}},
                {images({2, 3, 4, 3, 3})},
                {{"kernel_1", weights({2, 1, 1, 1, 3}, 2)},
                 {"kernel_2", weights({1, 3, 1, 1, 3}, 3)},
                 {"kernel_3", weights({1, 1, 2, 1, 3}, 4)}});
}

TEST_P(GoldenLayers, transposed_convolutions) {
  const Tensor bias = weights({2}, 3);
  expect_golden("conv_transpose_1d", "conv_transpose",
                {{"units", 2}, {"kernel_size", 3}, {"strides", 2}, {"padding", "same"}},
                {images({2, 4, 3})}, {{"kernel", weights({3, 3, 2}, 2)}, {"bias", bias}});
  expect_golden("conv_transpose_2d", "conv_transpose",
                {{"units", 2}, {"kernel_size", {3, 2}}, {"strides", {2, 3}}},
                {images({2, 3, 4, 3})}, {{"kernel", weights({3, 2, 3, 2}, 2)}, {"bias", bias}});
  expect_golden("conv_transpose_3d", "conv_transpose",
                {{"units", 2}, {"kernel_size", {2, 1, 3}}, {"strides", {1, 2, 1}}},
                {images({2, 2, 2, 3, 3})},
                {{"kernel", weights({2, 1, 3, 3, 2}, 2)}, {"bias", bias}});
}

TEST_P(GoldenLayers, pools) {
  const Tensor x = images({2, 7, 5, 3});
  for (const std::string kind : {"max_pool", "avg_pool", "lp_pool"}) {
    Params windows{{"kernel_size", {3, 2}}, {"strides", {2, 3}}};
    Params adaptive{{"output_size", {3, 4}}};
    Params global;
    if (kind == "lp_pool")
      for (Params* const options : {&windows, &adaptive, &global}) options->set("norm", 3.0);
    expect_golden(kind.c_str(), kind, windows, {x});
    expect_golden(("adaptive_" + kind).c_str(), "adaptive_" + kind, adaptive, {x});
    expect_golden(("global_" + kind).c_str(), "global_" + kind, global, {x});
  }
  expect_golden("blur_pool", "blur_pool", {{"strides", {2, 1}}}, {x});
}

TEST_P(GoldenLayers, normalisations) {
  const Tensor x = images({2, 3, 2, 4});
  const Tensor gamma = sample({4}, 0.5, 1.5, 2);
  const Tensor beta = weights({4}, 3);
  const Variables learnt{{"gamma", gamma}, {"beta", beta}};
  expect_golden("layer_norm", "layer_norm", {}, {x}, learnt);
  expect_golden("group_norm", "group_norm", {{"groups", 2}}, {x}, learnt);
  expect_golden("rms_norm", "rms_norm", {{"shift", 0.5}}, {x}, {{"gamma", gamma}});

  Variables running = learnt;
  running["mean"] = full({4}, 0.5, DType::f64);
  running["var"] = full({4}, 2, DType::f64);
  const Params slow{{"momentum", 0.25}};
  const auto batch = apply("batch_norm", slow, {x}, running, true);
  expect_near(batch.outputs[0], golden["batch_norm"], exact);
  expect_near(batch.states.at("mean"), golden["batch_norm_mean"], exact);
  const auto instance = apply("instance_norm", slow, {x}, running, true);
  expect_near(instance.outputs[0], golden["instance_norm"], exact);
  expect_near(instance.states.at("var"), golden["instance_norm_var"], exact);
  expect_golden("instance_norm_running", "instance_norm", slow, {x}, running);
}

TEST_P(GoldenLayers, resizes) {
  const Tensor x = images({2, 5, 6, 3});
  for (const std::string method : {"nearest", "bilinear", "bicubic", "lanczos3", "lanczos5"})
    expect_golden(("resize_" + method).c_str(), "resize", {{"shape", {8, 3}}, {"method", method}},
                  {x});
  expect_golden("resize_not_antialiased", "resize",
                {{"shape", {8, 3}}, {"method", "bicubic"}, {"antialias", false}}, {x});
}

TEST_P(GoldenLayers, products) {
  expect_golden("bilinear", "bilinear", {{"units", 5}}, {images({2, 3, 4}), weights({2, 3, 2}, 2)},
                {{"kernel", weights({5, 4, 2}, 3)}, {"bias", weights({5}, 4)}});
  expect_golden("dense", "dense", {{"units", 3}, {"activation", "tanh"}}, {images({2, 3, 4})},
                {{"kernel", weights({4, 3}, 2)}, {"bias", weights({3}, 3)}});
  expect_golden("embedding", "embedding", {{"vocab_size", 5}, {"embedding_size", 3}},
                {tensor({{1, 4, 0}, {2, 2, 3}})}, {{"kernel", weights({5, 3}, 2)}});
}

TEST_P(GoldenLayers, recurrent_layers_both_ways) {
  const Tensor x = images({2, 4, 3});
  Variables variables;
  const auto add_way = [&](const std::string& way, std::int64_t gates, double seed) {
    variables[way + "_input_kernel"] = weights({3, 2 * gates}, seed);
    variables[way + "_hidden_kernel"] = weights({2, 2 * gates}, seed + 1);
    variables[way + "_bias"] = weights({2 * gates}, seed + 2);
  };
  add_way("forward", 4, 2);
  add_way("backward", 4, 5);
  Params options{{"units", 2}, {"recurrent_initializer", "zeros"}};
  const auto lstm = apply("bidirectional", options, {x}, variables).outputs;
  ASSERT_EQ(lstm.size(), 3U);
  EXPECT_EQ(lstm[0].shape(), (Shape{2, 4, 4}));
  expect_near(lstm[0], golden["bidirectional_lstm_sequence"], exact);
  expect_near(lstm[1], golden["bidirectional_lstm_c"], exact);
  expect_near(lstm[2], golden["bidirectional_lstm_h"], exact);

  add_way("forward", 3, 2);
  add_way("backward", 3, 5);
  variables["forward_hidden_bias"] = weights({2}, 8);
  variables["backward_hidden_bias"] = weights({2}, 9);
  options.set("cell", std::string{"gru"});
  options.set("merge", std::string{"average"});
  const auto gru = apply("bidirectional", options, {x}, variables).outputs;
  ASSERT_EQ(gru.size(), 2U);
  expect_near(gru[0], golden["bidirectional_gru_sequence"], exact);
  expect_near(gru[1], golden["bidirectional_gru_h"], exact);
}

}  // namespace
}  // namespace stoker::nn
