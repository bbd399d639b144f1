// Convolutions: what they compute, what they refuse, and their gradients against central differences.
#include "stoker/pipeline/tensor/graph/op.hpp"
#include "stoker/tests/tensor/differences.hpp"

namespace stoker {
namespace {

using Convolutions = TensorsOnDevices;
INSTANTIATE_TEST_SUITE_P(Devices, Convolutions, every_device(), device_name);

/// The same numbers for every dtype that holds an f32's.
Tensor floats(const Shape& shape, double seed, DType dtype = DType::f64) {
  return as_type(sin(iota(shape, DType::f32) * 2.7 + seed), dtype);
}

double largest_difference(const Tensor& a, const Tensor& b) {
  EXPECT_EQ(a.spec(), b.spec());
  return reduce_max(abs(a - b)).item<double>();
}

TEST_P(Convolutions, slide_a_kernel_that_is_not_turned_round) {
  const Tensor x = reshape(iota({6}, DType::f32), {1, 1, 6});
  const Tensor k = reshape(tensor({1.0, 10.0}), {1, 1, 2});
  expect_values<float>(conv(x, k), {1, 1, 5}, {10, 21, 32, 43, 54});
  expect_values<float>(conv(x, k, {.strides = Axes{2}}), {1, 1, 3}, {10, 32, 54});
  expect_values<float>(conv(x, k, {.kernel_dilation = Axes{3}}), {1, 1, 3}, {30, 41, 52});
  expect_values<float>(conv(x, k, {.input_dilation = Axes{2}}), {1, 1, 10},
                       {0, 10, 1, 20, 2, 30, 3, 40, 4, 50});
}

TEST_P(Convolutions, pad_and_crop) {
  const Tensor x = reshape(iota({6}, DType::f32) + 1, {1, 1, 6});
  const Tensor k = ones({1, 1, 3});
  expect_values<float>(conv(x, k, {.padding = PadRule::same}), {1, 1, 6}, {3, 6, 9, 12, 15, 11});
  expect_values<float>(conv(x, k, {.strides = Axes{2}, .padding = PadRule::same}), {1, 1, 3},
                       {3, 9, 15});
  expect_values<float>(
      conv(x, k, {.padding = std::vector{std::pair{std::int64_t{2}, std::int64_t{-2}}}}), {1, 1, 4},
      {1, 3, 6, 9});
}

TEST_P(Convolutions, divide_into_groups) {
  const Tensor x = tensor({{{1.0, 2.0}, {3.0, 4.0}}});
  const Tensor k = tensor({{{1.0}}, {{10.0}}, {{100.0}}, {{1000.0}}});
  expect_values<float>(conv(x, k, {.feature_group_size = 2}), {1, 4, 2},
                       {1, 2, 10, 20, 300, 400, 3000, 4000});
  const Tensor batch = tensor({{{1.0, 2.0}}, {{3.0, 4.0}}});
  expect_values<float>(
      conv(batch, reshape(tensor({1.0, 10.0}), {2, 1, 1}), {.batch_group_size = 2}), {1, 2, 2},
      {1, 2, 30, 40});
}

TEST_P(Convolutions, read_and_write_axes_where_they_lie) {
  const Tensor x = floats({2, 5, 7, 6}, 0, DType::f32);
  const Tensor k = floats({18, 5, 3, 2}, 1, DType::f32);
  const Tensor want = conv(x, k, {.strides = Axes{2, 1}, .padding = PadRule::same});
  const Axes last{0, 3, 1, 2};
  const Tensor got = conv(transpose(x, Axes{0, 2, 3, 1}), transpose(k, Axes{2, 3, 1, 0}),
                          {.strides = Axes{2, 1},
                           .padding = PadRule::same,
                           .input_permutation = last,
                           .kernel_permutation = Axes{3, 2, 0, 1},
                           .output_permutation = last});
  EXPECT_EQ(got.shape(), (Shape{2, 4, 6, 18}));
  EXPECT_LE(largest_difference(transpose(got, last), want), 1e-5);
}

TEST_P(Convolutions, take_one_to_six_spatial_axes) {
  Shape x{1, 2}, k{3, 2}, y{1, 3};
  for (int axes = 1; axes <= 6; ++axes) {
    x = x.appended(3);
    k = k.appended(2);
    y = y.appended(2);
    const Tensor got = conv(ones(x), ones(k));
    EXPECT_EQ(got.shape(), y);
    EXPECT_EQ(reduce_min(got).item<double>(), 2 << axes);
  }
}

TEST_P(Convolutions, meet_in_a_float) {
  const Tensor bytes = ones({1, 1, 3}, DType::u8) * 200;
  const Tensor got = conv(bytes, bytes);
  EXPECT_EQ(got.dtype(), DType::f32);
  EXPECT_EQ(got.item<float>(), 120000);
  EXPECT_EQ(conv(ones({1, 1, 3}, DType::f16), bytes).dtype(), DType::f16);
  // Thousands of halves of 1 / 2048 would be lost in a sum of f16.
  const Tensor small = ones({1, 1, 4096}, DType::f16) / 2048;
  EXPECT_EQ(conv(small, ones({1, 1, 4096}, DType::f16)).item<float>(), 2);
}

TEST_P(Convolutions, of_nothing_are_empty_or_zero) {
  EXPECT_EQ(conv(ones({0, 2, 5}), ones({3, 2, 2})).shape(), (Shape{0, 3, 4}));
  EXPECT_EQ(conv(ones({1, 2, 0}), ones({3, 2, 5})).shape(), (Shape{1, 3, 0}));
  expect_values<float>(conv(ones({1, 0, 2}), ones({1, 0, 1})), {1, 1, 2}, {0, 0});
  const auto gradient = grad([](const Tensor& k) { return sum(conv(ones({1, 2, 0}), k)); });
  expect_values<float>(gradient(ones({1, 2, 2})), {1, 2, 2}, {0, 0, 0, 0});
}

TEST_P(Convolutions, refuse_what_does_not_fit) {
  const Tensor x = ones({2, 4, 5});
  const auto refused = [&](const Tensor& k, const ConvOptions& options) {
    return error_of([&] { return conv(x, k, options); });
  };
  const Error channels = refused(ones({3, 5, 2}), {});
  EXPECT_EQ(channels.code(), ErrorCode::shape_mismatch);
  EXPECT_NE(std::string{channels.what()}.find("[2,4,5]"), std::string::npos) << channels.what();
  EXPECT_NE(std::string{channels.what()}.find("[3,5,2]"), std::string::npos) << channels.what();
  EXPECT_EQ(refused(ones({3, 4}), {}).code(), ErrorCode::shape_mismatch);
  const Error longer =
      refused(ones({3, 4, 4}), {.padding = std::vector{std::pair{std::int64_t{0}, std::int64_t{1}}},
                                .kernel_dilation = Axes{2}});
  EXPECT_EQ(longer.code(), ErrorCode::shape_mismatch);
  EXPECT_NE(std::string{longer.what()}.find("over 7 places does not fit 6"), std::string::npos)
      << longer.what();
  EXPECT_EQ(refused(ones({3, 2, 2}), {.feature_group_size = 2}).code(), ErrorCode::shape_mismatch);
  EXPECT_EQ(refused(ones({4, 4, 2}), {.batch_group_size = 4}).code(), ErrorCode::shape_mismatch);
  EXPECT_EQ(refused(ones({4, 2, 2}), {.feature_group_size = 2, .batch_group_size = 2}).code(),
            ErrorCode::invalid_parameter);
  for (const ConvOptions& wrong : std::vector<ConvOptions>{
           {.strides = Axes{1, 1}},
           {.strides = Axes{0}},
           {.padding = std::vector<std::pair<std::int64_t, std::int64_t>>{}},
           {.padding = std::vector{std::pair{std::int64_t{-4}, std::int64_t{-4}}}},
           {.kernel_dilation = Axes{-1}},
           {.feature_group_size = 0},
           {.input_permutation = Axes{0, 1}},
           {.input_permutation = Axes{0, 1, 1}},
           {.output_permutation = Axes{0, 1, 3}}})
    EXPECT_EQ(refused(ones({3, 4, 2}), wrong).code(), ErrorCode::invalid_parameter);
}

// Gradients ---------------------------------------------------------------------------------------

struct Case {
  const char* name;
  Shape x, k;
  ConvOptions options;
};

std::vector<Case> cases() {
  using Edges = std::vector<std::pair<std::int64_t, std::int64_t>>;
  return {
      {"plain", {2, 2, 4, 3}, {3, 2, 2, 2}, {}},
      {"strides", {1, 2, 6, 5}, {2, 2, 3, 2}, {.strides = Axes{2, 3}}},
      {"strides past the end", {1, 1, 8}, {1, 1, 2}, {.strides = Axes{4}}},
      {"padding", {1, 2, 3, 4}, {2, 2, 2, 3}, {.padding = Edges{{1, 2}, {0, 3}}}},
      {"more padding than kernel", {1, 1, 3}, {2, 1, 2}, {.padding = Edges{{4, 3}}}},
      {"crop", {1, 2, 6, 5}, {2, 2, 2, 2}, {.padding = Edges{{-1, 1}, {2, -2}}}},
      {"crop and strides", {1, 1, 9}, {1, 1, 2}, {.strides = Axes{2}, .padding = Edges{{-2, -1}}}},
      {"input dilation",
       {1, 2, 3, 2},
       {2, 2, 2, 3},
       {.padding = Edges{{1, 0}, {2, 1}}, .input_dilation = Axes{2, 3}}},
      {"kernel dilation", {1, 2, 6, 5}, {2, 2, 2, 3}, {.kernel_dilation = Axes{3, 2}}},
      {"all of these",
       {2, 1, 4, 5},
       {2, 1, 3, 2},
       {.strides = Axes{2, 3},
        .padding = Edges{{-1, 3}, {2, -1}},
        .input_dilation = Axes{3, 2},
        .kernel_dilation = Axes{2, 3}}},
      {"feature groups", {2, 4, 4}, {6, 2, 2}, {.feature_group_size = 2}},
      {"depthwise", {1, 3, 5}, {3, 1, 2}, {.strides = Axes{2}, .feature_group_size = 3}},
      {"batch groups", {4, 2, 4}, {6, 2, 2}, {.batch_group_size = 2}},
      {"batch groups and strides",
       {3, 2, 5},
       {3, 2, 2},
       {.strides = Axes{2}, .padding = Edges{{1, 1}}, .batch_group_size = 3}},
      {"permutations",
       {3, 4, 2, 2},
       {2, 3, 2, 2},
       {.strides = Axes{2, 1},
        .input_permutation = Axes{2, 3, 0, 1},
        .kernel_permutation = Axes{3, 2, 1, 0},
        .output_permutation = Axes{1, 3, 2, 0}}},
      {"permutations and groups",
       {4, 4, 2},
       {2, 1, 4},
       {.feature_group_size = 4,
        .input_permutation = Axes{2, 1, 0},
        .kernel_permutation = Axes{2, 1, 0},
        .output_permutation = Axes{2, 0, 1}}},
      {"permutations and batch groups",
       {2, 4, 4},
       {2, 2, 2},
       {.batch_group_size = 2,
        .input_permutation = Axes{2, 0, 1},
        .kernel_permutation = Axes{2, 1, 0},
        .output_permutation = Axes{1, 2, 0}}},
      {"three axes", {1, 1, 3, 2, 3}, {2, 1, 2, 2, 2}, {.padding = PadRule::same}},
  };
}

using Gradients = Tensors;

TEST_F(Gradients, of_convolutions) {
  for (const Case& one : cases()) {
    SCOPED_TRACE(one.name);
    const auto loss = [&](const std::vector<Tensor>& x) {
      return weighed(conv(x[0], x[1], one.options));
    };
    const std::vector<Tensor> at{floats(one.x, 0), floats(one.k, 1)};
    expect_differences(loss, at, grad(loss)(at), {1e-7});
  }
}

TEST_F(Gradients, of_convolutions_go_through_kernels_in_blocks) {
  const auto loss_of = [](bool blocked) {
    return [=](const std::vector<Tensor>& x) {
      const Tensor k =
          blocked ? transpose(reshape(x[1], {2, 16, 1, 16, 3}), Axes{0, 2, 4, 3, 1}) : x[1];
      return weighed(Tensor{expr::apply_one(expr::find_op("conv"), {x[0].value(), k.value()},
                                            {{"strides", Axes{2}},
                                             {"padding_low", Axes{1}},
                                             {"padding_high", Axes{0}},
                                             {"input_dilation", Axes{}},
                                             {"kernel_dilation", Axes{}},
                                             {"feature_groups", std::int64_t{1}},
                                             {"batch_groups", std::int64_t{1}},
                                             {"input_axes", Axes{}},
                                             {"kernel_axes", Axes{}},
                                             {"output_axes", Axes{}},
                                             {"flip", false},
                                             {"kernel_blocked", blocked}})});
    };
  };
  const std::vector<Tensor> at{floats({2, 16, 7}, 0), floats({32, 16, 3}, 1)};
  const std::vector<Tensor> got = grad(loss_of(true))(at), want = grad(loss_of(false))(at);
  for (std::size_t i = 0; i < at.size(); ++i)
    EXPECT_LT(largest_difference(got[i], want[i]), 1e-12) << i;
}

TEST_F(Gradients, of_gradients_of_convolutions) {
  for (const Case& one : cases()) {
    SCOPED_TRACE(one.name);
    // Squared, so that the gradients depend on both operands.
    const auto loss = [&](const std::vector<Tensor>& x) {
      return weighed(pow(conv(x[0], x[1], one.options), 2));
    };
    const auto slope = [&](const std::vector<Tensor>& x) {
      const std::vector<Tensor> gradients = grad(loss)(x);
      return weighed(gradients[0]) + weighed(gradients[1]);
    };
    const std::vector<Tensor> at{floats(one.x, 0), floats(one.k, 1)};
    expect_differences(slope, at, grad(slope)(at), {1e-6});
  }
}

TEST_P(Convolutions, have_the_same_gradients_in_f32_where_faster_ways_serve) {
  struct Large {
    const char* name;
    Shape x, k;
    ConvOptions options;
  };
  const Axes last{0, 3, 1, 2};
  for (const Large& one :
       std::vector<Large>{{"same", {8, 16, 16, 16}, {32, 16, 3, 3}, {.padding = PadRule::same}},
                          {"strides",
                           {8, 16, 17, 16},
                           {32, 16, 3, 3},
                           {.strides = Axes{2, 2}, .padding = PadRule::same}},
                          {"groups", {8, 32, 16, 16}, {32, 16, 3, 3}, {.feature_group_size = 2}},
                          {"depthwise",
                           {8, 64, 24, 24},
                           {64, 1, 3, 3},
                           {.padding = PadRule::same, .feature_group_size = 64}},
                          {"depthwise, channels last",
                           {8, 24, 24, 64},
                           {3, 3, 1, 64},
                           {.strides = Axes{2, 1},
                           .padding = PadRule::same,
                           .feature_group_size = 64,
                           .input_permutation = last,
                           .kernel_permutation = Axes{3, 2, 0, 1},
                           .output_permutation = last}},
                          {"one pixel", {32, 256, 1, 1}, {512, 256, 1, 1}, {}},
                          {"channels last",
                           {8, 16, 16, 16},
                           {3, 3, 16, 32},
                           {.strides = Axes{2, 1},
                           .padding = PadRule::same,
                           .kernel_dilation = Axes{1, 2},
                           .input_permutation = last,
                           .kernel_permutation = Axes{3, 2, 0, 1},
                           .output_permutation = last}}}) {
    SCOPED_TRACE(one.name);
    const auto loss = [&](const std::vector<Tensor>& x) {
      const Tensor y = conv(x[0], x[1], one.options);
      return sum(y * as_type(sin(iota(y.shape(), DType::f32)), y.dtype()));
    };
    const auto got =
        grad(loss)(std::vector<Tensor>{floats(one.x, 0, DType::f32), floats(one.k, 1, DType::f32)});
    const auto want = grad(loss)(std::vector<Tensor>{floats(one.x, 0), floats(one.k, 1)});
    for (std::size_t i = 0; i < 2; ++i)
      EXPECT_LE(largest_difference(as_type(got[i], DType::f64), want[i]), 2e-3) << i;
  }
}

}  // namespace
}  // namespace stoker
