// Each kind of layer against what it should give, worked out by hand, and its gradients against
// differences.
#include <algorithm>
#include "stoker/tests/nn/layer_fixture.hpp"
#include "stoker/tests/nn/refused.hpp"
#include "stoker/tests/tensor/differences.hpp"

namespace stoker::nn {
namespace {

class Layers : public Tensors {
 protected:
  /// By the inputs and all variables, which have f64 numbers here.
  static void expect_layer_gradient(std::string_view kind, const Params& options,
                                    const std::vector<Tensor>& inputs, bool training = false) {
    SCOPED_TRACE(kind);
    const OneLayer layer{kind, options};
    const std::vector<VariableSpec> specs = layer.variables(inputs);
    std::vector<Tensor> all = inputs;
    Variables states;
    std::vector<std::string> names;
    for (const VariableSpec& spec : specs) {
      const Tensor value = sample(spec.shape, 0.4, 1.2, static_cast<double>(names.size()) + 3);
      if (spec.kind == VariableKind::state) {
        states.emplace(spec.name, value);
      } else {
        names.push_back(spec.name);
        all.push_back(value);
      }
    }
    expect_gradient(
        [&](const std::vector<Tensor>& v) {
          const std::vector<Tensor> given{v.begin(),
                                          v.begin() + static_cast<std::ptrdiff_t>(inputs.size())};
          Variables variables = states;
          for (std::size_t i = 0; i < names.size(); ++i)
            variables.insert_or_assign(names[i], v[inputs.size() + i]);
          return layer(given, variables, training).outputs[0];
        },
        all);
  }
};

TEST_F(Layers, dense_contracts_the_last_axis) {
  const OneLayer layer{"dense", {{"units", 2}, {"activation", "relu"}}};
  const Variables variables{{"kernel", tensor({{1.0, 0.0}, {0.0, -1.0}, {2.0, 1.0}})},
                            {"bias", tensor({0.5, 0.0})}};
  expect_values<float>(layer({tensor({{1.0, 2.0, 3.0}})}, variables).outputs[0], {1, 2}, {7.5, 1});
  EXPECT_EQ(layer({ones({4, 5, 3})}, variables).outputs[0].shape(), (Shape{4, 5, 2}));
  EXPECT_EQ(layer.variables({ones({4, 5, 3})})[0].shape, (Shape{3, 2}));
  EXPECT_EQ(
      (OneLayer{"dense", {{"units", 2}, {"use_bias", false}}}.variables({ones({4, 3})}).size()),
      1U);
  expect_layer_gradient("dense", {{"units", 3}, {"activation", "tanh"}}, {sample({4, 5})});
  EXPECT_EQ(code_of([&] { return layer.variables({ones({4})}); }), ErrorCode::shape_mismatch);
}

TEST_F(Layers, convolutions_slide_over_space) {
  const Tensor x = reshape(iota({9}, DType::f32), {1, 3, 3, 1});
  const Variables ones_kernel{{"kernel", ones({2, 2, 1, 1})}, {"bias", tensor({1.0})}};
  expect_values<float>(
      OneLayer{"conv", {{"units", 1}, {"kernel_size", 2}}}({x}, ones_kernel).outputs[0],
      {1, 2, 2, 1}, {9, 13, 21, 25});
  const OneLayer first{"conv", {{"units", 1}, {"kernel_size", 2}, {"channels", "first"}}};
  expect_values<float>(first({reshape(x, {1, 1, 3, 3})}, ones_kernel).outputs[0], {1, 1, 2, 2},
                       {9, 13, 21, 25});
  const OneLayer same{"conv",
                      {{"units", 4}, {"kernel_size", {3, 1}}, {"padding", "same"}, {"strides", 2}}};
  const Tensor image = ones({2, 5, 6, 3});
  EXPECT_EQ(same.variables({image})[0].shape, (Shape{3, 1, 3, 4}));
  EXPECT_EQ(
      same({image}, {{"kernel", ones({3, 1, 3, 4})}, {"bias", zeros({4})}}).outputs[0].shape(),
      (Shape{2, 3, 3, 4}));
  EXPECT_EQ(
      (OneLayer{"conv", {{"units", 2}, {"kernel_size", 3}}}.variables({ones({2, 9, 4})})[0].shape),
      (Shape{3, 4, 2}))
      << "one axis of space";
  expect_layer_gradient("conv", {{"units", 2}, {"kernel_size", {2, 3}}, {"strides", {1, 2}}},
                        {sample({2, 4, 5, 3})});
  expect_layer_gradient("conv",
                        {{"units", 4},
                         {"kernel_size", 2},
                         {"feature_group_size", 2},
                         {"pads", {1, 0}},
                         {"kernel_dilation", 2}},
                        {sample({2, 6, 4})});
  expect_layer_gradient("depthwise_conv", {{"multiplier", 2}, {"kernel_size", 2}},
                        {sample({1, 3, 3, 2})});
  EXPECT_EQ(code_of([&] { return same.variables({ones({2, 3})}); }), ErrorCode::shape_mismatch);
  EXPECT_EQ(
      code_of([&] {
        return OneLayer{"conv", {{"units", 2}, {"kernel_size", {1, 2, 3}}}}.variables({image});
      }),
      ErrorCode::invalid_parameter);
  EXPECT_EQ(code_of([&] {
              return OneLayer{"conv", {{"units", 3}, {"feature_group_size", 2}}}.variables({image});
            }),
            ErrorCode::shape_mismatch);
}

TEST_F(Layers, a_depthwise_convolution_keeps_channels_apart) {
  const Tensor x = tensor({{{1.0, 10.0}, {2.0, 20.0}, {3.0, 30.0}}});
  const OneLayer layer{"depthwise_conv", {{"kernel_size", 2}, {"use_bias", false}}};
  EXPECT_EQ(layer.variables({x})[0].shape, (Shape{2, 1, 2}));
  expect_values<float>(layer({x}, {{"kernel", ones({2, 1, 2})}}).outputs[0], {1, 2, 2},
                       {3, 30, 5, 50});
}

TEST_F(Layers, pools_keep_one_number_of_each_window) {
  const Tensor x = reshape(tensor({1.0, 5.0, 2.0, 0.0, 3.0, 4.0, 8.0, 6.0}), {1, 2, 4, 1});
  const auto pooled = [&](const char* kind, const Params& options = {}) {
    return OneLayer{kind, options}({x}).outputs[0];
  };
  expect_values<float>(pooled("max_pool", {{"kernel_size", 2}}), {1, 1, 2, 1}, {5, 8});
  expect_values<float>(pooled("avg_pool", {{"kernel_size", 2}}), {1, 1, 2, 1}, {3.25, 4});
  expect_near(pooled("lp_pool", {{"kernel_size", {1, 2}}}), {std::sqrt(26), 2, 5, 10}, 1e-5);
  expect_values<float>(pooled("max_pool", {{"kernel_size", {1, 2}}, {"strides", 1}}), {1, 2, 3, 1},
                       {5, 5, 2, 4, 8, 8});
  expect_values<float>(
      pooled("avg_pool",
             {{"kernel_size", {1, 3}}, {"strides", 1}, {"padding", "same"}})[{0, 0, 0, 0}],
      {}, {2});
  expect_values<float>(pooled("global_max_pool"), {1, 1}, {8});
  expect_values<float>(pooled("global_avg_pool"), {1, 1}, {29.0 / 8});
  expect_values<float>(pooled("global_avg_pool", {{"keepdims", true}}), {1, 1, 1, 1}, {29.0 / 8});
  expect_near(pooled("global_lp_pool"), {std::sqrt(155.0)}, 1e-5);
  for (const char* const kind : {"max_pool", "avg_pool", "lp_pool"})
    expect_layer_gradient(kind, {{"kernel_size", 2}, {"strides", 1}},
                          {sample({2, 3, 4, 2}, 0.2, 2)});
  for (const char* const kind : {"global_max_pool", "global_avg_pool", "global_lp_pool"})
    expect_layer_gradient(kind, {}, {sample({2, 3, 4}, 0.2, 2)});
  EXPECT_EQ(code_of([&] {
              return pooled("max_pool", {{"kernel_size", 0}});
            }),
            ErrorCode::invalid_parameter);
}

TEST_F(Layers, normalisations_take_mean_and_variance_away) {
  const Tensor x = tensor<double>({{1.0, 2.0, 3.0, 6.0}, {0.0, 0.0, 4.0, 4.0}});
  const Variables plain{{"gamma", ones({4}, DType::f64)}, {"beta", zeros({4}, DType::f64)}};
  const OneLayer rows{"layer_norm", {{"epsilon", 0.0}}};
  const double a = std::sqrt(3.5);
  expect_near(rows({x}, plain).outputs[0], {-2 / a, -1 / a, 0, 3 / a, -1, -1, 1, 1}, 1e-9);
  const OneLayer groups{"group_norm", {{"groups", 2}, {"epsilon", 0.0}}};
  expect_near(
      groups({x + tensor<double>({{0.0, 0.0, 0.0, 0.0}, {0.0, 2.0, 0.0, 2.0}})}, plain).outputs[0],
      {-1, 1, -1, 1, -1, 1, -1, 1}, 1e-9);
  const OneLayer power{"rms_norm", {{"epsilon", 0.0}}};
  expect_near(power({x}, {{"gamma", ones({4}, DType::f64)}}).outputs[0],
              {1 / std::sqrt(12.5), 2 / std::sqrt(12.5), 3 / std::sqrt(12.5), 6 / std::sqrt(12.5),
               0, 0, std::sqrt(2.0), std::sqrt(2.0)},
              1e-9);
  expect_layer_gradient("layer_norm", {}, {sample({3, 4})});
  // Halves with variables of f32: those are not rounded to halves.
  const Tensor halves = as_type(sample({3, 4}, -1, 1, 1), DType::f16);
  const Variables fine{{"gamma", full({4}, 1.0001)}, {"beta", full({4}, 1e-5)}};
  const OneLayer norm{"layer_norm", {}};
  const Tensor mixed = norm({halves}, fine).outputs[0];
  EXPECT_EQ(mixed.dtype(), DType::f32);
  const Tensor wide = norm({as_type(halves, DType::f32)}, fine).outputs[0];
  expect_near(mixed, as_type(wide, DType::f64).to_vector<double>(), 1e-6);
  // Along any axis, and in groups: halves are widened once and rounded once.
  const Tensor narrow = as_type(sample({2, 4, 3}, -1, 1, 1), DType::f16);
  using Options = std::vector<std::pair<const char*, Params>>;
  for (const auto& [layer, options] :
       Options{{"layer_norm", {{"channel_index", 1}}},
               {"group_norm", {{"groups", 2}, {"channel_index", 1}}},
               {"instance_norm", {{"running", false}, {"channel_index", 1}}}}) {
    const OneLayer any{layer, options};
    expect_near(any({narrow}, fine).outputs[0],
                as_type(any({as_type(narrow, DType::f32)}, fine).outputs[0], DType::f64)
                    .to_vector<double>(),
                1e-6);
  }
  expect_layer_gradient("group_norm", {{"groups", 2}}, {sample({2, 3, 4})});
  expect_layer_gradient("rms_norm", {{"shift", 0.5}}, {sample({3, 4})});
  expect_layer_gradient("batch_norm", {}, {sample({3, 4})}, true);
  expect_layer_gradient("batch_norm", {}, {sample({3, 4})}, false);
  EXPECT_EQ(code_of([&] {
              return OneLayer{"group_norm", {{"groups", 3}}}.variables({x});
            }),
            ErrorCode::shape_mismatch);
}

TEST_F(Layers, batch_norm_remembers_what_it_saw) {
  const OneLayer layer{"batch_norm", {{"momentum", 0.75}, {"epsilon", 0.0}}};
  const Variables variables{{"gamma", tensor({2.0})},
                            {"beta", tensor({1.0})},
                            {"mean", tensor({4.0})},
                            {"var", tensor({9.0})}};
  const Tensor x = tensor({{1.0}, {5.0}});
  const auto trained = layer({x}, variables, true);
  expect_near(trained.outputs[0], {-1, 3}, 1e-6);
  expect_near(trained.states.at("mean"), {0.75 * 4 + 0.25 * 3}, 1e-6);
  expect_near(trained.states.at("var"), {0.75 * 9 + 0.25 * 4}, 1e-6);
  const auto inferred = layer({x}, variables);
  expect_near(inferred.outputs[0], {-1, 2.0 / 3 + 1}, 1e-6);
  EXPECT_TRUE(inferred.states.empty());
}

TEST_F(Layers, dropouts_leave_out_and_make_up_for_it) {
  const Tensor x = ones({200, 50, 4});
  for (const char* const kind :
       {"dropout", "spatial_dropout", "alpha_dropout", "feature_alpha_dropout"}) {
    const OneLayer layer{kind, {{"rate", 0.25}}};
    EXPECT_EQ(layer({x}).outputs[0].to_vector<float>(), x.to_vector<float>()) << kind;
    const Tensor y = layer({x}, {}, true).outputs[0];
    const auto values = y.to_vector<float>();
    const auto low = *std::ranges::min_element(values);
    const auto left = std::ranges::count(values, low);
    EXPECT_NEAR(static_cast<double>(left) / static_cast<double>(values.size()), 0.25, 0.03) << kind;
    EXPECT_EQ(layer({x}, {}, true).outputs[0].to_vector<float>(), values) << "of one key";
  }
  const auto channels =
      OneLayer{"spatial_dropout", {}}({x}, {}, true).outputs[0].to_vector<float>();
  for (std::size_t row = 0; row < 200; ++row)
    for (std::size_t place = 1; place < 50; ++place)
      for (std::size_t channel = 0; channel < 4; ++channel)
        ASSERT_EQ(channels[(row * 50 + place) * 4 + channel], channels[row * 200 + channel])
            << "a channel goes or stays as a whole";
  // What SELU makes of normal numbers keeps mean 0 and variance 1.
  const Tensor normal = random::normal(random::key(3), {400, 500}).values;
  const Tensor y = OneLayer{"alpha_dropout", {{"rate", 0.3}}}({normal}, {}, true).outputs[0];
  EXPECT_NEAR(mean(y).item<double>(), 0, 0.02);
  EXPECT_NEAR(variance(y).item<double>(), 1, 0.05);
  EXPECT_EQ(code_of([&] {
              return OneLayer{"dropout", {{"rate", 1.0}}}({x}, {}, true);
            }),
            ErrorCode::invalid_parameter);
  EXPECT_EQ(code_of([] {
              return OneLayer{"dropout", {{"rate", -0.1}}};
            }),
            ErrorCode::invalid_parameter);
}

TEST_F(Layers, shapes_change_and_the_batch_stays) {
  const Tensor x = reshape(iota({12}), {2, 2, 3});
  expect_values<int>(OneLayer{"flatten", {}}({x}).outputs[0], {2, 6},
                     {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11});
  EXPECT_EQ((OneLayer{"reshape", {{"shape", {3, -1}}}}({x}).outputs[0].shape()), (Shape{2, 3, 2}));
  expect_values<int>(OneLayer{"transpose", {{"permutation", {2, 1}}}}({x}).outputs[0], {2, 3, 2},
                     {0, 3, 1, 4, 2, 5, 6, 9, 7, 10, 8, 11});
  EXPECT_EQ((OneLayer{"transpose", {}}({x}).outputs[0].shape()), (Shape{2, 3, 2}));
  EXPECT_EQ((OneLayer{"flatten", {}}({zeros({0, 2, 3})}).outputs[0].shape()), (Shape{0, 6}));
  expect_values<float>(
      OneLayer{"activation", {{"function", "relu"}}}({tensor({{-1.0, 2.0}})}).outputs[0], {1, 2},
      {0, 2});
  expect_values<float>(
      OneLayer{"bias", {}}({ones({2, 2})}, {{"bias", tensor({1.0, 2.0})}}).outputs[0], {2, 2},
      {2, 3, 2, 3});
  EXPECT_EQ(code_of([&] {
              return OneLayer{"reshape", {{"shape", {4, 2}}}}({x});
            }),
            ErrorCode::shape_mismatch);
  EXPECT_EQ(code_of([&] {
              return OneLayer{"transpose", {{"permutation", {0, 1}}}}({x});
            }),
            ErrorCode::invalid_parameter);
}

TEST_F(Layers, several_inputs_become_one) {
  const Tensor a = tensor({{1.0, 2.0}, {3.0, 4.0}});
  const Tensor b = tensor({{10.0, 20.0}});
  const auto joined = [&](const char* kind) { return OneLayer{kind, {}}({a, b, b}).outputs[0]; };
  expect_values<float>(joined("add"), {2, 2}, {21, 42, 23, 44});
  expect_values<float>(joined("subtract"), {2, 2}, {-19, -38, -17, -36});
  expect_values<float>(joined("multiply"), {2, 2}, {100, 800, 300, 1600});
  expect_values<float>(OneLayer{"concatenate", {}}({a, a * 2}).outputs[0], {2, 4},
                       {1, 2, 2, 4, 3, 4, 6, 8});
  expect_values<float>(OneLayer{"stack_columns", {}}({a, reshape(a, {2, 2, 1})}).outputs[0], {2, 4},
                       {1, 2, 1, 2, 3, 4, 3, 4});
  EXPECT_EQ(code_of([&] {
              return OneLayer{"concatenate", {{"axis", 0}}}({a, a});
            }),
            ErrorCode::invalid_parameter);
  EXPECT_EQ(code_of([&] {
              return OneLayer{"add", {}}({a, ones({2, 3})});
            }),
            ErrorCode::shape_mismatch);
}

TEST_F(Layers, embeddings_look_up_and_keep_in_range) {
  const OneLayer layer{"embedding", {{"vocab_size", 3}, {"embedding_size", 2}}};
  const Variables variables{{"kernel", tensor({{0.0, 1.0}, {2.0, 3.0}, {4.0, 5.0}})}};
  expect_values<float>(layer({tensor({{1, 0}, {9, -2}})}, variables).outputs[0], {2, 2, 2},
                       {2, 3, 0, 1, 4, 5, 0, 1});
  EXPECT_EQ(layer.variables({tensor({{1}})})[0].initializer.name, "uniform");
  const Tensor slope = grad([&](const Tensor& kernel) {
    return sum(layer({tensor({{1, 1, 0}})}, {{"kernel", kernel}}).outputs[0]);
  })(variables.at("kernel"));
  expect_values<float>(slope, {3, 2}, {1, 1, 2, 2, 0, 0});
  EXPECT_EQ(code_of([&] { return layer.variables({ones({2, 2})}); }), ErrorCode::dtype_mismatch);
}

}  // namespace
}  // namespace stoker::nn
