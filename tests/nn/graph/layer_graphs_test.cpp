// Layers with several inputs and outputs, and graphs made of them: ways around, parts and merges.
#include "stoker/api/nn/graph/block.hpp"
#include "stoker/api/nn/graph/network.hpp"
#include "stoker/api/nn/layers.hpp"
#include "stoker/api/tensor/core/creation.hpp"
#include "stoker/api/tensor/math/random.hpp"
#include "stoker/api/tensor/math/reductions.hpp"
#include "stoker/api/tensor/views/manipulation.hpp"
#include "stoker/api/train/model/model.hpp"
#include "stoker/tests/nn/layer_fixture.hpp"
#include "stoker/tests/nn/refused.hpp"
#include "stoker/tests/tensor/differences.hpp"

namespace stoker::nn {
namespace {

using LayerGraphs = Tensors;

TEST_F(LayerGraphs, a_split_has_an_output_for_each_part) {
  const Tensor x = tensor({{1.0, 2.0, 3.0, 4.0}, {5.0, 6.0, 7.0, 8.0}});
  const auto halves = OneLayer{"split", {{"splits", 2}}}({x}).outputs;
  ASSERT_EQ(halves.size(), 2U);
  expect_values<float>(halves[0], {2, 2}, {1, 2, 5, 6});
  expect_values<float>(halves[1], {2, 2}, {3, 4, 7, 8});
  const auto sizes = OneLayer{"split", {{"splits", {1, 3}}, {"axis", 1}}}({x}).outputs;
  expect_values<float>(sizes[0], {2, 1}, {1, 5});
  expect_values<float>(sizes[1], {2, 3}, {2, 3, 4, 6, 7, 8});
}

TEST_F(LayerGraphs, a_split_that_does_not_come_out_even_is_refused_by_name) {
  const Node x = input({6});
  const auto refused = [&](const Params& options) {
    return error_of([&] { return Network{Layer{Named{"split", options}, "it"}.outputs({x})}; });
  };
  const Error parts = refused({{"splits", 4}});
  EXPECT_EQ(parts.code(), ErrorCode::shape_mismatch);
  EXPECT_EQ(parts.detail("layer"), "it");
  EXPECT_EQ(parts.reason(), "layer 'it' (split): an extent of 6 has no 4 equal parts");
  const Error sizes = refused({{"splits", {1, 2}}});
  EXPECT_EQ(sizes.code(), ErrorCode::shape_mismatch);
  EXPECT_EQ(sizes.reason(), "layer 'it' (split): the sizes add up to 3, the extent is 6");
  const Error batch = refused({{"splits", 2}, {"axis", 0}});
  EXPECT_EQ(batch.code(), ErrorCode::invalid_parameter);
  EXPECT_EQ(batch.detail("parameter"), "axis");
  EXPECT_EQ(refused({{"splits", 2}, {"axis", 2}}).code(), ErrorCode::invalid_parameter);
  EXPECT_EQ(refused({{"splits", {3, 0, 3}}}).code(), ErrorCode::invalid_parameter);
  EXPECT_EQ(refused({{"splits", std::vector<std::int64_t>{}}}).code(),
            ErrorCode::invalid_parameter);
}

TEST_F(LayerGraphs, bilinear_layers_multiply_two_inputs) {
  const OneLayer layer{"bilinear", {{"units", 1}}};
  const Tensor a = reshape(iota({6}, DType::f32), {3, 2});
  const Tensor b = reshape(iota({12}, DType::f32), {3, 4});
  EXPECT_EQ(layer.variables({a, b})[0].shape, (Shape{1, 2, 4}));
  // The example of Axon's documentation.
  const Variables variables{{"kernel", reshape(iota({8}, DType::f32), {1, 2, 4})},
                            {"bias", tensor({1.0})}};
  expect_values<float>(layer({a, b}, variables).outputs[0], {3, 1}, {39, 455, 1319});
  EXPECT_EQ((layer.variables({zeros({2, 3, 4}), zeros({2, 3, 5})})[0].shape), (Shape{1, 4, 5}));
  const Error refused = error_of([] {
    return Network{bilinear(input("a", {3, 4}), input("b", {2, 4}), 2, {.name = "it"})};
  });
  EXPECT_EQ(refused.code(), ErrorCode::shape_mismatch);
  EXPECT_EQ(refused.detail("layer"), "it");
  EXPECT_EQ(code_of([] { return Layer{layers::Bilinear{.units = 1}}(input({2})); }),
            ErrorCode::arity_mismatch);
}

TEST_F(LayerGraphs, cond_takes_the_second_input_or_the_third) {
  const OneLayer layer{"cond", {}};
  const Tensor yes = tensor({{1.0, 2.0}, {3.0, 4.0}});
  const Tensor no = -yes;
  expect_values<float>(layer({tensor({1, 0}), yes, no}).outputs[0], {2, 2}, {1, 2, -3, -4});
  expect_values<float>(layer({tensor({{0, 1}, {1, 0}}), yes, no}).outputs[0], {2, 2},
                       {-1, 2, 3, -4});
  expect_values<float>(layer({tensor(0), yes, no}).outputs[0], {2, 2}, {-1, -2, -3, -4});
}

TEST_F(LayerGraphs, columns_that_are_ignored_are_left_out) {
  const Tensor x = tensor({{1.0}, {2.0}});
  expect_values<float>(OneLayer{"stack_columns", {{"ignore", {0, 2}}}}({x, x * 10, x}).outputs[0],
                       {2, 1}, {10, 20});
  EXPECT_EQ(code_of([&] {
              return OneLayer{"stack_columns", {{"ignore", 0}}}({x});
            }),
            ErrorCode::invalid_parameter);
}

TEST_F(LayerGraphs, norms_follow_where_channels_are) {
  const Tensor x = sample({2, 4, 3});  // channels in the middle
  const Tensor last = transpose(x, Axes{0, 2, 1});
  const Variables learnt{{"gamma", sample({4}, 0.5, 1.5, 2)},
                         {"beta", sample({4}, -1, 1, 3)},
                         {"mean", sample({4}, -1, 1, 4)},
                         {"var", sample({4}, 0.5, 1.5, 5)}};
  for (const char* const kind :
       {"batch_norm", "instance_norm", "layer_norm", "group_norm", "rms_norm"}) {
    for (const bool training : {false, true}) {
      SCOPED_TRACE(kind);
      Params options;
      if (std::string_view{kind} == "group_norm") options.set("groups", std::int64_t{2});
      const Tensor want = OneLayer{kind, options}({last}, learnt, training).outputs[0];
      options.set("channel_index", std::int64_t{1});
      const Tensor got = OneLayer{kind, options}({x}, learnt, training).outputs[0];
      expect_near(transpose(got, Axes{0, 2, 1}), want.to_vector<double>(), 1e-12);
    }
  }
  EXPECT_EQ(code_of([&] {
              return OneLayer{"layer_norm", {{"channel_index", 0}}}.variables({x});
            }),
            ErrorCode::invalid_parameter);
}

TEST_F(LayerGraphs, instance_norm_looks_at_each_row_alone_and_remembers_the_mean) {
  const Tensor x = reshape(tensor({1.0, 3.0, 10.0, 30.0}), {2, 2, 1});
  const Variables variables{{"gamma", tensor({1.0})},
                            {"beta", tensor({0.0})},
                            {"mean", tensor({7.0})},
                            {"var", tensor({4.0})}};
  const OneLayer layer{"instance_norm", {{"epsilon", 0.0}, {"momentum", 0.5}}};
  const auto trained = layer({x}, variables, true);
  expect_near(trained.outputs[0], {-1, 1, -1, 1});
  expect_near(trained.states.at("mean"), {0.5 * 7 + 0.5 * 11});
  expect_near(trained.states.at("var"), {0.5 * 4 + 0.5 * (1 + 100) / 2});
  expect_near(layer({x}, variables).outputs[0], {-3, -2, 1.5, 11.5});

  const OneLayer own{"instance_norm", {{"epsilon", 0.0}, {"running", false}}};
  EXPECT_EQ(own.variables({x}).size(), 2U) << "nothing to remember";
  expect_near(own({x}, variables).outputs[0], {-1, 1, -1, 1});
  const Error flat =
      error_of([] { return Network{Layer{layers::InstanceNorm{.name = "it"}}(input({4}))}; });
  EXPECT_EQ(flat.code(), ErrorCode::shape_mismatch);
  EXPECT_EQ(flat.detail("layer"), "it");
}

// Both ways ---------------------------------------------------------------------------------------

TEST_F(LayerGraphs, bidirectional_is_two_layers_and_a_merge) {
  const Tensor x = sample({2, 4, 3});
  const Tensor mask = tensor({{0, 0, 0, 0}, {0, 0, 1, 1}});
  for (const std::string cell : {"lstm", "gru"}) {
    SCOPED_TRACE(cell);
    const OneLayer both{"bidirectional",
                        {{"units", 2}, {"cell", cell}, {"merge", "add"}, {"padding_mask", true}}};
    Variables variables;
    for (const VariableSpec& spec : both.variables({x, mask}))
      variables[spec.name] = sample(spec.shape, -1, 1, static_cast<double>(variables.size()));
    const auto one_way = [&](const std::string& prefix, bool reverse) {
      Variables own;
      for (const auto& [name, value] : variables)
        if (name.starts_with(prefix)) own[name.substr(prefix.size())] = value;
      const Params options{{"units", 2}, {"reverse", reverse}, {"padding_mask", true}};
      return OneLayer{cell, options}({x, mask}, own).outputs;
    };
    const auto there = one_way("forward_", false);
    const auto back = one_way("backward_", true);
    const auto got = both({x, mask}, variables).outputs;
    ASSERT_EQ(got.size(), there.size());
    for (std::size_t k = 0; k < got.size(); ++k)
      expect_near(got[k], (there[k] + back[k]).to_vector<double>(), 1e-12);
  }
}

TEST_F(LayerGraphs, bidirectional_layers_take_states_of_each_way) {
  const Tensor x = sample({2, 3, 2});
  const OneLayer both{"bidirectional", {{"units", 2}, {"cell", "gru"}}};
  const OneLayer one{"gru", {{"units", 2}}};
  const Tensor there = sample({2, 2}, -1, 1, 2);
  const Tensor back = sample({2, 2}, -1, 1, 3);
  Variables variables;
  Variables own;
  for (const VariableSpec& spec : one.variables({x, there})) {
    own[spec.name] = sample(spec.shape, -1, 1, static_cast<double>(own.size()));
    variables["forward_" + spec.name] = variables["backward_" + spec.name] = own[spec.name];
  }
  const auto got = both({x, there, back}, variables).outputs;
  EXPECT_EQ(got[0].shape(), (Shape{2, 3, 4}));
  expect_near(slice_along_axis(got[1], 0, 2, 1),
              one({x, there}, own).outputs[1].to_vector<double>(), 1e-12);
  const OneLayer reversed{"gru", {{"units", 2}, {"reverse", true}}};
  expect_near(slice_along_axis(got[1], 2, 2, 1),
              reversed({x, back}, own).outputs[1].to_vector<double>(), 1e-12);
  const Error few = error_of([&] { return both.variables({x, there}); });
  EXPECT_EQ(few.code(), ErrorCode::arity_mismatch);
  EXPECT_EQ(few.reason(), "expected a sequence, or one and 1 states for each way; got 2 inputs");
}

TEST_F(LayerGraphs, both_ways_may_share_their_weights) {
  const OneLayer shared{"bidirectional", {{"units", 2}, {"shared_weights", true}}};
  const OneLayer one{"lstm", {{"units", 2}}};
  const Tensor x = zeros({1, 3, 2});
  const auto names = [&](const OneLayer& layer) {
    std::vector<std::string> all;
    for (const VariableSpec& spec : layer.variables({x})) all.push_back(spec.name);
    return all;
  };
  EXPECT_EQ(names(shared), names(one));
  Variables variables;
  for (const VariableSpec& spec : one.variables({x})) variables[spec.name] = ones(spec.shape);
  const auto y = shared({x}, variables).outputs[0].to_vector<float>();
  // Of steps that are all the same, the way back is the way there turned round.
  for (std::size_t step = 0; step < 3; ++step) EXPECT_EQ(y[step * 4], y[(2 - step) * 4 + 2]);
}

TEST_F(LayerGraphs, bidirectional_layers_that_cannot_be_are_refused_by_name) {
  const Error flat = error_of(
      [] { return Network{Layer{layers::Bidirectional{.units = 2, .name = "it"}}(input({4}))}; });
  EXPECT_EQ(flat.code(), ErrorCode::shape_mismatch);
  EXPECT_EQ(flat.detail("layer"), "it");
  EXPECT_EQ(code_of([] { return Layer{"bidirectional(units=2, cell=rnn)"}; }),
            ErrorCode::invalid_parameter);
  EXPECT_EQ(code_of([] { return Layer{"bidirectional(units=2, reverse=true)"}; }),
            ErrorCode::invalid_parameter);
}

// Graphs ------------------------------------------------------------------------------------------

TEST_F(LayerGraphs, a_residual_block_adds_what_it_was_given) {
  const Node x = input({4, 4, 2});
  Node y = conv(x, 2, {.kernel_size = 3, .padding = same, .name = "first"});
  y = Layer{layers::BatchNorm{}}(y);
  y = conv(activation(y, relu), 2, {.kernel_size = 3, .padding = same, .name = "second"});
  const Network network{y + x};
  EXPECT_EQ(network.outputs()[0].to_string(), "[batch, 4, 4, 2]");
  Variables variables = network.initialize(random::key(1));
  // A block that has learnt nothing to add lets everything through.
  variables["second.kernel"] = zeros({3, 3, 2, 2});
  const Tensor given = as_type(sample({3, 4, 4, 2}), DType::f32);
  EXPECT_EQ(network.forward(variables, std::vector{given}).outputs[0].to_vector<float>(),
            given.to_vector<float>());
  const Error other = error_of([&] { return Network{add({conv(x, 3), x}, {.name = "sum"})}; });
  EXPECT_EQ(other.code(), ErrorCode::shape_mismatch);
  EXPECT_EQ(other.detail("layer"), "sum");
}

TEST_F(LayerGraphs, the_gradient_of_a_residual_block_goes_both_ways) {
  const Node x = input("input", {3}, DType::f64);
  const Network network{dense(x, 3, {.activation = tanh, .name = "inner"}) + x};
  expect_gradient(
      [&](const std::vector<Tensor>& at) {
        const Variables variables{{"inner.kernel", at[1]}, {"inner.bias", at[2]}};
        return network.forward(variables, std::vector{at[0]}).outputs[0];
      },
      {sample({2, 3}), sample({3, 3}, -1, 1, 2), sample({3}, -1, 1, 3)});
}

TEST_F(LayerGraphs, several_inputs_part_and_meet_and_give_several_outputs) {
  const Node a = input("a", {2});
  const Node b = input("b", {4});
  const std::vector<Node> parts = split(b, {2}, -1, {.name = "parts"});
  const Node joined = concatenate({a, parts[1]});
  const Node scaled =
      Layer{layers::Multiply{}}({parts[0], constant(tensor({10.0, 100.0}), "scale")});
  const Network network{{scaled, joined, parts[0] + a}};
  EXPECT_EQ(network.inputs().size(), 2U);
  EXPECT_EQ(network.layer("parts").outputs.size(), 2U);
  EXPECT_EQ(network.layer("parts").outputs[1].to_string(), "[batch, 2]");
  EXPECT_EQ(network.outputs()[1].to_string(), "[batch, 4]");
  std::map<std::string, Tensor> given{{"a", tensor({{1.0, 2.0}})},
                                      {"b", tensor({{3.0, 4.0, 5.0, 6.0}})}};
  std::vector<Tensor> in_order;
  for (const auto& one : network.inputs()) in_order.push_back(given.at(one.name));
  const auto outputs = network.forward({}, in_order).outputs;
  ASSERT_EQ(outputs.size(), 3U);
  expect_values<float>(outputs[0], {1, 2}, {30, 400});
  expect_values<float>(outputs[1], {1, 4}, {1, 2, 5, 6});
  expect_values<float>(outputs[2], {1, 2}, {4, 6});
}

TEST_F(LayerGraphs, a_block_has_one_set_of_parameters_wherever_it_is_applied) {
  const Block residual{[](const Node& x) {
    return dense(dense(x, 5, {.name = "wide"}), 3, {.name = "narrow"}) + x;
  }};
  const Node x = input({3});
  const Network once{residual(x)};
  const Network twice{residual(residual(x))};
  EXPECT_EQ(twice.layer("wide").applications, 2U);
  const Variables variables = twice.initialize(random::key(1));
  EXPECT_EQ(variables.size(), 4U);
  const std::vector<Tensor> given{as_type(sample({2, 3}), DType::f32)};
  const Tensor first = once.forward(variables, given).outputs[0];
  EXPECT_EQ(twice.forward(variables, given).outputs[0].to_vector<float>(),
            once.forward(variables, std::vector{first}).outputs[0].to_vector<float>());
}

TEST_F(LayerGraphs, a_block_may_have_several_inputs_and_outputs) {
  const Block swap{2, [](std::span<const Node> in) {
                     return std::vector<Node>{in[1], in[0] + in[1]};
                   }};
  const std::vector<Node> start{input("a", {1}), input("b", {1})};
  const Network network{swap.outputs(swap.outputs(start))};
  const auto outputs = network.forward({}, std::vector{tensor({{1.0}}), tensor({{2.0}})}).outputs;
  expect_values<float>(outputs[0], {1, 1}, {3});
  expect_values<float>(outputs[1], {1, 1}, {5});
  EXPECT_EQ(code_of([&] { return swap(start[0]); }), ErrorCode::arity_mismatch);
  const Error outside =
      error_of([&] { return Block{[&](const Node& x) { return x + start[1]; }}; });
  EXPECT_EQ(outside.code(), ErrorCode::invalid_argument);
  EXPECT_EQ(outside.detail("input"), "b");
  EXPECT_EQ(code_of([] { return Block{[](const Node&) { return Node{}; }}; }),
            ErrorCode::invalid_argument);
}

TEST_F(LayerGraphs, an_image_goes_down_and_up_again) {
  const Node x = input({8, 8, 1});
  const Node down = conv(x, 4, {.kernel_size = 3, .strides = 2, .padding = same});
  const Node up = conv_transpose(down, 1, {.kernel_size = 3, .strides = 2, .padding = same});
  const Node around =
      resize(Layer{layers::BlurPool{.strides = 2}}(x), {8}, {.method = Resampling::bicubic});
  const Network network{concatenate({up, around, x})};
  EXPECT_EQ(network.outputs()[0].to_string(), "[batch, 8, 8, 3]");
  const Variables variables = network.initialize(random::key(1));
  EXPECT_EQ(network.forward(variables, std::vector{zeros({3, 8, 8, 1})}).outputs[0].shape(),
            (Shape{3, 8, 8, 3}));
}

TEST_F(LayerGraphs, layers_with_lists_and_several_outputs_come_back_from_their_text) {
  const Node x = input({6, 4});
  const auto ways =
      Layer{layers::Bidirectional{.cell = layers::Cell::gru, .units = 2}}.outputs({x});
  const auto parts = split(ways[0], {1, 3});
  const Node image = resize(reshape(parts[1], {6, 3, 1}), {4, 5}, {.method = Resampling::lanczos5});
  const Node even = Layer{layers::InstanceNorm{.channel_index = -1}}(image);
  const Network network{{flatten(even), ways[1], parts[0]}};
  const Network again = Network::from_json(network.to_json());
  EXPECT_EQ(again.to_json(), network.to_json());
  const Variables variables = network.initialize(random::key(1));
  again.check(variables);
  const std::vector<Tensor> given{as_type(sample({2, 6, 4}), DType::f32)};
  const auto want = network.forward(variables, given).outputs;
  const auto got = again.forward(variables, given).outputs;
  ASSERT_EQ(got.size(), 3U);
  for (std::size_t i = 0; i < 3; ++i)
    EXPECT_EQ(got[i].to_vector<float>(), want[i].to_vector<float>());
}

TEST_F(LayerGraphs, models_learn_through_these_layers) {
  // Images back from smaller ones, sequences' sums from both ways.
  const Node image = input({4, 4, 1});
  Node up = conv(image, 4, {.kernel_size = 2, .strides = 2, .activation = tanh});
  up = conv_transpose(Layer{layers::InstanceNorm{.running = false}}(up), 1,
                      {.kernel_size = 2, .strides = 2});
  const Node sequence = input({3, 2});
  const Node both = Layer{layers::Bidirectional{.units = 4}}.outputs({sequence})[1];
  const Tensor images = as_type(sample({8, 4, 4, 1}), DType::f32);
  const Tensor sequences = as_type(sample({8, 3, 2}), DType::f32);
  const auto learns = [](const Node& y, const Tensor& x, const Tensor& wanted) {
    Model model{Network{y}, {.loss = "mse", .optimizer = "adam", .learning_rate = 0.02, .seed = 1}};
    const double before = model.train_step({{x}, {wanted}, 8}).item<double>();
    double after = before;
    for (int step = 0; step < 100; ++step)
      after = model.train_step({{x}, {wanted}, 8}).item<double>();
    EXPECT_LT(after, before / 2);
  };
  learns(up, images, images);
  learns(dense(both, 1), sequences, reshape(sum(sequences, {Axes{1, 2}}), {8, 1}));
}

}  // namespace
}  // namespace stoker::nn
