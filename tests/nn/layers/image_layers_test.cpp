// Layers of images that change their extents: shapes, numbers worked out by hand, and what is
// refused.
#include "stoker/api/nn/functional/resampling.hpp"
#include "stoker/api/nn/graph/network.hpp"
#include "stoker/api/nn/layers.hpp"
#include "stoker/api/tensor.hpp"
#include "stoker/tests/nn/layer_fixture.hpp"
#include "stoker/tests/nn/refused.hpp"
#include "stoker/tests/tensor/differences.hpp"

namespace stoker::nn {
namespace {

class ImageLayers : public Tensors {
 protected:
  /// What a network with one such layer, called "it", is refused with.
  static Error refused(std::string_view kind, const Params& options, const Shape& row,
                       DType dtype = DType::f32) {
    return error_of([&] {
      return Network{Layer{Named{std::string{kind}, options}, "it"}(input("x", row, dtype))};
    });
  }
  static Tensor apply(std::string_view kind, const Params& options, const Tensor& x,
                      const Variables& variables = {}) {
    return OneLayer{kind, options}({x}, variables).outputs[0];
  }
};

/// [1, n, 1]
Tensor line(std::initializer_list<double> numbers) { return reshape(tensor(numbers), {1, -1, 1}); }

// Transposed convolutions -------------------------------------------------------------------------

TEST_F(ImageLayers, a_transposed_convolution_spreads_what_it_is_given) {
  // 1 0 2 between two zeros at each end, met by 1 10 100 as it stands.
  const Variables kernel{{"kernel", reshape(tensor({1.0, 10.0, 100.0}), {3, 1, 1})}};
  const Params by_two{{"units", 1}, {"kernel_size", 3}, {"strides", 2}, {"use_bias", false}};
  expect_values<float>(apply("conv_transpose", by_two, line({1, 2}), kernel), {1, 5, 1},
                       {100, 10, 201, 20, 2});
  Params same = by_two;
  same.set("padding", std::string{"same"});
  expect_values<float>(apply("conv_transpose", same, line({1, 2}), kernel), {1, 4, 1},
                       {100, 10, 201, 20});
  Params pads = by_two;
  pads.set("pads", std::vector<std::int64_t>{0, 1});
  expect_values<float>(apply("conv_transpose", pads, line({1, 2}), kernel), {1, 2, 1}, {201, 20});
}

TEST_F(ImageLayers, a_transposed_convolution_makes_images_a_stride_larger) {
  const auto shape = [](const Params& options, const Shape& x) {
    const OneLayer layer{"conv_transpose", options};
    Variables variables;
    for (const VariableSpec& spec : layer.variables({zeros(x)}))
      variables[spec.name] = zeros(spec.shape);
    return layer({zeros(x)}, variables).outputs[0].shape();
  };
  EXPECT_EQ(
      shape({{"units", 4}, {"kernel_size", 3}, {"strides", 2}, {"padding", "same"}}, {2, 7, 5, 3}),
      (Shape{2, 14, 10, 4}));
  EXPECT_EQ(shape({{"units", 4}, {"kernel_size", {2, 5}}, {"strides", {3, 2}}}, {2, 7, 5, 3}),
            (Shape{2, 21, 13, 4}));
  EXPECT_EQ(shape({{"units", 4}, {"kernel_size", 2}, {"kernel_dilation", 3}}, {2, 7, 5, 3}),
            (Shape{2, 10, 8, 4}));
  EXPECT_EQ(shape({{"units", 4}, {"kernel_size", 2}, {"channels", "first"}}, {2, 3, 4, 4, 4}),
            (Shape{2, 4, 5, 5, 5}));
  EXPECT_EQ((OneLayer{"conv_transpose", {{"units", 4}, {"kernel_size", {2, 3}}}}
                 .variables({zeros({1, 7, 5, 6})})[0]
                 .shape),
            (Shape{2, 3, 6, 4}));
}

TEST_F(ImageLayers, a_transposed_convolution_is_the_gradient_of_the_one_that_it_undoes) {
  // Of a convolution with strides: d(Σ conv(y, k)·x)/dy, with taps and channels turned round.
  const Tensor x = sample({2, 3, 2, 4});
  const Tensor k = sample({2, 3, 5, 4}, -1, 1, 2);  // [space…, channels of y, channels of x]
  const OneLayer forwards{
      "conv", {{"units", 4}, {"kernel_size", {2, 3}}, {"strides", 2}, {"use_bias", false}}};
  const Tensor slope = grad([&](const Tensor& y) {
    return sum(forwards({y}, {{"kernel", k}}).outputs[0] * x);
  })(zeros({2, 6, 5, 5}, DType::f64));
  const Tensor turned = transpose(reverse(k, Axes{0, 1}), Axes{0, 1, 3, 2});
  const Tensor back =
      apply("conv_transpose",
            {{"units", 5}, {"kernel_size", {2, 3}}, {"strides", 2}, {"use_bias", false}}, x,
            {{"kernel", turned}});
  EXPECT_EQ(back.shape(), (Shape{2, 6, 5, 5}));
  expect_near(back, slope.to_vector<double>(), 1e-12);
}

TEST_F(ImageLayers, a_transposed_convolution_that_cannot_be_is_refused_by_name) {
  const Error flat = refused("conv_transpose", {{"units", 2}}, {4});
  EXPECT_EQ(flat.code(), ErrorCode::shape_mismatch);
  EXPECT_EQ(flat.detail("layer"), "it");
  const Error taps = refused("conv_transpose", {{"units", 2}, {"kernel_size", {1, 2}}}, {4, 3});
  EXPECT_EQ(taps.code(), ErrorCode::invalid_parameter);
  EXPECT_EQ(taps.reason(),
            "layer 'it' (conv_transpose): kernel_size: expected one number of at least 1, or one "
            "for each of 1 axes, got [1,2]");
  const Error pads = refused("conv_transpose", {{"units", 2}, {"pads", {1, 1, 1}}}, {4, 3});
  EXPECT_EQ(pads.code(), ErrorCode::invalid_parameter);
  EXPECT_EQ(pads.detail("parameter"), "pads");
  const Error strides = refused("conv_transpose", {{"units", 2}, {"strides", 0}}, {4, 3});
  EXPECT_EQ(strides.detail("parameter"), "strides");
}

// Separable convolutions --------------------------------------------------------------------------

TEST_F(ImageLayers, a_separable_convolution_is_a_depthwise_one_in_parts) {
  const Tensor x = sample({2, 7, 6, 3});
  const Tensor a = sample({3, 1, 1, 6}, -1, 1, 2);
  const Tensor b = sample({1, 2, 1, 6}, -1, 1, 3);
  for (const char* const padding : {"valid", "same"}) {
    const Params options{{"multiplier", 2},
                         {"kernel_size", {3, 2}},
                         {"strides", {2, 3}},
                         {"padding", padding},
                         {"use_bias", false}};
    const Tensor whole = apply("depthwise_conv", options, x, {{"kernel", a * b}});
    const Tensor parts = apply("separable_conv2d", options, x, {{"kernel_1", a}, {"kernel_2", b}});
    EXPECT_EQ(parts.shape(), whole.shape());
    expect_near(parts, whole.to_vector<double>(), 1e-12);
  }
}

TEST_F(ImageLayers, a_separable_convolution_has_a_kernel_and_a_bias_for_each_axis) {
  const OneLayer layer{"separable_conv3d", {{"multiplier", 2}, {"kernel_size", {2, 3, 4}}}};
  const auto specs = layer.variables({zeros({1, 5, 5, 5, 3})});
  ASSERT_EQ(specs.size(), 6U);
  EXPECT_EQ(specs[0].name, "kernel_1");
  EXPECT_EQ(specs[0].shape, (Shape{2, 1, 1, 1, 6}));
  EXPECT_EQ(specs[1].name, "bias_1");
  EXPECT_EQ(specs[1].shape, (Shape{6}));
  EXPECT_EQ(specs[2].shape, (Shape{1, 3, 1, 1, 6}));
  EXPECT_EQ(specs[4].name, "kernel_3");
  EXPECT_EQ(specs[4].shape, (Shape{1, 1, 4, 1, 6}));
  // Of ones: (2 + 1)·1 + 10, of two taps and then one of weight 1.
  const Tensor y = apply("separable_conv2d", {{"kernel_size", {2, 1}}}, ones({1, 2, 1, 1}),
                         {{"kernel_1", ones({2, 1, 1, 1})},
                          {"bias_1", tensor({1.0})},
                          {"kernel_2", ones({1, 1, 1, 1})},
                          {"bias_2", tensor({10.0})}});
  expect_values<float>(y, {1, 1, 1, 1}, {13});
}

TEST_F(ImageLayers, a_separable_convolution_of_other_axes_is_refused_by_name) {
  const Error line = refused("separable_conv2d", {}, {7, 3});
  EXPECT_EQ(line.code(), ErrorCode::shape_mismatch);
  EXPECT_EQ(line.detail("layer"), "it");
  EXPECT_EQ(line.reason(),
            "layer 'it' (separable_conv2d): expected batch, channels and 2 axes of space, got "
            "[5,7,3]");
  EXPECT_EQ(refused("separable_conv3d", {}, {7, 7, 3}).code(), ErrorCode::shape_mismatch);
}

// Pools -------------------------------------------------------------------------------------------

TEST_F(ImageLayers, adaptive_pools_give_as_many_windows_as_they_are_told) {
  // Of 7 three: strides of 2, windows 3 wide.
  const Tensor x = line({1, 5, 2, 0, 3, 4, 8});
  const Params three{{"output_size", 3}};
  expect_values<float>(apply("adaptive_max_pool", three, x), {1, 3, 1}, {5, 3, 8});
  expect_near(apply("adaptive_avg_pool", three, x), {8.0 / 3, 5.0 / 3, 5});
  expect_near(apply("adaptive_lp_pool", three, x),
              {std::sqrt(30.0), std::sqrt(13.0), std::sqrt(89.0)}, 1e-5);
  EXPECT_EQ(apply("adaptive_avg_pool", {{"output_size", {27, 3}}}, zeros({2, 32, 32, 4})).shape(),
            (Shape{2, 27, 3, 4}));
  EXPECT_EQ(apply("adaptive_avg_pool", {{"output_size", {2, 1, 3}}, {"channels", "first"}},
                  zeros({2, 4, 5, 6, 7}))
                .shape(),
            (Shape{2, 4, 2, 1, 3}));
  expect_values<float>(apply("adaptive_max_pool", {{"output_size", 7}}, x), {1, 7, 1},
                       {1, 5, 2, 0, 3, 4, 8});
}

TEST_F(ImageLayers, adaptive_pools_cannot_give_more_than_there_is) {
  const Error more = refused("adaptive_avg_pool", {{"output_size", {2, 5}}}, {4, 4, 1});
  EXPECT_EQ(more.code(), ErrorCode::shape_mismatch);
  EXPECT_EQ(more.detail("layer"), "it");
  EXPECT_EQ(more.detail("output_size"), "5");
  EXPECT_EQ(refused("adaptive_max_pool", {}, {4, 4, 1}).code(), ErrorCode::invalid_parameter);
  EXPECT_EQ(refused("adaptive_lp_pool", {{"output_size", 0}}, {4, 1}).code(),
            ErrorCode::invalid_parameter);
}

TEST_F(ImageLayers, powers_of_16_bit_numbers_stay_in_their_range) {
  const Tensor large = as_type(line({300, 0, 3e-5, 4e-5}), DType::f16);
  const Tensor pooled = apply("lp_pool", {{"kernel_size", 2}}, large);
  EXPECT_EQ(pooled.dtype(), DType::f16);
  expect_near(as_type(pooled, DType::f32), {300, 5e-5}, 1e-6);
  expect_near(as_type(apply("global_lp_pool", {}, large), DType::f32), {300}, 1e-6);
}

TEST_F(ImageLayers, powers_of_windows_of_zeros_have_slope_0) {
  const auto slope_of = [](const char* kind, const Params& options) {
    return grad([&](const Tensor& x) { return sum(apply(kind, options, x)); })(line({0, 0, 3, 4}));
  };
  expect_near(slope_of("lp_pool", {{"kernel_size", 2}}), {0, 0, 0.6, 0.8});
  expect_near(slope_of("adaptive_lp_pool", {{"output_size", 2}}), {0, 0, 0.6, 0.8});
  expect_near(slope_of("global_lp_pool", {}), {0, 0, 0.6, 0.8});
}

TEST_F(ImageLayers, blur_pools_smooth_before_they_leave_out) {
  expect_values<float>(apply("blur_pool", {}, line({4, 0, 0, 8})), {1, 4, 1}, {2, 1, 2, 4});
  expect_values<float>(apply("blur_pool", {{"strides", 2}}, line({4, 0, 0, 8})), {1, 2, 1}, {2, 2});
  Tensor point = zeros({1, 1, 3, 3});
  point = put_slice(point, tensor({0, 0, 1, 1}), full({1, 1, 1, 1}, 16.0));
  expect_values<float>(apply("blur_pool", {{"channels", "first"}}, point), {1, 1, 3, 3},
                       {1, 2, 1, 2, 4, 2, 1, 2, 1});
  const Error whole = refused("blur_pool", {}, {4, 4, 1}, DType::s32);
  EXPECT_EQ(whole.code(), ErrorCode::dtype_mismatch);
  EXPECT_EQ(whole.detail("layer"), "it");
}

// Padding and resizing ----------------------------------------------------------------------------

TEST_F(ImageLayers, a_pad_puts_a_border_around_space_only) {
  const Tensor x = reshape(iota({4}, DType::f32), {1, 2, 2, 1});
  expect_values<float>(apply("pad", {{"config", {1, 0, 0, 1}}, {"value", 9.0}}, x), {1, 3, 3, 1},
                       {9, 9, 9, 0, 1, 9, 2, 3, 9});
  expect_values<float>(apply("pad", {{"config", {-1, 0, 0, 0}}}, x), {1, 1, 2, 1}, {2, 3});
  EXPECT_EQ(
      apply("pad", {{"config", {1, 2, 3, 4}}, {"channels", "first"}}, zeros({2, 5, 3, 3})).shape(),
      (Shape{2, 5, 6, 10}));
  EXPECT_EQ(apply("pad", {{"config", {1, 1}}}, zeros({2, 3, 4}, DType::u8)).spec(),
            (TensorSpec{DType::u8, {2, 5, 4}}));
  const Error one = refused("pad", {{"config", {1, 1}}}, {4, 4, 1});
  EXPECT_EQ(one.code(), ErrorCode::invalid_parameter);
  EXPECT_EQ(one.detail("layer"), "it");
  EXPECT_EQ(one.detail("parameter"), "config");
  EXPECT_EQ(refused("pad", {{"config", {-2, -2}}}, {4, 1}).code(), ErrorCode::shape_mismatch);
}

TEST_F(ImageLayers, nearest_takes_what_lies_under_the_middle) {
  const Tensor x = reshape(iota({9}), {1, 3, 3, 1});
  expect_values<int>(apply("resize", {{"shape", 4}}, x), {1, 4, 4, 1},
                     {0, 1, 1, 2, 3, 4, 4, 5, 3, 4, 4, 5, 6, 7, 7, 8});
  expect_values<int>(apply("resize", {{"shape", {1, 2}}}, x), {1, 1, 2, 1}, {3, 5});
}

TEST_F(ImageLayers, other_methods_mix_neighbours) {
  const Tensor x = line({0, 4});
  const auto resized = [&](const char* method, std::int64_t extent, const Tensor& from) {
    return apply("resize", {{"shape", {extent}}, {"method", method}}, from);
  };
  expect_near(resized("bilinear", 4, x), {0, 1, 3, 4});
  // Smaller by 2: the kernel reaches 2 to each side, 1 3 3 1 over 8; at the border 3 3 1 over 7.
  expect_near(resized("bilinear", 2, line({7, 14, 21, 28})), {12, 23});
  expect_near(apply("resize", {{"shape", 2}, {"method", "bilinear"}, {"antialias", false}},
                    line({7, 14, 21, 28})),
              {10.5, 24.5});
  for (const char* const method : {"bilinear", "bicubic", "lanczos3", "lanczos5"}) {
    SCOPED_TRACE(method);
    expect_near(resized(method, 5, line({3, 3, 3})), {3, 3, 3, 3, 3});
    expect_near(resized(method, 2, line({1, 2})), {1, 2});
    EXPECT_EQ(resized(method, 3, zeros({2, 6, 1}, DType::f16)).spec(),
              (TensorSpec{DType::f16, {2, 3, 1}}));
  }
  // Inside, Keys' cubic goes through every line exactly.
  const auto weights = resampling_weights(8, 16, {Resampling::bicubic});
  double place = 0;
  for (std::size_t from = 0; from < 8; ++from)
    place += static_cast<double>(from) * weights[from * 16 + 7];
  EXPECT_NEAR(place, 3.25, 1e-12);
}

TEST_F(ImageLayers, images_that_cannot_be_resized_are_refused_by_name) {
  const Error method = error_of([] { return Layer{"resize(shape=2, method=cubic)"}; });
  EXPECT_EQ(method.code(), ErrorCode::invalid_parameter);
  const Error whole =
      refused("resize", {{"shape", 2}, {"method", "bilinear"}}, {4, 4, 1}, DType::u8);
  EXPECT_EQ(whole.code(), ErrorCode::dtype_mismatch);
  EXPECT_EQ(whole.detail("layer"), "it");
  EXPECT_EQ(refused("resize", {{"shape", {2, 2, 2}}}, {4, 4, 1}).code(),
            ErrorCode::invalid_parameter);
  EXPECT_EQ(refused("resize", {{"shape", 0}}, {4, 4, 1}).detail("parameter"), "shape");
  EXPECT_EQ(code_of([] { return resampled(zeros({2, 2}), 2, 3); }), ErrorCode::shape_mismatch);
}

}  // namespace
}  // namespace stoker::nn
