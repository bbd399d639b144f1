#include "stoker/bench/onnx/made_models.hpp"

#include <fstream>
#include <stdexcept>

#include "stoker/bench/harness/inputs.hpp"
#include "stoker/bench/onnx/graph_writer.hpp"
#include "stoker/pipeline/onnx/writing/value_writer.hpp"

namespace stoker::bench {
namespace {

namespace fs = std::filesystem;

void write_input(const fs::path& model, int set, const std::vector<std::int64_t>& dims) {
  const fs::path folder = model / ("test_data_set_" + std::to_string(set));
  fs::create_directories(folder);
  std::size_t count = 1;
  for (const std::int64_t dim : dims) count *= static_cast<std::size_t>(dim);
  const std::vector<float> values = noise(count);
  const auto bytes = std::as_bytes(std::span{values});
  const onnx::TensorData tensor{.type = onnx::ElementType::f32,
                                .dims = dims,
                                .bytes = onnx::SharedBytes::own({bytes.begin(), bytes.end()}),
                                .strings = {}};
  std::ofstream file{folder / "input_0.pb", std::ios::binary};
  file << onnx::write_tensor("x", tensor).written();
  if (!file.flush()) throw std::runtime_error{"cannot write " + folder.string()};
}

/// A model's folder, its file written into it.
fs::path saved(const fs::path& folder, const char* name, const GraphWriter& graph) {
  const fs::path model = folder / name;
  fs::create_directories(model);
  graph.save(model / "model.onnx");
  return model;
}

/// out = x · W + b, as a linear layer is exported for inputs of three axes.
void linear(GraphWriter& graph, const std::string& x, const std::string& out, std::int64_t from,
            std::int64_t to) {
  graph.weights(out + ".weight", {from, to}, 0.06F).weights(out + ".bias", {to}, 0.1F);
  graph.node("MatMul", {x, out + ".weight"}, out + ".product");
  graph.node("Add", {out + ".product", out + ".bias"}, out);
}

void write_perceptron(const fs::path& folder) {
  GraphWriter graph;
  graph.input("x", {"batch", 784});
  std::string x = "x";
  const std::int64_t units[] = {784, 256, 128, 10};
  for (int layer = 1; layer <= 3; ++layer) {
    const std::string name = "dense" + std::to_string(layer);
    graph.weights(name + ".weight", {units[layer - 1], units[layer]}, 0.06F);
    graph.weights(name + ".bias", {units[layer]}, 0.1F);
    graph.node("Gemm", {x, name + ".weight", name + ".bias"}, name);
    x = name;
    if (layer < 3) graph.node("Relu", {name}, x = name + ".relu");
  }
  const fs::path model = saved(folder, "mlp", graph.output(x));
  write_input(model, 0, {1, 784});
  write_input(model, 1, {32, 784});
}

void write_convolutions(const fs::path& folder) {
  GraphWriter graph;
  graph.input("x", {"batch", 1, 28, 28});
  std::string x = "x";
  const std::int64_t channels[] = {1, 16, 32};
  for (int layer = 1; layer <= 2; ++layer) {
    const std::string name = "conv" + std::to_string(layer);
    graph.weights(name + ".weight", {channels[layer], channels[layer - 1], 3, 3}, 0.1F);
    graph.weights(name + ".bias", {channels[layer]}, 0.1F);
    graph.node("Conv", {x, name + ".weight", name + ".bias"}, name,
               {{"kernel_shape", {3, 3}}, {"pads", {1, 1, 1, 1}}, {"strides", {1, 1}}});
    graph.node("Relu", {name}, name + ".relu");
    graph.node("MaxPool", {name + ".relu"}, x = name + ".pool",
               {{"kernel_shape", {2, 2}}, {"strides", {2, 2}}});
  }
  graph.node("Flatten", {x}, "flat", {{"axis", {1}}});
  graph.weights("w1", {1568, 128}, 0.05F).weights("b1", {128}, 0.1F);
  graph.weights("w2", {128, 10}, 0.1F).weights("b2", {10}, 0.1F);
  graph.node("Gemm", {"flat", "w1", "b1"}, "dense1").node("Relu", {"dense1"}, "dense1.relu");
  graph.node("Gemm", {"dense1.relu", "w2", "b2"}, "dense2").output("dense2");
  const fs::path model = saved(folder, "cnn", graph);
  write_input(model, 0, {1, 1, 28, 28});
  write_input(model, 1, {32, 1, 28, 28});
}

void write_encoder(const fs::path& folder) {
  constexpr std::int64_t features = 256;
  constexpr std::int64_t heads = 4;
  GraphWriter graph;
  graph.input("x", {"batch", 128, features});
  graph.integers("split", {0, 0, heads, features / heads}).integers("join", {0, 0, features});
  for (const std::string name : {"q", "k", "v"}) {
    linear(graph, "x", name, features, features);
    graph.node("Reshape", {name, "split"}, name + ".heads");
    graph.node("Transpose", {name + ".heads"}, name + ".first",
               {{"perm", name == "k" ? std::vector<std::int64_t>{0, 2, 3, 1}
                                     : std::vector<std::int64_t>{0, 2, 1, 3}}});
  }
  graph.scalar("root", 8);  // of the features of a head
  graph.node("MatMul", {"q.first", "k.first"}, "products");
  graph.node("Div", {"products", "root"}, "scores");
  graph.node("Softmax", {"scores"}, "shares", {{"axis", {-1}}});
  graph.node("MatMul", {"shares", "v.first"}, "mixed");
  graph.node("Transpose", {"mixed"}, "mixed.last", {{"perm", {0, 2, 1, 3}}});
  graph.node("Reshape", {"mixed.last", "join"}, "joined");
  linear(graph, "joined", "attention", features, features);
  graph.node("Add", {"x", "attention"}, "sum1");
  const auto normalized = [&](const std::string& x, const std::string& name) {
    graph.weights(name + ".scale", {features}, 1.5F).weights(name + ".shift", {features}, 0.5F);
    graph.node("LayerNormalization", {x, name + ".scale", name + ".shift"}, name, {{"axis", {-1}}});
  };
  normalized("sum1", "norm1");
  linear(graph, "norm1", "hidden", features, 4 * features);
  graph.node("Relu", {"hidden"}, "hidden.relu");
  linear(graph, "hidden.relu", "forward", 4 * features, features);
  graph.node("Add", {"norm1", "forward"}, "sum2");
  normalized("sum2", "norm2");
  const fs::path model = saved(folder, "encoder", graph.output("norm2"));
  write_input(model, 0, {1, 128, features});
  write_input(model, 1, {8, 128, features});
  write_input(model, 2, {32, 128, features});
}

void write_small(const fs::path& folder) {
  const auto write = [&](const char* name, const auto& nodes) {
    GraphWriter graph;
    graph.input("x", {16});
    nodes(graph);
    write_input(saved(folder, name, graph.output("y")), 0, {16});
  };
  write("add", [](GraphWriter& graph) { graph.node("Add", {"x", "x"}, "y"); });
  write("relu", [](GraphWriter& graph) { graph.node("Relu", {"x"}, "y"); });
  write("count", [](GraphWriter& graph) {
    graph.node("Relu", {"x"}, "positive").node("NonZero", {"positive"}, "y");
  });
}

void write_packed(const fs::path& folder) {
  constexpr std::int64_t side = 4096, block = 32, bits = 4;
  GraphWriter graph;
  graph.input("x", {"batch", side}).bytes("w", {side, side / block, block * bits / 8});
  graph.weights("scales", {side * side / block}, 0.01F);
  graph.node("MatMulNBits", {"x", "w", "scales"}, "y",
             {{"K", {side}}, {"N", {side}}, {"bits", {bits}}, {"block_size", {block}}},
             "com.microsoft");
  const fs::path model = saved(folder, "packed", graph.output("y"));
  write_input(model, 0, {1, side});
  write_input(model, 1, {32, side});
}

}  // namespace

void write_large_model(const fs::path& folder) {
  constexpr std::int64_t side = 8192;
  static_assert(side * side * sizeof(float) == large_weight_bytes);
  const fs::path model = folder / "large";
  fs::create_directories(model);
  GraphWriter graph;
  graph.input("x", {"batch", side}).external_weights("w", {side, side}, 0.01F, model / "weights");
  saved(folder, "large", graph.node("MatMul", {"x", "w"}, "y").output("y"));
  write_input(model, 0, {1, side});
}

void write_made_models(const fs::path& folder) {
  write_perceptron(folder);
  write_convolutions(folder);
  write_encoder(folder);
  write_packed(folder);
  write_small(folder);
}

}  // namespace stoker::bench
