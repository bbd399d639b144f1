// Networks that others trained, run by eight threads at once whose signatures alternate. STOKER_BENCH_MODELS names a
// folder with those that are too large for the tree.
#include <array>
#include <atomic>
#include <cstdlib>
#include <filesystem>
#include <thread>

#include "stoker/tests/checkout/checkout.hpp"
#include "stoker/tests/onnx/run/small_models.hpp"
#include "stoker/tests/tensor/fixture.hpp"

namespace stoker::onnx {
namespace {

namespace fs = std::filesystem;

class Networks : public TensorsOnDevices {
 protected:
  using Numbers = std::vector<std::vector<float>>;

  static Tensor wave(const Shape& shape) {
    return sin(reshape(iota({shape.elements()}, DType::f32), shape) * 0.37F);
  }
  static NamedValues tokens(std::int64_t batch, std::int64_t count) {
    const Tensor all = remainder(iota({batch, count}, DType::s32) * 7, 100);
    return {{"input", as_type(all, DType::s32).eval()}};
  }
  static Numbers numbers_of(const Model& model, const NamedValues& inputs) {
    Numbers all;
    for (const auto& [name, value] : model.run(inputs).get())
      all.push_back(value.tensor().to_vector<float>());
    return all;
  }
  static bool are_near(const Numbers& some, const Numbers& others) {
    const auto is_near = [](float a, float b) {
      return std::abs(a - b) <= 1e-4F + 1e-3F * std::abs(b);
    };
    return std::ranges::equal(some, others, [&](const auto& one, const auto& other) {
      return std::ranges::equal(one, other, is_near);
    });
  }
  /// Each thread's outputs are those of a model that runs alone, as its file has it.
  static void expect_eight_threads(const fs::path& path, const std::array<NamedValues, 2>& inputs,
                                   int runs) {
    const Device device = current_device();
    std::array<Numbers, 2> expected;
    for (std::size_t which = 0; which < 2; ++which)
      expected[which] =
          numbers_of(load(path, {.device = device, .optimize = Optimize::none}), inputs[which]);
    const Model model = load(path, {.device = device});
    std::atomic<int> wrong{0};
    {
      std::vector<std::jthread> threads;
      for (std::size_t thread = 0; thread < 8; ++thread)
        threads.emplace_back([&, thread] {
          const DeviceScope here{device};
          for (std::size_t i = 0; i < static_cast<std::size_t>(runs); ++i) {
            const std::size_t which = (i + thread) % 2;
            if (!are_near(numbers_of(model, inputs[which]), expected[which])) ++wrong;
          }
        });
    }
    EXPECT_EQ(wrong, 0) << path;
  }
};
INSTANTIATE_TEST_SUITE_P(Devices, Networks, every_device(), device_name);

TEST_P(Networks, of_tokens_serve_threads_whose_sequences_alternate) {
  expect_eight_threads(build_folder() / "onnx_cases/models/tiny-transformer/model.onnx",
                       {tokens(2, 16), tokens(3, 9)}, 20);
}

TEST_P(Networks, that_are_warm_compile_no_shader_for_new_extents) {
  const Model model = load(build_folder() / "onnx_cases/models/tiny-transformer/model.onnx",
                           {.device = current_device()});
  const auto compiled = [&](const std::vector<std::int64_t>& batches,
                            const std::vector<std::int64_t>& counts) {
    const std::uint64_t before = current_device().stats().backend.pipelines_created;
    for (const std::int64_t batch : batches)
      for (const std::int64_t count : counts)
        static_cast<void>(numbers_of(model, tokens(batch, count)));
    return current_device().stats().backend.pipelines_created - before;
  };
  // One of each class: its softmax is over the batch, by fours, with an end or without; products are over the tokens.
  const std::uint64_t first = compiled({1, 4, 5, 8, 9, 16}, {6, 7, 12, 16, 40});
  EXPECT_EQ(first > 0, current_device().info().type != DeviceType::cpu);
  EXPECT_EQ(compiled({2, 3, 6, 7, 10, 11}, {9, 10, 11, 13, 20, 24, 30, 33, 48}), 0U);
}

TEST_P(Networks, of_images_serve_threads_whose_batches_alternate) {
  if (current_device().info().type == DeviceType::software_gpu)
    GTEST_SKIP() << "a GPU in software takes seconds for an image";
  const auto images = [](std::int64_t batch) {
    return NamedValues{{"input", wave({batch, 1, 224, 224}).eval()}};
  };
  expect_eight_threads(checkout_folder() / "examples/data/super_resolution.onnx",
                       {images(1), images(2)}, 2);
}

TEST_P(Networks, of_sounds_serve_threads_whose_batches_alternate) {
  const char* const folder = std::getenv("STOKER_BENCH_MODELS");  // NOLINT(concurrency-mt-unsafe)
  if (folder == nullptr) GTEST_SKIP() << "STOKER_BENCH_MODELS names no folder of models";
  const auto windows = [](std::int64_t batch) {
    return NamedValues{{"input", wave({batch, 576}).eval()},
                       {"state", wave({2, batch, 128}).eval()},
                       {"sr", Known::integer(16000)}};
  };
  expect_eight_threads(fs::path{folder} / "silero-vad-16k/model.onnx", {windows(1), windows(4)},
                       20);
}

}  // namespace
}  // namespace stoker::onnx
