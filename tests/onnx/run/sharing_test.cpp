// Models of one file: one set of weights on a device.
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <thread>

#include "stoker/actors/device/device_client.hpp"
#include "stoker/device/fault/fault_injection.hpp"
#include "stoker/pipeline/onnx/reading/model_reader.hpp"
#include "stoker/pipeline/onnx/writing/model_writer.hpp"
#include "stoker/tests/onnx/reading/message.hpp"
#include "stoker/tests/onnx/run/small_models.hpp"

namespace stoker::onnx {
namespace {

namespace fs = std::filesystem;

constexpr std::int64_t columns = std::int64_t{1} << 19;
constexpr std::uint64_t weight_bytes = 2 * columns * sizeof(float);
/// More than a run of these models keeps besides weights, for its plan and what it computed last.
constexpr std::uint64_t little = weight_bytes / 4;

class SharedWeights : public testing::Test {
 protected:
  SharedWeights() { fs::create_directories(folder_); }
  ~SharedWeights() override { fs::remove_all(folder_); }

  static void write(const fs::path& path, std::string_view bytes) {
    std::ofstream{path, std::ios::binary} << bytes;
    // The next write is later, however soon it comes.
    fs::last_write_time(path, fs::file_time_type::clock::now() - std::chrono::hours{1});
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
  [[nodiscard]] fs::path product_file(float weight = 3) const {
    write(folder_ / "product.onnx", product(weights(weight)));
    return folder_ / "product.onnx";
  }
  /// A convolution whose weights a pass changes, and a rule on the CPU puts into blocks.
  [[nodiscard]] fs::path convolution_file() const {
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
    const fs::path path = folder_ / "convolution.onnx";
    write(path, write_model(file).written());
    return path;
  }

  static float of_product(const Model& model) {
    return model.run({{"x", tensor({1.0F, 1.0F})}}).get().at("y").tensor().to_vector<float>().at(0);
  }
  static float of_convolution(const Model& model) {
    return model.run({{"x", ones({1, 256, 4, 4})}}).get().at("y").tensor().to_vector<float>().at(0);
  }
  [[nodiscard]] std::uint64_t in_use() const { return device_.stats().memory.in_use; }
  [[nodiscard]] LoadOptions with(Optimize optimize) const {
    return {.device = device_, .optimize = optimize};
  }

  static SystemOptions with_faults_of(const Faults& faults) {
    SystemOptions options;
    options.drivers = with_faults(faults);
    return options;
  }
  const fs::path folder_ = fs::path{testing::TempDir()} / ("sharing" + std::to_string(::getpid()));
  const Faults faults_;
  const System system_{with_faults_of(faults_)};
  const Device device_ = system_.device("cpu");
  const DeviceScope scope_{device_};
};

TEST_F(SharedWeights, are_on_the_device_once_and_go_with_the_last_model) {
  const fs::path path = product_file();
  const std::uint64_t before = in_use();
  Model first = load(path);
  EXPECT_EQ(of_product(first), 6);
  EXPECT_GE(in_use(), before + weight_bytes);
  Model second = load(path);
  EXPECT_EQ(of_product(second), 6);
  EXPECT_LT(in_use(), before + weight_bytes + little);
  EXPECT_EQ(second.stats().weight_bytes, first.stats().weight_bytes) << "each counts them";
  first = {};
  EXPECT_EQ(of_product(second), 6);
  EXPECT_GE(in_use(), before + weight_bytes);
  second = {};
  device_.trim();
  EXPECT_LT(in_use(), before + little);
}

TEST_F(SharedWeights, are_those_that_passes_and_rules_made_too) {
  const fs::path path = convolution_file();
  const Model first = load(path);
  EXPECT_EQ(of_convolution(first), 256 * 9 * 0.5F * 4);
  const std::uint64_t before = in_use();
  const Model second = load(path);
  EXPECT_EQ(of_convolution(second), 256 * 9 * 0.5F * 4);
  EXPECT_LT(in_use() - before, first.stats().weight_bytes / 4);
}

TEST_F(SharedWeights, are_shared_by_other_options_unless_passes_change_them) {
  const fs::path product = product_file();
  const Model plain = load(product, with(Optimize::none));
  EXPECT_EQ(of_product(plain), 6);
  const std::uint64_t before = in_use();
  EXPECT_EQ(of_product(load(product, with(Optimize::all))), 6);
  const Model all = load(product, with(Optimize::all));
  EXPECT_EQ(of_product(all), 6);
  EXPECT_LT(in_use(), before + little);

  const fs::path convolution = convolution_file();
  const Model as_read = load(convolution, with(Optimize::none));
  const Model changed = load(convolution, with(Optimize::all));
  const std::uint64_t none = in_use();
  EXPECT_EQ(of_convolution(as_read), 256 * 9 * 0.5F * 4);
  const std::uint64_t one = in_use() - none;
  EXPECT_EQ(of_convolution(changed), 256 * 9 * 0.5F * 4);
  EXPECT_GT(in_use() - none, one + one / 2) << "other weights";
}

TEST_F(SharedWeights, tell_apart_what_was_asked_for) {
  const fs::path path = product_file();
  LoadOptions halves = with(Optimize::all);
  halves.precision = Precision::f16;
  const Model full = load(path);
  EXPECT_EQ(of_product(full), 6);
  const std::uint64_t before = in_use();
  // The CPU does not gain by halves, so the weights stay as they are; what is said of them differs.
  for (const Model& one : {load(path, halves), load(path, halves)}) {
    EXPECT_EQ(of_product(one), 6);
    EXPECT_EQ(one.info().precision.value().precision, Precision::f16);
  }
  EXPECT_FALSE(load(path).info().precision.has_value());
  EXPECT_LT(in_use(), before + little);
}

TEST_F(SharedWeights, of_a_file_that_was_written_to_are_others) {
  const fs::path path = product_file(3);
  const Model before = load(path);
  EXPECT_EQ(of_product(before), 6);
  std::fstream file{path, std::ios::binary | std::ios::in | std::ios::out};
  file << product(weights(5));  // of the same length, at the same place
  file.close();
  const Model after = load(path);
  EXPECT_EQ(of_product(after), 10);
  EXPECT_EQ(of_product(before), 6) << "which has its copy";

  fs::remove(path);
  EXPECT_EQ(of_product(load(product_file(7))), 14) << "another file of that name";
  EXPECT_EQ(of_product(after), 10);
}

TEST_F(SharedWeights, in_files_beside_the_model_are_shared_by_all_models_that_name_them) {
  write(folder_ / "w.bin", raw(std::vector<float>(2 * columns, 3)));
  const Message beside = empty_tensor("w", ElementType::f32, {2, columns})
                             .integer(14, 1)
                             .message(13, Message{}.text(1, "location").text(2, "w.bin"));
  write(folder_ / "a.onnx", product(beside));
  write(folder_ / "b.onnx", product(beside));
  const Model first = load(folder_ / "a.onnx");
  EXPECT_EQ(of_product(first), 6);
  const std::uint64_t before = in_use();
  const Model again = load(folder_ / "a.onnx");
  const Model other = load(folder_ / "b.onnx");
  EXPECT_EQ(of_product(again), 6);
  EXPECT_EQ(of_product(other), 6);
  EXPECT_LT(in_use(), before + little);
  write(folder_ / "w.bin", raw(std::vector<float>(2 * columns, 4)));
  EXPECT_EQ(of_product(load(folder_ / "a.onnx")), 8) << "the model's own file is the same";
}

TEST_F(SharedWeights, are_one_set_for_threads_that_load_at_once) {
  const fs::path path = convolution_file();
  std::uint64_t alone = in_use();
  {
    const Model one = load(path);
    EXPECT_EQ(of_convolution(one), 256 * 9 * 0.5F * 4);
    alone = in_use() - alone;
  }
  device_.trim();
  const std::uint64_t before = in_use();
  std::vector<Model> models(6);
  {
    std::vector<std::jthread> threads;
    for (Model& model : models)
      threads.emplace_back([&model, &path, device = device_] {
        const DeviceScope scope{device};
        model = load(path);
        EXPECT_EQ(of_convolution(model), 256 * 9 * 0.5F * 4);
      });
  }
  EXPECT_LT(in_use() - before, alone + alone / 2) << "of six";
}

TEST_F(SharedWeights, come_again_once_for_all_who_share_them) {
  const fs::path path = product_file();
  const Model first = load(path);
  const Model second = load(path);
  EXPECT_EQ(of_product(first) + of_product(second), 12);
  const auto lost = device_.client()->actor().ended();
  faults_.on(device_.name()).lose("unplugged");
  lost.wait();
  device_.when_ready().get();
  EXPECT_EQ(first.stats().weight_bytes, 0U);
  const std::uint64_t before = in_use();
  EXPECT_EQ(of_product(first) + of_product(second), 12);
  const Model third = load(path);
  EXPECT_EQ(of_product(third), 6);
  EXPECT_GE(in_use(), before + weight_bytes);
  EXPECT_LT(in_use(), before + weight_bytes + little);
}

TEST_F(SharedWeights, of_bytes_in_memory_are_each_models_own) {
  const std::string bytes = product(weights(3));
  const Model first = load(std::as_bytes(std::span{bytes}));
  EXPECT_EQ(of_product(first), 6);
  const std::uint64_t before = in_use();
  const Model second = load(std::as_bytes(std::span{bytes}));
  EXPECT_EQ(of_product(second), 6);
  EXPECT_GE(in_use(), before + weight_bytes);
}

TEST_F(SharedWeights, do_not_hide_what_a_program_changed_in_a_graph) {
  const fs::path path = product_file();
  const Model as_read = load(path);
  EXPECT_EQ(of_product(as_read), 6);
  auto changed = std::make_shared<ModelFile>(read_model(path).value());
  changed->graph.nodes.at(1).op = "ReduceSum";
  const std::uint64_t before = in_use();
  const Model summed = load(std::move(changed));
  EXPECT_EQ(of_product(summed), 6.0F * columns);
  EXPECT_EQ(of_product(as_read), 6);
  EXPECT_LT(in_use(), before + little) << "it reads the same weights";
}

}  // namespace
}  // namespace stoker::onnx
