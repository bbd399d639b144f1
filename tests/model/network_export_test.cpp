// Networks as ONNX files that this library reads again: every kind of layer,
// every activation, trained models.
#include <cstdlib>
#include <set>

#include "stoker/api/model.hpp"
#include "stoker/api/nn/graph/layer_kinds.hpp"
#include "stoker/api/tensor/math/random.hpp"
#include "stoker/tests/model/model_folder.hpp"

namespace stoker {
namespace {

using nn::Network;
using nn::Node;

/// An input of a layer: one row. Integers are below 4.
struct Row {
  Shape shape;
  DType dtype = DType::f32;
};

struct Sample {
  std::string layer;
  std::vector<Row> inputs;
  friend std::ostream& operator<<(std::ostream& out, const Sample& sample) {
    return out << sample.layer;
  }
};

const Row line{{6}};
const Row steps{{5, 4}};
const Row picture{{6, 5, 4}};
const Row channels_first{{4, 6, 5}};
const Row words{{5}, DType::s32};

/// At least one of each kind, and of those whose options lead to other
/// operations.
const std::vector<Sample>& samples() {
  static const std::vector<Sample> all{
      {"activation(function=tanh)", {line}},
      {"adaptive_avg_pool(output_size=[2,3])", {picture}},
      {"adaptive_lp_pool(output_size=[2,3])", {picture}},
      {"adaptive_max_pool(output_size=[3,2], channels=first)", {channels_first}},
      {"add", {line, line}},
      {"alpha_dropout", {line}},
      {"attention", {steps, steps}},
      {"attention(causal=true, scale=0.3)", {steps, steps, steps}},
      {"attention(mask=true)", {steps, steps, words}},
      {"avg_pool(kernel_size=[2], padding=same)", {picture}},
      {"avg_pool(kernel_size=[2,3], strides=[1,2], channels=first)", {channels_first}},
      {"batch_norm", {picture}},
      {"batch_norm(channel_index=1)", {channels_first}},
      {"bias", {line}},
      {"bidirectional(units=3, recurrent_initializer=zeros)", {steps}},
      {"bidirectional(units=3, cell=gru, merge=average)", {steps}},
      {"bilinear(units=3)", {line, line}},
      {"blur_pool(strides=[2])", {picture}},
      {"concatenate", {line, line}},
      {"concatenate(axis=1)", {steps, steps}},
      {"cond", {Row{{6}, DType::u8}, line, line}},
      {"conv(units=3, kernel_size=[3,2], padding=same, activation=relu)", {picture}},
      {"conv(units=3, kernel_size=[3,2], strides=[2], channels=first)", {channels_first}},
      {"conv(units=4, kernel_size=[2], feature_group_size=2, "
       "kernel_dilation=[2])",
       {picture}},
      {"conv(units=3, kernel_size=[2], input_dilation=[2])", {picture}},
      {"conv(units=3, kernel_size=[3])", {steps}},
      {"conv_lstm(units=2, kernel_size=[2,3], recurrent_initializer=zeros)", {{{3, 4, 5, 2}}}},
      {"conv_transpose(units=3, kernel_size=[3,2], strides=[2])", {picture}},
      {"conv_transpose(units=3, kernel_size=[3], strides=[2], padding=same)", {picture}},
      {"conv_transpose(units=3, kernel_size=[2], channels=first)", {channels_first}},
      {"dense(units=3, activation=gelu)", {line}},
      {"dense(units=3, use_bias=false)", {steps}},
      {"depthwise_conv(kernel_size=[2], multiplier=2)", {picture}},
      {"dropout", {line}},
      {"embedding(vocab_size=5, embedding_size=3)", {words}},
      {"feature_alpha_dropout", {picture}},
      {"flatten", {picture}},
      {"global_avg_pool", {picture}},
      {"global_lp_pool(norm=3)", {picture}},
      {"global_max_pool(keepdims=true)", {picture}},
      {"group_norm(groups=2)", {picture}},
      {"gru(units=3)", {steps}},
      {"gru(units=3, reverse=true, recurrent_initializer=zeros)", {steps}},
      {"instance_norm", {picture}},
      {"layer_norm", {steps}},
      {"lp_pool(kernel_size=[2])", {picture}},
      {"lstm(units=3)", {steps}},
      {"lstm(units=3, recurrent_initializer=zeros, unroll=static)", {steps}},
      {"lstm(units=3, mask=true, recurrent_initializer=zeros)", {steps, words}},
      {"mask(eos_token=2)", {words}},
      {"max_pool(kernel_size=[2], strides=[1])", {picture}},
      {"max_pool(kernel_size=[3], padding=same, channels=first)", {channels_first}},
      {"max_pool(kernel_size=[2])", {steps}},
      {"multi_head_attention(heads=2)", {steps, steps}},
      {"multi_head_attention(heads=2, causal=true)", {steps}},
      {"multiply", {line, line}},
      {"or_else", {line, line}},
      {"pad(config=[1,2,0,-1], value=3)", {picture}},
      {"position_embedding(length=8)", {steps}},
      {"quantized_dense(units=3)", {line}},
      {"reshape(shape=[2,-1])", {line}},
      {"resize(shape=[9,4])", {picture}},
      {"resize(shape=[9,4], method=bilinear)", {picture}},
      {"rms_norm", {steps}},
      {"separable_conv2d(kernel_size=[2])", {picture}},
      {"separable_conv3d(kernel_size=[2])", {{{4, 4, 4, 2}}}},
      {"spatial_dropout", {picture}},
      {"split(splits=[2,4])", {line}},
      {"stack_columns", {line, line}},
      {"subtract", {line, line}},
      {"transpose", {picture}},
  };
  return all;
}

Tensor noise(const Row& row, std::int64_t batch, std::uint32_t seed) {
  std::vector<std::int64_t> extents{batch};
  extents.insert(extents.end(), row.shape.begin(), row.shape.end());
  const Tensor key = random::key(seed);
  const Shape shape = Shape::make(extents);
  if (is_float(row.dtype)) return random::uniform_split(key, shape, -1, 1);
  return random::randint_split(key, 0, 4, shape, row.dtype);
}

class NetworkExport : public testing::Test {
 protected:
  /// What the file gives is what the network gives, for other batches, too.
  void expect_same(const Network& network, const std::vector<Row>& rows,
                   const onnx::SaveOptions& options = {}) const {
    const nn::Variables variables = network.initialize(random::key(7));
    const std::filesystem::path path = folder.path / "m.onnx";
    onnx::save(network, variables, path, options);
    const onnx::Model model = onnx::load(path, {.device = device});
    for (const std::int64_t batch : {3, 1}) {
      const std::int64_t size = options.batch.value_or(batch);
      std::vector<Tensor> given;
      onnx::NamedValues named;
      for (std::size_t i = 0; i < rows.size(); ++i) {
        given.push_back(noise(rows[i], size, static_cast<std::uint32_t>(i)));
        named.emplace(network.inputs()[i].name, given.back());
      }
      const std::vector<Tensor> expected = network.forward(variables, given).outputs;
      const onnx::NamedValues made = model.run(named).get();
      for (std::size_t i = 0; i < expected.size(); ++i)
        expect_near(made.at(network.output_names()[i]).tensor(), expected[i]);
    }
  }
  static void expect_near(const Tensor& made, const Tensor& expected) {
    ASSERT_EQ(made.spec().to_string(), expected.spec().to_string());
    const std::vector<float> a = made.to_vector<float>();
    const std::vector<float> b = expected.to_vector<float>();
    for (std::size_t i = 0; i < a.size(); ++i)
      ASSERT_NEAR(a[i], b[i], 2e-5F * (1 + std::abs(b[i]))) << "element " << i;
  }
  static Network network_of(const Sample& sample) {
    std::vector<Node> inputs;
    for (const Row& row : sample.inputs)
      inputs.push_back(nn::input("x" + std::to_string(inputs.size()), row.shape, row.dtype));
    return Network{nn::Layer{sample.layer.c_str(), "layer"}.outputs(inputs)};
  }

  System system;
  Device device = system.device("cpu");
  DeviceScope scope{device};
  ModelFolder folder;
};

TEST_F(NetworkExport, has_a_sample_of_every_kind_of_layer) {
  std::set<std::string> tried;
  for (const Sample& sample : samples())
    tried.insert(sample.layer.substr(0, sample.layer.find('(')));
  for (const nn::LayerDefinition* const kind : nn::layer_kinds())
    EXPECT_TRUE(tried.contains(kind->name)) << kind->name;
}

TEST_F(NetworkExport, gives_the_numbers_of_every_kind_of_layer) {
  for (const Sample& sample : samples()) {
    SCOPED_TRACE(sample.layer);
    EXPECT_NO_THROW(expect_same(network_of(sample), sample.inputs));
  }
}

TEST_F(NetworkExport, gives_them_in_the_first_and_the_last_opset_and_for_one_batch) {
  for (const Sample& sample : samples()) {
    SCOPED_TRACE(sample.layer);
    EXPECT_NO_THROW(expect_same(network_of(sample), sample.inputs, {.opset = 13, .batch = 2}));
    EXPECT_NO_THROW(expect_same(network_of(sample), sample.inputs, {.opset = 21}));
  }
}

TEST_F(NetworkExport, passes_the_checker_of_onnx) {
  if (std::system("python3 -c 'import onnx' 2>/dev/null") != 0)
    GTEST_SKIP() << "Debian's python3-onnx is not installed";
  std::size_t number = 0;
  for (const Sample& sample : samples()) {
    const Network network = network_of(sample);
    onnx::save(network, network.initialize(random::key(7)),
               folder.path / (std::to_string(number++) + ".onnx"),
               {.opset = static_cast<int>(13 + number % 5)});
  }
  folder.write("check.py",
               "import glob, onnx, sys\n"
               "wrong = 0\n"
               "for name in glob.glob(sys.argv[1] + '/*.onnx'):\n"
               "    try:\n"
               "        onnx.checker.check_model(onnx.load(name), full_check=True)\n"
               "    except Exception as error:\n"
               "        print(name, error)\n"
               "        wrong = 1\n"
               "sys.exit(wrong)\n");
  const std::string command =
      "python3 " + (folder.path / "check.py").string() + ' ' + folder.path.string();
  EXPECT_EQ(std::system(command.c_str()), 0);
}

TEST_F(NetworkExport, gives_the_numbers_of_every_activation) {
  for (const char* const function :
       {"celu",      "elu",        "exp",      "gelu",        "hard_sigmoid", "hard_silu",
        "hard_tanh", "leaky_relu", "linear",   "log_sigmoid", "log_softmax",  "log_sumexp",
        "mish",      "relu",       "relu6",    "selu",        "sigmoid",      "silu",
        "softmax",   "softplus",   "softsign", "tanh"}) {
    SCOPED_TRACE(function);
    const Node x = nn::input("x", {6});
    EXPECT_NO_THROW(expect_same(Network{nn::activation(x, function)}, {line}));
  }
}

TEST_F(NetworkExport, keeps_the_networks_of_the_examples) {
  // examples/char_transformer.cpp, smaller
  const auto block = [](Node x) {
    const nn::Layer attention{nn::layers::MultiHeadAttention{.heads = 2, .causal = true}};
    x = x + attention(nn::layer_norm(x));
    return x + nn::dense(nn::dense(nn::layer_norm(x), 16, {.activation = nn::gelu}), 8);
  };
  Node x = nn::embedding(nn::input({5}, DType::s32), 9, 8);
  x = block(block(nn::Layer{nn::layers::PositionEmbedding{.length = 5}}(x)));
  expect_same(Network{nn::dense(nn::layer_norm(x), 9, {.name = "scores"})}, {words});
  // examples/digits.cpp
  Node y = nn::reshape(nn::input({64}), {8, 8, 1});
  y = nn::conv(y, 16, {.kernel_size = 3, .padding = nn::same, .activation = nn::relu});
  y = nn::max_pool(nn::conv(y, 32, {.kernel_size = 3, .activation = nn::relu}), {2});
  y = nn::dense(nn::dropout(nn::flatten(y), 0.25), 64, {.activation = nn::relu});
  expect_same(Network{nn::dense(y, 10)}, {Row{{64}}});
}

TEST_F(NetworkExport, keeps_names_and_an_open_batch) {
  const Node x = nn::input("pixels", {4});
  const Network network{nn::dense(x, 2, {.name = "scores"})};
  onnx::save(network, network.initialize(random::key(1)), folder.path / "m.onnx");
  const AnyModel model = load_model(folder.path / "m.onnx", {.device = device});
  EXPECT_TRUE(model.info().producer.starts_with("Stoker "));
  EXPECT_EQ(model.inputs().at(0).name, "pixels");
  EXPECT_EQ(model.inputs().at(0).type.to_string(), "float[batch,4]");
  EXPECT_EQ(model.outputs().at(0).name, "scores");
  EXPECT_EQ(model.outputs().at(0).type.to_string(), "float[batch,2]");
  const onnx::ModelFile file = onnx::read_model(folder.path / "m.onnx").value();
  EXPECT_NE(file.graph.initializer("scores.kernel"), nullptr);
  EXPECT_NE(file.graph.initializer("scores.bias"), nullptr);
  EXPECT_EQ(file.graph.nodes.size(), 2U) << "MatMul and Add";
}

TEST_F(NetworkExport, writes_a_trained_model_as_it_predicts) {
  const Node x = nn::input("x", {6});
  const Node hidden = Node{nn::Layer{nn::layers::BatchNorm{}}(nn::dense(x, 5))};
  nn::Model model{Network{nn::dense(nn::activation(hidden, "relu"), 2, {.name = "y"})},
                  {.loss = nn::losses::MeanSquaredError{}, .device = device}};
  const Tensor rows = noise(line, 8, 3);
  const Tensor targets = noise(Row{{2}}, 8, 4);
  const nn::Batch batch{.inputs = {rows}, .targets = {targets}, .rows = 8};
  for (int step = 0; step < 4; ++step) static_cast<void>(model.train_step(batch));
  model.save(folder.path / "m.safetensors");
  onnx::save_model_file(folder.path / "m.safetensors", folder.path / "a.onnx");
  onnx::save(model, folder.path / "b.onnx");
  for (const char* const name : {"a.onnx", "b.onnx"}) {
    const onnx::Model read = onnx::load(folder.path / name, {.device = device});
    expect_near(read.run({{"x", rows}}).get().at("y").tensor(), model.predict(rows));
  }
}

TEST_F(NetworkExport, refuses_what_has_no_form_and_names_all_of_it) {
  const Node x = nn::input("x", {3, 3});
  const auto own = [](std::span<const Tensor> given) {
    return cumulative_product(erf_inv(given[0]) + cumulative_max(given[0], 1), 1);
  };
  const Network network{nn::function({x}, own)};
  try {
    onnx::save(network, {}, folder.path / "m.onnx");
    FAIL() << "it was written";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::unsupported);
    for (const char* const name : {"erf_inv", "cumulative_max", "cumulative_product"})
      EXPECT_NE(error.reason().find(name), std::string::npos) << error.reason();
  }
  EXPECT_FALSE(std::filesystem::exists(folder.path / "m.onnx"));
}

}  // namespace
}  // namespace stoker
