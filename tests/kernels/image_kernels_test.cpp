// What image kernels refuse, and results that can be worked out by hand.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <numeric>

#include "cpu_run.hpp"

namespace stoker {
namespace {

using Values = std::vector<std::uint8_t>;

const std::array kernels_of_images{"threshold",     "median", "erode",     "dilate",
                                   "convert_color", "rotate", "histogram", "equalize"};

/// What a kernel needs to be called at all.
Params needed(std::string_view kernel) {
  return kernel == "rotate" ? Params{{"angle", 30.0}} : Params{};
}

Error refusal(const char* kernel, const TensorSpec& image, const Params& params) {
  const auto outputs = infer(kernel, {image}, params);
  if (outputs) {
    ADD_FAILURE() << kernel << " takes " << image.to_string();
    return Error{"", ErrorCode::internal, ""};
  }
  EXPECT_EQ(outputs.error().op(), kernel);
  return outputs.error();
}

Values run_bytes(const char* kernel, const Shape& shape, const Values& values,
                 const Params& params = {}) {
  const std::vector<Bytes> inputs{bytes_of(std::span{values})};
  return values_in<std::uint8_t>(run_kernel(kernel, {{DType::u8, shape}}, inputs, params).bytes[0]);
}

std::vector<float> run_floats(const char* kernel, const Shape& shape,
                              const std::vector<float>& values, const Params& params = {}) {
  const std::vector<Bytes> inputs{bytes_of(std::span{values})};
  return values_in<float>(run_kernel(kernel, {{DType::f32, shape}}, inputs, params).bytes[0]);
}

Values counted(std::size_t n) {
  Values values(n);
  std::iota(values.begin(), values.end(), std::uint8_t{1});
  return values;
}

TEST(ImageKernels, refuse_what_is_no_image) {
  for (const char* kernel : kernels_of_images)
    for (const Shape& shape : {Shape{5, 7}, Shape{5, 7, 2}, Shape{1, 5, 7, 3}, Shape{}}) {
      const Error error = refusal(kernel, {DType::u8, shape}, needed(kernel));
      EXPECT_EQ(error.code(), ErrorCode::shape_mismatch);
      EXPECT_NE(error.reason().find("is not an image"), std::string_view::npos);
    }
}

TEST(ImageKernels, take_the_dtypes_of_images_only) {
  for (const char* kernel : kernels_of_images)
    for (const DType dtype : {DType::f64, DType::s8, DType::u16, DType::boolean})
      EXPECT_EQ(refusal(kernel, {dtype, {5, 7, 3}}, needed(kernel)).code(),
                ErrorCode::dtype_mismatch);
}

TEST(ImageKernels, refuse_parameters_out_of_range) {
  const TensorSpec image{DType::u8, {5, 7, 3}};
  const auto refused = [&](const char* kernel, const Params& params) {
    const Error error = refusal(kernel, image, params);
    EXPECT_EQ(error.code(), ErrorCode::invalid_parameter);
    return std::string{error.detail("parameter")};
  };
  for (const int radius : {0, 4, -1}) EXPECT_EQ(refused("median", {{"radius", radius}}), "radius");
  for (const char* kernel : {"erode", "dilate"}) {
    EXPECT_EQ(refused(kernel, {{"radius", -1}}), "radius");
    EXPECT_EQ(refused(kernel, {{"radius", 33}}), "radius");
    EXPECT_EQ(refused(kernel, {{"shape", "ellipse"}}), "shape");
    EXPECT_EQ(refused(kernel, {{"border", "mirror"}}), "border");
  }
  EXPECT_EQ(refused("threshold", {{"mode", "otsu"}}), "mode");
  EXPECT_EQ(refused("rotate", {}), "angle");
  EXPECT_EQ(refused("rotate", {{"angle", 1.0}, {"mode", "bicubic"}}), "mode");
  EXPECT_EQ(refused("convert_color", {{"to", "cmyk"}}), "to");
  EXPECT_EQ(refused("histogram", {{"bins", 0}}), "bins");
  EXPECT_EQ(refused("histogram", {{"low", 0.5}, {"high", 0.5}}), "high");
}

TEST(ImageKernels, have_no_colours_to_convert_in_a_grey_image) {
  EXPECT_EQ(refusal("convert_color", {DType::u8, {5, 7, 1}}, {}).code(), ErrorCode::shape_mismatch);
}

TEST(ImageKernels, turn_no_image_that_is_too_long) {
  const TensorSpec strip{DType::u8, {1, (1 << 28) + 1, 1}};
  EXPECT_EQ(refusal("rotate", strip, {{"angle", 1.0}}).code(), ErrorCode::limit_exceeded);
  EXPECT_TRUE(infer("rotate", {{DType::u8, {1, 1 << 28, 1}}}, {{"angle", 1.0}}).has_value());
}

TEST(Threshold, compares_bytes_with_whole_levels) {
  const Values values{0, 127, 128, 129, 255};
  const auto with = [&](const char* mode) {
    return run_bytes("threshold", {1, 5, 1}, values, {{"value", 128.0 / 255}, {"mode", mode}});
  };
  EXPECT_EQ(with("binary"), (Values{0, 0, 0, 255, 255}));
  EXPECT_EQ(with("binary_inv"), (Values{255, 255, 255, 0, 0}));
  EXPECT_EQ(with("trunc"), (Values{0, 127, 128, 128, 128}));
  EXPECT_EQ(with("to_zero"), (Values{0, 0, 0, 129, 255}));
  EXPECT_EQ(with("to_zero_inv"), (Values{0, 127, 128, 0, 0}));
}

TEST(Threshold, has_each_of_256_values_of_bytes) {
  Values all(256);
  std::iota(all.begin(), all.end(), std::uint8_t{0});
  for (int value = 0; value < 256; ++value) {
    const Values result = run_bytes("threshold", {1, 256, 1}, all, {{"value", value / 255.0}});
    EXPECT_EQ(std::ranges::count(result, 255), 255 - value);
  }
}

TEST(Median, drops_a_speck) {
  Values values(25, 10);
  values[12] = 200;
  EXPECT_EQ(run_bytes("median", {5, 5, 1}, values), Values(25, 10));
}

TEST(Morphology, opens_and_closes) {
  // A speck, and a square of 3 × 3 with a hole.
  Values picture(7 * 9, 0);
  picture[1 * 9 + 1] = 255;
  for (const std::size_t row : {2U, 3U, 4U})
    for (const std::size_t column : {4U, 5U, 6U}) picture[row * 9 + column] = 255;
  const Shape shape{7, 9, 1};
  Values without_speck = picture;
  without_speck[1 * 9 + 1] = 0;
  const Values opened = run_bytes("dilate", shape, run_bytes("erode", shape, picture));
  EXPECT_EQ(opened, without_speck);

  Values with_hole = without_speck;
  with_hole[3 * 9 + 5] = 0;
  const Values closed = run_bytes("erode", shape, run_bytes("dilate", shape, with_hole));
  EXPECT_EQ(closed, without_speck);
}

TEST(Morphology, has_windows_of_three_shapes) {
  Values point(49, 0);
  point[24] = 1;
  const auto pixels = [&](const char* shape) {
    const Values grown = run_bytes("dilate", {7, 7, 1}, point, {{"radius", 2}, {"shape", shape}});
    return std::accumulate(grown.begin(), grown.end(), 0);
  };
  EXPECT_EQ(pixels("square"), 25);
  EXPECT_EQ(pixels("cross"), 9);
  EXPECT_EQ(pixels("disk"), 13);
}

TEST(Rotate, is_exact_for_quarters_of_a_turn) {
  const Values picture = counted(6);
  const auto turned = [&](double angle) {
    return run_bytes("rotate", {2, 3, 1}, picture, {{"angle", angle}, {"expand", true}});
  };
  // 1 2 3
  // 4 5 6
  EXPECT_EQ(turned(0), picture);
  EXPECT_EQ(turned(90), (Values{3, 6, 2, 5, 1, 4}));
  EXPECT_EQ(turned(180), (Values{6, 5, 4, 3, 2, 1}));
  EXPECT_EQ(turned(270), (Values{4, 1, 5, 2, 6, 3}));
  EXPECT_EQ(turned(-90), turned(270));
  EXPECT_EQ(turned(36000), picture);
}

TEST(Rotate, expands_to_what_holds_all) {
  const auto size = [](double angle, const Shape& shape) {
    return infer("rotate", {{DType::u8, shape}}, {{"angle", angle}, {"expand", true}})
        .value()[0]
        .shape;
  };
  EXPECT_EQ(size(90, {2, 3, 1}), (Shape{3, 2, 1}));
  EXPECT_EQ(size(180, {2, 3, 1}), (Shape{2, 3, 1}));
  EXPECT_EQ(size(45, {10, 10, 3}), (Shape{15, 15, 3}));
  EXPECT_EQ(size(30, {100, 200, 4}), (Shape{187, 224, 4}));
  EXPECT_EQ(size(45, {0, 10, 3}), (Shape{0, 10, 3}));
}

TEST(Rotate, leaves_a_background_without_alpha) {
  const Values corner = run_bytes("rotate", {3, 3, 4}, Values(36, 255),
                                  {{"angle", 45.0}, {"expand", true}, {"background", 0.2}});
  EXPECT_EQ(Values(corner.begin(), corner.begin() + 4), (Values{51, 51, 51, 0}));
}

TEST(ConvertColor, has_the_ranges_that_it_says) {
  const auto to = [](const char* space, const Values& rgb) {
    return run_bytes("convert_color", {1, 1, 3}, rgb, {{"to", space}});
  };
  EXPECT_EQ(to("bgr", {1, 2, 3}), (Values{3, 2, 1}));
  EXPECT_EQ(to("hsv", {255, 0, 0}), (Values{0, 255, 255}));
  EXPECT_EQ(to("hsv", {0, 255, 0}), (Values{85, 255, 255}));
  EXPECT_EQ(to("hsv", {0, 0, 128}), (Values{170, 255, 128}));
  EXPECT_EQ(to("hsv", {7, 7, 7}), (Values{0, 0, 7}));
  EXPECT_EQ(to("hsl", {255, 255, 255}), (Values{0, 0, 255}));
  EXPECT_EQ(to("hsl", {0, 0, 255}), (Values{170, 255, 128}));
  EXPECT_EQ(to("ycbcr", {255, 255, 255}), (Values{255, 128, 128}));
  EXPECT_EQ(to("ycbcr", {255, 0, 0}), (Values{76, 85, 255}));
  const std::vector<float> grey =
      run_floats("convert_color", {1, 1, 3}, {0.25F, 0.25F, 0.25F}, {{"to", "ycbcr"}});
  EXPECT_NEAR(grey[0], 0.25F, 1e-6F);
  EXPECT_NEAR(grey[1], 0.5F, 1e-6F);
  EXPECT_NEAR(grey[2], 0.5F, 1e-6F);
}

TEST(ConvertColor, returns_to_where_it_came_from) {
  Values colours;
  for (const int r : {0, 1, 100, 254, 255})
    for (const int g : {0, 2, 99, 255})
      for (const int b : {0, 3, 101, 253, 255})
        for (const int value : {r, g, b}) colours.push_back(static_cast<std::uint8_t>(value));
  const Shape shape{1, static_cast<std::int64_t>(colours.size() / 3), 3};
  std::vector<float> floats;
  for (const std::uint8_t value : colours) floats.push_back(static_cast<float>(value) / 255);
  for (const char* space : {"bgr", "hsv", "hsl", "ycbcr"}) {
    const auto there = run_floats("convert_color", shape, floats, {{"to", space}});
    const auto back = run_floats("convert_color", shape, there, {{"from", space}});
    for (std::size_t i = 0; i < floats.size(); ++i)
      EXPECT_NEAR(back[i], floats[i], 1e-5F) << space << ' ' << i;
  }
}

TEST(Histogram, counts_every_value_of_bytes_by_itself) {
  const Values values{0, 0, 7, 255, 255, 255};
  const std::vector<Bytes> inputs{bytes_of(std::span{values})};
  const KernelOutputs made = run_kernel("histogram", {{DType::u8, {2, 3, 1}}}, inputs);
  EXPECT_EQ(made.specs[0], (TensorSpec{DType::u32, {1, 256}}));
  std::vector<std::uint32_t> want(256, 0);
  want[0] = 2;
  want[7] = 1;
  want[255] = 3;
  EXPECT_EQ(values_in<std::uint32_t>(made.bytes[0]), want);
}

TEST(Histogram, leaves_out_what_is_outside_and_what_is_no_number) {
  const std::vector<float> values{
      -0.1F, 0.0F, 0.49F, 0.5F, 1.0F, 1.1F, std::nanf(""), std::numeric_limits<float>::infinity()};
  const std::vector<Bytes> inputs{bytes_of(std::span{values})};
  const KernelOutputs made =
      run_kernel("histogram", {{DType::f32, {1, 8, 1}}}, inputs, {{"bins", 2}});
  EXPECT_EQ(values_in<std::uint32_t>(made.bytes[0]), (std::vector<std::uint32_t>{2, 2}));
}

TEST(Equalize, spreads_what_is_close_together) {
  EXPECT_EQ(run_bytes("equalize", {1, 4, 1}, {10, 11, 12, 13}), (Values{0, 85, 170, 255}));
  EXPECT_EQ(run_bytes("equalize", {1, 4, 1}, {10, 10, 10, 200}), (Values{0, 0, 0, 255}));
}

TEST(Equalize, keeps_alpha_and_channels_of_one_value) {
  EXPECT_EQ(run_bytes("equalize", {1, 2, 4}, {9, 1, 7, 50, 9, 3, 8, 60}),
            (Values{9, 0, 0, 50, 9, 255, 255, 60}));
}

TEST(Equalize, takes_bytes_only) {
  EXPECT_EQ(refusal("equalize", {DType::f32, {5, 7, 3}}, {}).code(), ErrorCode::dtype_mismatch);
}

}  // namespace
}  // namespace stoker
