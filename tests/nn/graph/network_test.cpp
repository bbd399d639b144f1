// Graphs of layers: order, names, shapes, and what is refused before anything runs.
#include "stoker/api/nn/graph/network.hpp"
#include "stoker/api/nn/layers.hpp"
#include "stoker/api/tensor/core/creation.hpp"
#include "stoker/api/tensor/math/elementwise.hpp"
#include "stoker/api/tensor/math/random.hpp"
#include "stoker/api/tensor/views/manipulation.hpp"

#include "stoker/tests/nn/refused.hpp"
#include "stoker/tests/tensor/fixture.hpp"

namespace stoker::nn {
namespace {

class Networks : public Tensors {
 protected:
  static std::vector<std::string> names(const Network& network) {
    std::vector<std::string> all;
    for (const LayerInfo& layer : network.layers()) all.push_back(layer.name);
    return all;
  }
};

TEST_F(Networks, of_very_many_layers_end_without_running_out_of_stack) {
  const Layer same{layers::Flatten{}};
  Node y = input({1});
  for (int i = 0; i < 500'000; ++i) y = same(y);
  EXPECT_EQ(y.inputs().size(), 1U);
  y = input({1});
  EXPECT_TRUE(y.is_input());
}

TEST_F(Networks, know_names_shapes_and_parameters_before_anything_runs) {
  const Node x = input({28, 28, 1});
  Node y = conv(x, 4, {.kernel_size = 3, .activation = relu});
  y = max_pool(y, {2});
  y = dense(flatten(y), 10, {.name = "scores"});
  const Network network{y};
  EXPECT_EQ(names(network),
            (std::vector<std::string>{"conv_0", "max_pool_0", "flatten_0", "scores"}));
  EXPECT_EQ(network.layer("conv_0").outputs[0].to_string(), "[batch, 26, 26, 4]");
  EXPECT_EQ(network.layer("flatten_0").outputs[0].to_string(), "[batch, 676]");
  EXPECT_EQ(network.outputs()[0].to_string(), "[batch, 10]");
  EXPECT_EQ(network.layer("conv_0").parameters(), 3U * 3 * 1 * 4 + 4);
  EXPECT_EQ(network.layer("scores").parameters(), 6760U + 10);
  EXPECT_EQ(network.layer("scores").inputs, (std::vector<std::string>{"flatten_0"}));
  EXPECT_EQ(network.inputs()[0].row.to_string(), "[batch, 28, 28, 1]");
}

TEST_F(Networks, compute_what_their_layers_say) {
  const Node x = input({2});
  const Network network{dense(x, 1, {.activation = relu, .name = "d"})};
  const Variables variables{{"d.kernel", tensor({{1.0}, {-2.0}})}, {"d.bias", tensor({0.5})}};
  expect_values<float>(
      network.forward(variables, std::vector{tensor({{3.0, 1.0}, {0.0, 4.0}})}).outputs[0], {2, 1},
      {1.5, 0});
}

TEST_F(Networks, share_the_parameters_of_a_layer_that_is_applied_twice) {
  const Node a = input("a", {3});
  const Node b = input("b", {3});
  const Layer shared{layers::Dense{.units = 2, .name = "shared"}};
  const Network network{concatenate({shared(a), shared(b)})};
  EXPECT_EQ(network.layer("shared").applications, 2U);
  EXPECT_EQ(network.initialize(random::key(1)).size(), 2U);
  const Variables variables = network.initialize(random::key(1));
  const Tensor x = tensor({{1.0, 2.0, 3.0}});
  const auto y = network.forward(variables, std::vector{x, x}).outputs[0].to_vector<float>();
  EXPECT_EQ(y[0], y[2]);
  EXPECT_EQ(y[1], y[3]);
  const Error other = error_of([&] { return Network{add({shared(a), shared(dense(b, 4))})}; });
  EXPECT_EQ(other.code(), ErrorCode::shape_mismatch);
  EXPECT_EQ(other.detail("layer"), "shared");
}

TEST_F(Networks, may_have_several_inputs_and_outputs_and_ways_around) {
  const Node a = input("left", {4});
  const Node b = input("right", {4});
  const Node h = dense(a + b, 4, {.activation = tanh});
  const Network network{{h + a, dense(h, 2)}};
  EXPECT_EQ(network.inputs().size(), 2U);
  EXPECT_EQ(network.outputs().size(), 2U);
  const auto outputs =
      network.forward(network.initialize(random::key(1)), std::vector{ones({3, 4}), ones({3, 4})})
          .outputs;
  EXPECT_EQ(outputs[0].shape(), (Shape{3, 4}));
  EXPECT_EQ(outputs[1].shape(), (Shape{3, 2}));
}

TEST_F(Networks, take_functions_of_the_program) {
  const Node x = input({2});
  const Node y = function(
      {x}, [](std::span<const Tensor> in) { return in[0] * in[0]; }, "square");
  const Network network{y};
  expect_values<float>(network.forward({}, std::vector{tensor({{2.0, 3.0}})}).outputs[0], {1, 2},
                       {4, 9});
  const Error error = error_of([&] { return network.to_json(); });
  EXPECT_EQ(error.code(), ErrorCode::unsupported);
  EXPECT_EQ(error.detail("layer"), "square");
}

TEST_F(Networks, begin_with_the_same_numbers_for_the_same_key) {
  const Network network{dense(dense(input({8}), 8), 2)};
  const Variables one = network.initialize(random::key(5));
  const Variables same = network.initialize(random::key(5));
  const Variables other = network.initialize(random::key(6));
  for (const auto& [name, tensor] : one)
    EXPECT_EQ(tensor.to_vector<float>(), same.at(name).to_vector<float>());
  EXPECT_NE(one.at("dense_0.kernel").to_vector<float>(),
            other.at("dense_0.kernel").to_vector<float>());
  EXPECT_NE(one.at("dense_0.kernel").to_vector<float>()[0],
            one.at("dense_1.kernel").to_vector<float>()[0]);
}

TEST_F(Networks, draw_other_numbers_with_other_keys_and_none_at_inference) {
  const Network network{dropout(input({100}), 0.5)};
  const std::vector<Tensor> x{ones({1, 100})};
  EXPECT_EQ(network.forward({}, x).outputs[0].to_vector<float>(), std::vector<float>(100, 1));
  const auto draw = [&](std::uint64_t seed) {
    return network.forward({}, x, Mode::training, random::key(seed)).outputs[0].to_vector<float>();
  };
  EXPECT_EQ(draw(1), draw(1));
  EXPECT_NE(draw(1), draw(2));
  for (const float value : draw(1)) EXPECT_TRUE(value == 0 || value == 2) << value;
}

TEST_F(Networks, keep_what_layers_learn_while_training) {
  const Network network{batch_norm(input({2}), {.name = "norm"})};
  const Variables variables = network.initialize(random::key(1));
  const auto result =
      network.forward(variables, std::vector{tensor({{1.0, 0.0}, {3.0, 0.0}})}, Mode::training);
  expect_near(result.outputs[0], {-1, 0, 1, 0}, 1e-4);
  // A tenth of the old is left.
  expect_near(result.states.at("norm.mean"), {1.8, 0}, 1e-6);
  expect_near(result.states.at("norm.var"), {1, 0.1}, 1e-6);
  EXPECT_TRUE(network.forward(variables, std::vector{ones({2, 2})}).states.empty());
  EXPECT_TRUE(network.is_parameter("norm.gamma"));
  EXPECT_FALSE(network.is_parameter("norm.mean"));
}

TEST_F(Networks, come_back_from_their_text) {
  const Node x = input("x", {6, 6, 2});
  const Layer shared{layers::Dense{.units = 3, .activation = "leaky_relu(alpha=0.2)"}};
  const Node flat = flatten(conv(x, 2, {.kernel_size = {2, 3}}));
  const Network network{{shared(shared(dense(flat, 3))), flat}};
  const Network again = Network::from_json(network.to_json());
  EXPECT_EQ(names(again), names(network));
  EXPECT_EQ(again.to_json(), network.to_json());
  const Variables variables = network.initialize(random::key(2));
  again.check(variables);
  const std::vector<Tensor> in{reshape(iota({2 * 72}, DType::f32) * 0.01, {2, 6, 6, 2})};
  for (std::size_t i = 0; i < 2; ++i)
    EXPECT_EQ(again.forward(variables, in).outputs[i].to_vector<float>(),
              network.forward(variables, in).outputs[i].to_vector<float>());
  EXPECT_NE(network.to_dot().find("\"x\" -> \"conv_0\""), std::string::npos);
  for (const char* const text :
       {"", "{", "[]", "{\"format\": 2}", "{\"format\": 1}",
        R"({"format":1,"inputs":[],"layers":[],"steps":[],"outputs":[["step",0,0]]})",
        R"({"format":1,"inputs":[{"name":"x","dtype":"f32","shape":[2]}],"layers":[],"steps":[],)"
        R"("outputs":[["input",0.5,0]]})",
        R"({"format":1,"inputs":[{"name":"x","dtype":"f32","shape":[2.5]}],"layers":[],"steps":[],)"
        R"("outputs":[["input",0,0]]})",
        R"({"format":1e300,"inputs":[],"layers":[],"steps":[],"outputs":[]})"})
    EXPECT_EQ(error_of([&] { return Network::from_json(text); }).code(),
              ErrorCode::invalid_argument)
        << text;
}

TEST_F(Networks, come_back_from_text_with_earlier_names_of_options) {
  const Network network{Layer{layers::GlobalAvgPool{.keepdims = true}}(input({2, 2, 1}))};
  const std::string now = "keepdims";
  std::string text = network.to_json();
  ASSERT_NE(text.find(now), std::string::npos);
  text.replace(text.find(now), now.size(), "keep_axes");
  EXPECT_EQ(Network::from_json(text).to_json(), network.to_json());
}

TEST_F(Networks, refuse_at_once_and_name_the_layer) {
  const Node x = input({4});
  const Error shape = error_of([&] { return Network{conv(x, 2, {.name = "eye"})}; });
  EXPECT_EQ(shape.code(), ErrorCode::shape_mismatch);
  EXPECT_EQ(shape.detail("layer"), "eye");
  EXPECT_NE(std::string{shape.reason()}.find("layer 'eye' (conv)"), std::string::npos);
  EXPECT_EQ(error_of([&] {
              return Network{add({dense(x, 2), dense(x, 3)})};
            }).detail("layer"),
            "add_0");
  EXPECT_EQ(error_of([&] { return dense(x, 0); }).code(), ErrorCode::invalid_parameter);
  EXPECT_EQ(error_of([&] { return Layer{"dens(units=1)"}; }).code(), ErrorCode::not_found);
  EXPECT_EQ(error_of([&] {
              return Layer{layers::Dense{.units = 1}}({x, x});
            }).code(),
            ErrorCode::arity_mismatch);
  EXPECT_EQ(error_of([&] {
              return Network{dense(dense(x, 2, {.name = "same"}), 2, {.name = "same"})};
            }).code(),
            ErrorCode::already_exists);
  EXPECT_EQ(error_of([&] { return Network{dense(x, 2, {.name = "a.b"})}; }).code(),
            ErrorCode::invalid_argument);
  EXPECT_EQ(error_of([&] { return Network{x}; }).code(), ErrorCode::invalid_argument);
  EXPECT_EQ(error_of([&] { return Network{std::vector<Node>{}}; }).code(),
            ErrorCode::invalid_argument);
}

TEST_F(Networks, refuse_inputs_and_variables_that_do_not_fit) {
  const Network network{dense(input("x", {4}), 2, {.name = "d"})};
  const Variables good = network.initialize(random::key(1));
  const auto forward = [&](const Variables& variables, std::vector<Tensor> inputs) {
    return error_of([&] { return network.forward(variables, inputs).outputs[0]; });
  };
  const Error wide = forward(good, {ones({2, 5})});
  EXPECT_EQ(wide.code(), ErrorCode::shape_mismatch);
  EXPECT_EQ(wide.reason(), "input 'x': expected f32[batch, 4], got f32[2,5]");
  EXPECT_EQ(forward(good, {ones({2, 4}, DType::s32)}).code(), ErrorCode::dtype_mismatch);
  EXPECT_EQ(forward(good, {}).code(), ErrorCode::arity_mismatch);
  EXPECT_EQ(forward({}, {ones({2, 4})}).code(), ErrorCode::not_found);
  Variables bad = good;
  bad["d.kernel"] = ones({4, 3});
  EXPECT_EQ(error_of([&] { return network.check(bad), 0; }).code(), ErrorCode::shape_mismatch);
  bad = good;
  bad["e.kernel"] = ones({4, 3});
  EXPECT_EQ(error_of([&] { return network.check(bad), 0; }).detail("variable"), "e.kernel");
  EXPECT_EQ(error_of([&] { return network.layer("f"); }).code(), ErrorCode::not_found);
}

}  // namespace
}  // namespace stoker::nn
