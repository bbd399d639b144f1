// Training through layers against what NumPy computed (golden/training_layers.py):
// four steps, the statistics that layers keep, and what the network predicts afterwards.
#include <functional>
#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include "stoker/api/nn/layers.hpp"
#include "stoker/tests/nn/golden_run.hpp"
#include "stoker/tests/tensor/fixture.hpp"

namespace stoker::nn {
namespace {

using nlohmann::json;

const json& golden() {
  static const json read = golden_file("training_layers");
  return read;
}

using Nodes = std::vector<Node>;

Node layer(const char* kind, const Params& options, const Node& x, const char* name = "") {
  return Layer{Named{kind, options}, name}(x);
}
Node act(const char* function, const Node& x) { return activation(x, function); }
Node out(const Node& x) { return dense(x, 2, {.name = "out"}); }
Node first(const Nodes& in) { return in[0]; }

Node shared(const Nodes& in) {
  const Layer a{layers::Dense{.units = 3, .name = "a"}};
  const Node x = a(in[0]);
  const Node y = a(in[1]);
  return out(concatenate({Layer{layers::Multiply{}}({x, y}), Layer{layers::Subtract{}}({x, y})}));
}

Node words(const Nodes& in) {
  const Node x = embedding(in[0], 5, 3, {.name = "words"});
  return out(flatten(act("tanh", layer("position_embedding", {{"length", 6}}, x, "places"))));
}

Node depthwise(const Nodes& in) {
  Node x = layer("depthwise_conv", {{"kernel_size", 2}, {"multiplier", 2}}, in[0], "a");
  x = layer("lp_pool", {{"kernel_size", 3}, {"strides", 2}}, x);
  return out(layer("global_lp_pool", {}, x));
}

Node lstm(const Nodes& in) {
  const Nodes all = Layer{layers::Lstm{.units = 2, .name = "a"}}.outputs({in[0]});
  return out(concatenate({flatten(all[0]), all[1], all[2]}));
}

Node gru(const Nodes& in) {
  layers::Gru options{.units = 2, .recurrent_initializer = initializers::zeros, .name = "a"};
  const Nodes a = Layer{options}.outputs({in[0]});
  options.reverse = true;
  options.name = "b";
  const Nodes b = Layer{options}.outputs({in[0]});
  return out(concatenate({flatten(a[0]), a[1], b[1]}));
}

Node masked_lstm(const Nodes& in) {
  const Node x = embedding(in[0], 5, 3, {.name = "words"});
  const Node ends = layer("mask", {{"eos_token", 0}}, in[0]);
  const Layer memory{layers::Lstm{
      .units = 2, .padding_mask = true, .recurrent_initializer = initializers::zeros, .name = "a"}};
  return out(Layer{layers::StackColumns{}}({x, memory.outputs({x, ends})[2]}));
}

Node conv_lstm(const Nodes& in) {
  const Params options{{"units", 2},
                       {"kernel_size", std::vector<std::int64_t>{2, 3}},
                       {"padding", "same"},
                       {"recurrent_initializer", "zeros"}};
  return out(flatten(layer("conv_lstm", options, in[0], "a")));
}

Node transformer(const Nodes& in) {
  Node x = dense(in[0], 4, {.name = "a"});
  x = x + layer("multi_head_attention", {{"heads", 2}, {"causal", true}},
                layer_norm(x, {.name = "norm"}), "heads");
  x = x + dense(dense(x, 6, {.activation = tanh, .name = "b"}), 4, {.name = "c"});
  return out(flatten(x));
}

Node attention(const Nodes& in) {
  const Node q = dense(in[0], 4, {.name = "q"});
  const Node k = dense(in[1], 4, {.name = "k"});
  const Node v = dense(in[1], 2, {.name = "v"});
  return out(flatten(Layer{layers::Attention{}}({q, k, v})));
}

/// The networks of the script by their names.
const std::map<std::string, std::function<Node(const Nodes&)>>& networks() {
  const auto conv_a = [](const Nodes& in, std::int64_t units, layers::Conv options) {
    options.name = "a";
    return conv(first(in), units, options);
  };
  using List = std::vector<std::int64_t>;
  static const std::map<std::string, std::function<Node(const Nodes&)>> all{
      {"dense",
       [](const Nodes& in) {
         const Node x = dense(in[0], 3, {.use_bias = false, .name = "a"});
         return out(act("sigmoid", layer("bias", {}, x, "b")));
       }},
      {"shared", &shared},
      {"embedding", &words},
      {"images",
       [=](const Nodes& in) {
         const Node x = conv_a(in, 3, {.kernel_size = 3, .padding = same});
         return out(flatten(max_pool(act("tanh", x), {2})));
       }},
      {"strided images",
       [=](const Nodes& in) {
         return out(flatten(conv_a(
             in, 3,
             {.kernel_size = List{3, 2}, .strides = 2, .padding = same, .activation = tanh})));
       }},
      {"grouped images",
       [=](const Nodes& in) {
         const Node x = conv_a(in, 4, {.kernel_size = 2, .feature_group_size = 2});
         const Node y = layer("global_avg_pool", {}, x);
         return out(Layer{layers::Multiply{}}({y, y}));
       }},
      {"signals",
       [=](const Nodes& in) {
         const Node x = act("tanh", conv_a(in, 4, {.kernel_size = 3, .strides = 2}));
         return out(flatten(layer("avg_pool", {{"kernel_size", 2}}, x)));
       }},
      {"depthwise", &depthwise},
      {"largest",
       [=](const Nodes& in) {
         return out(layer("global_max_pool", {}, conv_a(in, 4, {.kernel_size = 2})));
       }},
      {"batch norm",
       [](const Nodes& in) {
         return out(act("tanh", batch_norm(dense(in[0], 3, {.name = "a"}), {.name = "norm"})));
       }},
      {"batch norm of images",
       [=](const Nodes& in) {
         const Node x = conv_a(in, 3, {.kernel_size = 2});
         const Node y = batch_norm(x, {.epsilon = 1e-3, .momentum = 0.6, .name = "norm"});
         return out(layer("global_avg_pool", {}, act("relu", y)));
       }},
      {"layer norm",
       [](const Nodes& in) {
         return out(act("tanh", layer_norm(dense(in[0], 5, {.name = "a"}), {.name = "norm"})));
       }},
      {"group norm",
       [=](const Nodes& in) {
         const Node x = conv_a(in, 4, {.kernel_size = 2});
         const Node y = act("tanh", layer("group_norm", {{"groups", 2}}, x, "norm"));
         return out(layer("global_avg_pool", {}, y));
       }},
      {"rms norm",
       [](const Nodes& in) {
         return out(act(
             "tanh", layer("rms_norm", {{"shift", 1.0}}, dense(in[0], 5, {.name = "a"}), "norm")));
       }},
      {"lstm", &lstm},
      {"gru", &gru},
      {"masked lstm", &masked_lstm},
      {"conv lstm", &conv_lstm},
      {"transformer", &transformer},
      {"attention", &attention},
      {"shapes",
       [](const Nodes& in) {
         const Node x = layer("transpose", {{"permutation", List{3, 1, 2}}}, in[0]);
         return out(flatten(dense(reshape(x, {12, 5}), 3, {.activation = tanh, .name = "a"})));
       }},
  };
  return all;
}

struct Case {
  std::string name;
  std::vector<Tensor> inputs;
  Model model;
};

Case case_of(const json& one, DType dtype) {
  Nodes nodes;
  std::vector<Tensor> inputs;
  for (const json& input : one["inputs"]) {
    const auto extents = input["shape"].get<std::vector<std::int64_t>>();
    const Shape shape = Shape::make(extents, "golden");
    const bool integers = input["values"][0].is_number_integer();
    inputs.push_back(golden_tensor(input["values"], shape, integers ? DType::s32 : dtype));
    nodes.push_back(nn::input("input" + std::to_string(nodes.size()), shape.without(0),
                              integers ? DType::s32 : DType::f32));
  }
  const auto name = one["network"].get<std::string>();
  const Network network{networks().at(name)(nodes)};
  Model model{network,
              {.loss = "mse", .optimizer = "sgd", .learning_rate = golden()["rate"].get<double>()}};
  model.update_variables(golden_variables(one["begin"], network, dtype));
  return {name, std::move(inputs), std::move(model)};
}

/// Of all networks, or of those that are named.
void expect_cases(DType dtype, double tolerance, const std::set<std::string>& names = {}) {
  for (const json& one : golden()["cases"]) {
    if (!names.empty() && !names.contains(one["network"].get<std::string>())) continue;
    Case made = case_of(one, dtype);
    const std::int64_t rows = made.inputs[0].shape()[0];
    const Batch batch{made.inputs, {golden_tensor(one["target"], {rows, 2}, dtype)}, rows};
    expect_golden_run(made.model, std::vector<Batch>(one["losses"].size(), batch), one, tolerance,
                      made.name);
    expect_golden(made.model.predict(made.inputs)[0], one["prediction"], tolerance,
                  made.name + ", prediction");
  }
}

using GoldenLayers = Tensors;
class GoldenLayersOnDevices : public TensorsOnDevices {};
INSTANTIATE_TEST_SUITE_P(Devices, GoldenLayersOnDevices, every_device(), device_name);

TEST_F(GoldenLayers, train_in_double_precision) {
  ASSERT_EQ(golden()["cases"].size(), networks().size());
  expect_cases(DType::f64, 1e-7);
}

TEST_F(GoldenLayers, train) { expect_cases(DType::f32, 2e-5); }

TEST_P(GoldenLayersOnDevices, train) {
  // Not all: a driver takes seconds to compile each of these steps for the first time.
  expect_cases(DType::f32, 2e-5, {"embedding", "images", "batch norm"});
}

}  // namespace
}  // namespace stoker::nn
