// The examples whose models are too large for this tree, with small models of the same inputs and outputs that are
// made here: what the programs do around a model is tried, not what a network has learned.
#include <gtest/gtest.h>
#include <unistd.h>

#include <array>
#include <cstdio>
#include <filesystem>
#include <fstream>

#include "stoker/api/image.hpp"
#include "stoker/api/onnx.hpp"
#include "stoker/api/stoker.hpp"
#include "stoker/api/tensor.hpp"
#include "stoker/tests/checkout/checkout.hpp"

namespace stoker {
namespace {

using Tensors = std::vector<Tensor>;

class ModelExamples : public testing::Test {
 protected:
  ModelExamples() { std::filesystem::create_directories(folder); }
  ~ModelExamples() override { std::filesystem::remove_all(folder); }

  [[nodiscard]] std::string path(const char* name) const { return (folder / name).string(); }
  /// What the program writes to standard output and error.
  static std::string output_of(const std::string& command) {
    std::string text;
    FILE* const pipe = popen(((build_folder() / "bin" / command).string() + " 2>&1").c_str(), "r");
    std::array<char, 256> part{};
    while (fgets(part.data(), part.size(), pipe) != nullptr) text += part.data();
    pclose(pipe);
    return text;
  }
  /// A face is a bright quarter of the picture. Each quarter is found twice, once a little off.
  void save_faces() const {
    const Tensor boxes = reshape(
        tensor({0.0, 0.0, 0.5, 0.5, 0.5, 0.0, 1.0, 0.5, 0.0, 0.5, 0.5, 1.0, 0.5, 0.5, 1.0, 1.0}),
        {1, 4, 4});
    const auto find = [&](const Tensors& x) {
      const Tensor parts = reshape(x[0], {3, 2, 120, 2, 160});
      const Tensor light = (mean(parts, {.axes = Axes{0, 2, 4}}) + 1) / 2;
      const Tensor face = reshape(concatenate({light * 0.9, light}), {1, 8, 1});
      return Tensors{concatenate({1 - face, face}, 2), concatenate({boxes + 0.01, boxes}, 1)};
    };
    onnx::save(find, {{"input", DType::f32, {1, 3, 240, 320}}}, path("faces.onnx"),
               {.outputs = {"scores", "boxes"}});
  }
  /// 640 by 480, dark but for the upper right quarter.
  void save_photo() const {
    const Tensor right = greater_equal(iota_along({480, 640, 3}, 1), 320);
    const Tensor above = less(iota_along({480, 640, 3}, 0), 240);
    const Tensor photo = as_type(logical_and(right, above), DType::u8) * 255;
    image::save(path("photo.png"), {photo.spec(), photo.to_bytes()});
  }
  void expect_frame(const char* name) const {
    const Image made = image::load(path(name));
    const auto pixel = [&](std::size_t row, std::size_t column) {
      const std::size_t at = 3 * (640 * row + column);
      return std::array{std::to_integer<int>(made.bytes[at]),
                        std::to_integer<int>(made.bytes[at + 1]),
                        std::to_integer<int>(made.bytes[at + 2])};
    };
    EXPECT_EQ(pixel(0, 400), (std::array{255, 128, 0}));
    EXPECT_EQ(pixel(239, 400), (std::array{255, 128, 0}));
    EXPECT_EQ(pixel(100, 320), (std::array{255, 128, 0}));
    EXPECT_EQ(pixel(100, 400), (std::array{255, 255, 255}));
    EXPECT_EQ(pixel(400, 400), (std::array{0, 0, 0}));
  }
  /// Loud is speech; what was speech is forgotten with half a second.
  void save_speech() const {
    const auto hear = [](const Tensors& x) {
      const Tensor loud = as_type(greater(mean(abs(x[0])), 0.1), DType::f32);
      const Tensor remembered = max(x[1] - 0.03, loud);
      return Tensors{reshape(mean(remembered), {1, 1}), remembered};
    };
    onnx::save(hear,
               {{"input", DType::f32, {1, 576}},
                {"state", DType::f32, {2, 1, 128}},
                {"sr", DType::s64, {}}},
               path("speech.onnx"), {.outputs = {"output", "stateN"}});
  }
  /// A second each: silence, noise, silence, silence.
  void save_sound() const {
    std::string samples;
    for (int i = 0; i < 4 * 16'000; ++i) {
      const int level = i / 16'000 == 1 ? (i % 2 == 0 ? 8000 : -8000) : 0;
      samples += static_cast<char>(level & 0xff);
      samples += static_cast<char>(level >> 8 & 0xff);
    }
    const auto number = [](std::uint32_t value, int bytes) {
      std::string text;
      for (int i = 0; i < bytes; ++i) text += static_cast<char>(value >> (8 * i) & 0xff);
      return text;
    };
    const auto length = static_cast<std::uint32_t>(samples.size());
    std::ofstream{path("sound.wav"), std::ios::binary}
        << "RIFF" << number(36 + length, 4) << "WAVEfmt " << number(16, 4) << number(1, 2)
        << number(1, 2) << number(16'000, 4) << number(32'000, 4) << number(2, 2) << number(16, 2)
        << "data" << number(length, 4) << samples;
  }

  System system;
  DeviceScope scope{system.device("cpu")};
  std::filesystem::path folder = std::filesystem::temp_directory_path() /
                                 ("stoker_model_examples_" + std::to_string(getpid()));
};

TEST_F(ModelExamples, draw_frames_around_faces) {
  save_faces();
  save_photo();
  EXPECT_EQ(output_of("example_onnx_faces " + path("faces.onnx") + " " + path("photo.png") + " " +
                      path("out.png")),
            "a face at 320, 0, 320 by 240: 99 %\n1 face\n");  // made small, its edges are blurred
  expect_frame("out.png");
  const std::string said = output_of("stoker run --device cpu --allow " + folder.string() + " " +
                                     (checkout_folder() / "examples/scripts/faces.lua").string() +
                                     " model=" + path("faces.onnx") +
                                     " input=" + path("photo.png") + " output=" + path("lua.png"));
  EXPECT_TRUE(said.starts_with("a face at 320, 0, 320 by 240\n1 face\n")) << said;
  expect_frame("lua.png");
}

TEST_F(ModelExamples, hear_speech_second_by_second) {
  save_speech();
  save_sound();
  EXPECT_EQ(output_of("example_onnx_speech " + path("speech.onnx") + " " + path("sound.wav")),
            "   0 s    3 %\n"  // its last window has begun to be loud
            "   1 s  100 %  speech\n"
            "   2 s   51 %  speech\n"  // what is remembered
            "   3 s    0 %\n");
  std::ofstream{path("sound.wav")} << "no sound";
  EXPECT_EQ(output_of("example_onnx_speech " + path("speech.onnx") + " " + path("sound.wav")),
            "speech: '" + path("sound.wav") + "' is no WAV file\n");
}

}  // namespace
}  // namespace stoker
