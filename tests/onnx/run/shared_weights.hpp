// Models of files whose weights are large, and what they hold of their device.
#pragma once

#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "stoker/actors/device/device_client.hpp"
#include "stoker/device/fault/fault_injection.hpp"
#include "stoker/pipeline/onnx/writing/model_writer.hpp"
#include "stoker/pipeline/tensor/files/byte_source.hpp"
#include "stoker/tests/onnx/reading/message.hpp"
#include "stoker/tests/onnx/run/small_models.hpp"

namespace stoker::onnx {

class SharedWeights : public testing::Test {
 protected:
  static constexpr std::int64_t columns = std::int64_t{1} << 19;
  static constexpr std::uint64_t weight_bytes = 2 * columns * sizeof(float);
  /// More than the plans of these models keep, and less than any large weight.
  static constexpr std::uint64_t little = weight_bytes / 4;

  SharedWeights() { std::filesystem::create_directories(folder_); }
  ~SharedWeights() override { std::filesystem::remove_all(folder_); }

  /// Until the file's times would tell the next write.
  static void settle(const std::filesystem::path& path) {
    while (files::open_source(path, true, "test").value()->identity().empty()) {
    }
  }
  static void write(const std::filesystem::path& path, std::string_view bytes) {
    std::ofstream{path, std::ios::binary} << bytes;
    settle(path);
  }
  /// The largest of x · w, where all of w is `weight`.
  static std::string product(const Message& weights) {
    return model(graph(node("MatMul", {"x", "w"}, {"h"}).add("ReduceMax", {"h"}, {"y"}), {"x"},
                       {"y"}, {weights}))
        .bytes();
  }
  static Message weights(float weight) {
    return raw_tensor("w", ElementType::f32, {2, columns},
                      raw(std::vector<float>(2 * columns, weight)));
  }
  [[nodiscard]] std::filesystem::path product_file(float weight = 3) const {
    write(folder_ / "product.onnx", product(weights(weight)));
    return folder_ / "product.onnx";
  }
  /// A convolution whose weights a pass changes, and a rule on the CPU puts into blocks.
  [[nodiscard]] std::filesystem::path convolution_file() const {
    const auto filled = [](std::vector<std::int64_t> dims, std::size_t count, float value) {
      TensorData made = reals(std::vector<float>(count, value));
      made.dims = std::move(dims);
      return made;
    };
    ModelFile file;
    file.ir_version = 10;
    file.opsets = {{"", 21}};
    file.graph = GraphBuilder{}
                     .input("x", {1, 256, 4, 4})
                     .constant("w", filled({256, 256, 3, 3}, std::size_t{256} * 256 * 9, 0.5F))
                     .constant("scale", filled({256}, 256, 4))
                     .constant("zero", filled({256}, 256, 0))
                     .constant("one", filled({256}, 256, 1))
                     .node("Conv", {"x", "w"}, {"c"})
                     .node("BatchNormalization", {"c", "scale", "zero", "zero", "one"}, {"b"},
                           {named("epsilon", 0.0F)})
                     .node("ReduceMax", {"b"}, {"y"})
                     .output("y")
                     .graph;
    const std::filesystem::path path = folder_ / "convolution.onnx";
    write(path, write_model(file).written());
    return path;
  }

  static float of_product(const Model& model) {
    return model.run({{"x", tensor({1.0F, 1.0F})}}).get().at("y").tensor().to_vector<float>().at(0);
  }
  static float of_convolution(const Model& model) {
    return model.run({{"x", ones({1, 256, 4, 4})}}).get().at("y").tensor().to_vector<float>().at(0);
  }
  /// Whether the device holds so many bytes, or a little more. What runs have left goes when the device comes to it.
  [[nodiscard]] bool holds(std::uint64_t bytes) const {
    constexpr int most_turns = 100'000;
    const Tensor tick = tensor({1.0F}).eval();
    for (int turn = 0; turn < most_turns; ++turn) {
      const std::uint64_t now = device_.stats().memory.in_use;
      if (now >= bytes && now < bytes + little) return true;
      tick.computed().get();
    }
    ADD_FAILURE() << "it holds " << device_.stats().memory.in_use << " bytes instead of " << bytes;
    return false;
  }
  /// The device is lost and comes back.
  void lose() const {
    const auto lost = device_.client()->actor().ended();
    faults_.on(device_.name()).lose("unplugged");
    lost.wait();
    device_.when_ready().get();
  }
  [[nodiscard]] LoadOptions with(Optimize optimize) const {
    return {.device = device_, .optimize = optimize};
  }

  static SystemOptions with_faults_of(const Faults& faults) {
    SystemOptions options;
    options.drivers = with_faults(faults);
    return options;
  }
  const std::filesystem::path folder_ =
      std::filesystem::path{testing::TempDir()} / ("sharing" + std::to_string(::getpid()));
  const Faults faults_;
  const System system_{with_faults_of(faults_)};
  const Device device_ = system_.device("cpu");
  const DeviceScope scope_{device_};
};

}  // namespace stoker::onnx
