// Files that change, move and come back while models of them share weights.
#include <sys/mman.h>

#include <atomic>
#include <thread>

#include "stoker/tests/onnx/run/shared_weights.hpp"

namespace stoker::onnx {
namespace {

namespace fs = std::filesystem;

class SharedFiles : public SharedWeights {
 protected:
  static std::string small(float weight) {
    return model(graph(node("MatMul", {"x", "w"}, {"h"}).add("ReduceMax", {"h"}, {"y"}), {"x"},
                       {"y"},
                       {raw_tensor("w", ElementType::f32, {2, 1024},
                                   raw(std::vector<float>(2048, weight)))}))
        .bytes();
  }
  static void overwrite(const fs::path& path, std::string_view bytes) {
    std::fstream file{path, std::ios::binary | std::ios::in | std::ios::out};
    file << bytes;
  }
};

TEST_F(SharedFiles, that_change_again_and_again_are_others_each_time) {
  const fs::path path = folder_ / "small.onnx";
  std::ofstream{path, std::ios::binary} << small(0);
  std::vector<Model> models;
  for (int i = 0; i < 200; ++i) {
    overwrite(path, small(static_cast<float>(i)));
    models.push_back(load(path));
    ASSERT_EQ(of_product(models.back()), 2 * static_cast<float>(i)) << i;
  }
  for (int i = 0; i < 200; ++i)
    EXPECT_EQ(of_product(models[static_cast<std::size_t>(i)]), 2 * static_cast<float>(i));
}

TEST_F(SharedFiles, in_memory_may_be_written_to_without_a_trace) {
  const int file = ::memfd_create("model", 0);
  const std::string bytes = small(3);
  ASSERT_EQ(::ftruncate(file, static_cast<off_t>(bytes.size())), 0);
  auto* const area = static_cast<char*>(
      ::mmap(nullptr, bytes.size(), PROT_READ | PROT_WRITE, MAP_SHARED, file, 0));
  ASSERT_NE(area, MAP_FAILED);
  std::memcpy(area, bytes.data(), bytes.size());
  const Model first = load(file);
  EXPECT_EQ(of_product(first), 6);
  std::memcpy(area, small(5).data(), bytes.size());
  const Model second = load(file);
  EXPECT_EQ(of_product(second), 10);
  EXPECT_EQ(of_product(first), 6);
  ::munmap(area, bytes.size());
  ::close(file);
}

TEST_F(SharedFiles, that_change_are_refused_by_whoever_loaded_them_by_the_path_that_is_left) {
  const fs::path path = product_file();
  const fs::path link = folder_ / "now.onnx";
  fs::create_symlink(path, link);
  const Model first = load(link);
  const Model second = load(path);
  EXPECT_EQ(of_product(first) + of_product(second), 12);
  fs::remove(link);
  write(folder_ / "other.onnx", product(weights(1)));
  fs::create_symlink(folder_ / "other.onnx", link);
  overwrite(path, product(weights(5)));
  lose();
  const Future<NamedValues> run = second.run({{"x", tensor({1.0F, 1.0F})}});
  ASSERT_FALSE(run.wait());
  EXPECT_EQ(run.wait().error().code(), ErrorCode::io_error);
}

TEST_F(SharedFiles, are_found_again_with_other_options_when_the_device_is_back) {
  const fs::path path = product_file();
  const Model first = load(path);
  EXPECT_EQ(of_product(first), 6);
  lose();
  EXPECT_EQ(of_product(first), 6);
  const Model other = load(path, with(Optimize::none));
  LoadOptions halves = with(Optimize::all);
  halves.precision = Precision::f16;
  const Model half = load(path, halves);
  EXPECT_EQ(of_product(other) + of_product(half), 12);
  EXPECT_TRUE(holds(weight_bytes));
}

TEST_F(SharedFiles, loaded_before_others_run_on_a_device_that_came_back_are_on_it_once) {
  const fs::path path = product_file();
  const Model first = load(path);
  EXPECT_EQ(of_product(first), 6);
  lose();
  const Model second = load(path);
  EXPECT_EQ(of_product(second), 6);
  EXPECT_EQ(of_product(first), 6);
  EXPECT_TRUE(holds(weight_bytes));
}

TEST_F(SharedFiles, count_once_where_a_model_has_two_graphs) {
  const Message both = graph(node("Identity", {"x"}, {"i"})
                                 .add("MatMul", {"i", "w"}, {"h"})
                                 .add("ReduceMax", {"h"}, {"m"})
                                 .add("Mul", {"m", "s"}, {"y"}),
                             {"x", "s"}, {"y"}, {weights(3), float_tensor("s", {1, 2})});
  write(folder_ / "both.onnx", model(both).bytes());
  const Model one = load(folder_ / "both.onnx");
  EXPECT_EQ(of_product(one), 6);
  const NamedValues given{{"x", tensor({1.0F, 1.0F})}, {"s", tensor({5.0F, 6.0F})}};
  EXPECT_EQ(one.run(given).get().at("y").tensor().to_vector<float>(), (std::vector<float>{30, 36}));
  EXPECT_GE(one.stats().weight_bytes, weight_bytes);
  EXPECT_LT(one.stats().weight_bytes, weight_bytes + little);
}

TEST_F(SharedFiles, whose_constants_failed_are_computed_again_by_the_next_model) {
  ModelFile file;
  file.ir_version = 10;
  file.opsets = {{"", 21}};
  file.graph = GraphBuilder{}
                   .input("x", {2})
                   .constant("w", reals(std::vector<float>(100000, 3)))
                   .node("Mul", {"w", "w"}, {"squares"})
                   .node("ReduceMax", {"squares"}, {"most"})
                   .node("Mul", {"x", "most"}, {"y"})
                   .output("y")
                   .graph;
  const fs::path path = folder_ / "folds.onnx";
  write(path, write_model(file).written());
  const Model first = load(path, with(Optimize::none));
  faults_.fail_kernel();
  EXPECT_THROW((void)of_product(first), Error);
  EXPECT_EQ(faults_.counters().injected, 1U);
  EXPECT_EQ(of_product(load(path, with(Optimize::none))), 9) << "while that one lives";
}

TEST_F(SharedFiles, are_loaded_replaced_and_let_go_by_many_threads_at_once) {
  const fs::path path = folder_ / "small.onnx";
  write(path, small(1));
  std::atomic<int> version = 1;
  std::atomic<bool> stop = false;
  {
    std::vector<std::jthread> threads;
    for (std::size_t thread = 0; thread < 4; ++thread)
      threads.emplace_back([&, thread] {
        const DeviceScope scope{device_};
        std::vector<Model> kept(3);
        for (std::size_t i = 0; i < 150; ++i) {
          const int low = version.load();
          Model& one = kept[(i + thread) % kept.size()];
          one = load(path, with(i % 3 == 0 ? Optimize::none : Optimize::all));
          const float y = of_product(one);
          EXPECT_GE(y, 2.0F * static_cast<float>(low)) << "not an older one's weights";
          EXPECT_EQ(of_product(one), y);
        }
      });
    threads.emplace_back([&] {
      while (!stop && version < 500) {
        std::ofstream{folder_ / "next.onnx", std::ios::binary}
            << small(static_cast<float>(version + 1));
        fs::rename(folder_ / "next.onnx", path);
        ++version;
      }
    });
    for (std::size_t i = 0; i < 4; ++i) threads[i].join();
    stop = true;
  }
}

}  // namespace
}  // namespace stoker::onnx
