// Models of one file: one set of weights on a device.
#include <thread>

#include "stoker/pipeline/onnx/reading/model_reader.hpp"
#include "stoker/tests/onnx/run/shared_weights.hpp"

namespace stoker::onnx {
namespace {

namespace fs = std::filesystem;

TEST_F(SharedWeights, are_on_the_device_once_and_go_with_the_last_model) {
  const fs::path path = product_file();
  EXPECT_TRUE(holds(0));
  Model first = load(path);
  EXPECT_EQ(of_product(first), 6);
  EXPECT_TRUE(holds(weight_bytes));
  Model second = load(path);
  EXPECT_EQ(of_product(second), 6);
  EXPECT_TRUE(holds(weight_bytes));
  EXPECT_EQ(second.stats().weight_bytes, first.stats().weight_bytes) << "each counts them";
  first = {};
  EXPECT_EQ(of_product(second), 6);
  EXPECT_TRUE(holds(weight_bytes));
  second = {};
  EXPECT_TRUE(holds(0));
}

TEST_F(SharedWeights, are_those_that_passes_and_rules_made_too) {
  const fs::path path = convolution_file();
  const Model first = load(path);
  EXPECT_EQ(of_convolution(first), 256 * 9 * 0.5F * 4);
  const std::uint64_t one = first.stats().weight_bytes;
  EXPECT_TRUE(holds(one));
  const Model second = load(path);
  EXPECT_EQ(of_convolution(second), 256 * 9 * 0.5F * 4);
  EXPECT_EQ(second.stats().weight_bytes, one);
  EXPECT_TRUE(holds(one));
}

TEST_F(SharedWeights, are_shared_by_other_options_unless_passes_change_them) {
  const fs::path product = product_file();
  const Model plain = load(product, with(Optimize::none));
  EXPECT_EQ(of_product(plain), 6);
  EXPECT_EQ(of_product(load(product, with(Optimize::all))), 6);
  const Model all = load(product, with(Optimize::all));
  EXPECT_EQ(of_product(all), 6);
  EXPECT_TRUE(holds(weight_bytes));

  const fs::path convolution = convolution_file();
  const Model as_read = load(convolution, with(Optimize::none));
  const Model changed = load(convolution, with(Optimize::all));
  EXPECT_EQ(of_convolution(as_read), 256 * 9 * 0.5F * 4);
  EXPECT_EQ(of_convolution(changed), 256 * 9 * 0.5F * 4);
  EXPECT_TRUE(holds(weight_bytes + as_read.stats().weight_bytes + changed.stats().weight_bytes))
      << "other weights";
}

TEST_F(SharedWeights, tell_apart_what_was_asked_for) {
  const fs::path path = product_file();
  LoadOptions halves = with(Optimize::all);
  halves.precision = Precision::f16;
  const Model full = load(path);
  EXPECT_EQ(of_product(full), 6);
  // The CPU does not gain by halves, so the weights stay as they are; what is said of them differs.
  for (const Model& one : {load(path, halves), load(path, halves)}) {
    EXPECT_EQ(of_product(one), 6);
    EXPECT_EQ(one.info().precision.value().precision, Precision::f16);
  }
  EXPECT_FALSE(load(path).info().precision.has_value());
  EXPECT_TRUE(holds(weight_bytes));
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
  const Model again = load(folder_ / "a.onnx");
  const Model other = load(folder_ / "b.onnx");
  EXPECT_EQ(of_product(again), 6);
  EXPECT_EQ(of_product(other), 6);
  EXPECT_TRUE(holds(weight_bytes));
  write(folder_ / "w.bin", raw(std::vector<float>(2 * columns, 4)));
  EXPECT_EQ(of_product(load(folder_ / "a.onnx")), 8) << "the model's own file is the same";
}

TEST_F(SharedWeights, are_one_set_for_threads_that_load_at_once) {
  const fs::path path = convolution_file();
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
  EXPECT_TRUE(holds(models[0].stats().weight_bytes)) << "of six";
}

TEST_F(SharedWeights, come_again_once_for_all_who_share_them) {
  const fs::path path = product_file();
  const Model first = load(path);
  const Model second = load(path);
  EXPECT_EQ(of_product(first) + of_product(second), 12);
  lose();
  EXPECT_EQ(first.stats().weight_bytes, 0U);
  EXPECT_EQ(of_product(first) + of_product(second), 12);
  const Model third = load(path);
  EXPECT_EQ(of_product(third), 6);
  EXPECT_TRUE(holds(weight_bytes));
}

TEST_F(SharedWeights, of_bytes_in_memory_are_each_models_own) {
  const std::string bytes = product(weights(3));
  const Model first = load(std::as_bytes(std::span{bytes}));
  EXPECT_EQ(of_product(first), 6);
  const Model second = load(std::as_bytes(std::span{bytes}));
  EXPECT_EQ(of_product(second), 6);
  EXPECT_TRUE(holds(2 * weight_bytes));
}

TEST_F(SharedWeights, do_not_hide_what_a_program_changed_in_a_graph) {
  const fs::path path = product_file();
  const Model as_read = load(path);
  EXPECT_EQ(of_product(as_read), 6);
  auto changed = std::make_shared<ModelFile>(read_model(path).value());
  changed->graph.nodes.at(1).op = "ReduceSum";
  const Model summed = load(std::move(changed));
  EXPECT_EQ(of_product(summed), 6.0F * columns);
  EXPECT_EQ(of_product(as_read), 6);
  EXPECT_TRUE(holds(weight_bytes)) << "it reads the same weights";
}

}  // namespace
}  // namespace stoker::onnx
