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
