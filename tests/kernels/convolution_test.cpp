// What convolutions must hold on the CPU that the conformance suites cannot see.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <optional>

#include "cpu_run.hpp"
#include "stoker/kernels/conv/problem.hpp"

namespace stoker {
namespace {

// The sums of these outputs fill whole tiles of every instruction set.
TEST(Convolution, without_channels_is_its_bias_and_stays_in_its_memory) {
  const std::vector<TensorSpec> specs{
      {DType::f32, Shape{1, 0, 3, 11}}, {DType::f32, Shape{24, 0, 1, 1}}, {DType::f32, Shape{24}}};
  const std::vector<float> bias(24, 1.5F);
  const std::vector<Bytes> inputs{{}, {}, bytes_of(std::span{bias})};
  const KernelOutputs made = run_kernel("conv2d", specs, inputs);
  EXPECT_EQ(values_in<float>(made.bytes[0]), std::vector<float>(std::size_t{24} * 33, 1.5F));
}

struct Setting {
  const char* what;
  Shape x, k;
  Params params;
};

using List = std::vector<std::int64_t>;

// Whole numbers, whose sums are exact: those in f64 are formed in another way.
TEST(Convolution, of_few_channels_is_the_same_wherever_rows_and_outputs_end) {
  const List last{0, 3, 1, 2};
  const std::vector<Setting> settings{
      {"rows of tiles",
       Shape{2, 1, 28, 28},
       Shape{16, 1, 3, 3},
       {{"padding_low", List{1, 1}}, {"padding_high", List{1, 1}}}},
      {"one output past a panel",
       Shape{1, 3, 11, 13},
       Shape{49, 3, 5, 5},
       {{"padding_low", List{2, 2}}}},
      {"outputs of one vector", Shape{3, 2, 9, 37}, Shape{8, 2, 3, 3}, {}},
      {"rows of one pixel", Shape{2, 3, 17, 3}, Shape{15, 3, 2, 3}, {}},
      {"strides and taps apart",
       Shape{1, 4, 40, 31},
       Shape{24, 4, 3, 2},
       {{"strides", List{3, 2}}, {"kernel_dilation", List{2, 3}}}},
      {"padding wider than the window",
       Shape{1, 2, 6, 5},
       Shape{16, 2, 3, 3},
       {{"padding_low", List{4, 5}}, {"padding_high", List{5, 4}}}},
      {"cropped",
       Shape{1, 2, 19, 18},
       Shape{16, 2, 3, 3},
       {{"padding_low", List{-3, -2}}, {"padding_high", List{-1, -4}}}},
      {"several bands",
       Shape{1, 6, 94, 70},
       Shape{16, 6, 3, 3},
       {{"padding_low", List{1, 1}}, {"strides", List{2, 1}}}},
      {"a row", Shape{4, 5, 61}, Shape{31, 5, 4}, {{"padding_high", List{3}}}},
      {"channels last",
       Shape{2, 13, 12, 3},
       Shape{24, 3, 3, 3},
       {{"input_axes", last}, {"output_axes", last}, {"padding_low", List{1, 1}}}},
      {"channels last, outputs in part of a vector",
       Shape{2, 9, 10, 5},
       Shape{29, 5, 3, 3},
       {{"input_axes", last}, {"output_axes", last}, {"strides", List{1, 2}}}},
      {"only outputs last", Shape{2, 4, 9, 10}, Shape{16, 4, 3, 3}, {{"output_axes", last}}},
      {"a kernel read backwards", Shape{2, 3, 9, 10}, Shape{16, 3, 3, 2}, {{"flip", true}}},
      {"a kernel in another order",
       Shape{2, 3, 9, 10},
       Shape{3, 3, 2, 16},
       {{"kernel_axes", List{3, 0, 1, 2}}}},
  };
  for (const Setting& one : settings) {
    SCOPED_TRACE(one.what);
    const auto numbers = [](const Shape& shape, std::int64_t seed) {
      std::vector<double> values(static_cast<std::size_t>(shape.elements()));
      for (double& value : values)
        value = static_cast<double>((seed = seed * 1103515245 % 65537 + 7) % 9 - 4);
      return values;
    };
    const std::vector<double> x = numbers(one.x, 3), k = numbers(one.k, 5);
    const std::vector<float> x_f32(x.begin(), x.end()), k_f32(k.begin(), k.end());
    const std::vector<Bytes> wide{bytes_of(std::span{x}), bytes_of(std::span{k})};
    const std::vector<Bytes> narrow{bytes_of(std::span{x_f32}), bytes_of(std::span{k_f32})};
    const auto in = [&](DType dtype, const std::vector<Bytes>& inputs) {
      return run_kernel("conv", {{dtype, one.x}, {dtype, one.k}}, inputs, one.params).bytes[0];
    };
    const std::vector<double> expected = values_in<double>(in(DType::f64, wide));
    EXPECT_EQ(values_in<float>(in(DType::f32, narrow)),
              std::vector<float>(expected.begin(), expected.end()));
  }
}

CpuPlan plan_of(const std::vector<TensorSpec>& inputs, const Params& given) {
  const auto conv = KernelRegistry::builtin().find("conv").value();
  const ParamSet params = ParamSet::resolve("conv", conv->params, given).value();
  const auto outputs = conv->check(inputs, params).value();
  return (*cpu_table().find("conv"))(KernelCall{inputs, params}, outputs).value();
}

// Planes of the padded image, 4 TB, would be all but empty.
TEST(Convolution, needs_no_memory_for_the_padding_between_taps_far_apart) {
  const std::vector<std::int64_t> far{1'000'000, 1'000'000};
  for (const std::int64_t outputs : {1, 16})
    for (const DType dtype : {DType::f32, DType::f64, DType::f16, DType::bf16})
      EXPECT_LT(plan_of({{dtype, Shape{1, 1, 3, 3}}, {dtype, Shape{outputs, 1, 2, 2}}},
                        {{"kernel_dilation", far}, {"padding_low", far}})
                    .scratch_bytes,
                std::size_t{1} << 20)
          << outputs << " " << to_string(dtype);
}

TEST(Convolution, copies_no_rows_between_taps_far_apart_for_each_row_of_its_output) {
  const std::vector<std::int64_t> far{1940, 1940};
  const CpuPlan plan =
      plan_of({{DType::f32, Shape{1, 16, 2000, 2000}}, {DType::f32, Shape{16, 16, 2, 2}}},
              {{"kernel_dilation", far}});
  EXPECT_LT(plan.scratch_bytes, 2 * sizeof(float) * 16 * 2000 * 2000);
}

TEST(Convolution, shares_a_long_row_among_threads) {
  const CpuPlan plan =
      plan_of({{DType::f32, Shape{1, 1, 16000}}, {DType::f32, Shape{32, 1, 7}}}, {});
  EXPECT_GT(plan.stages.back().slices, 1U);
}

// A first stage would put the kernel in another order, in each run.
TEST(Convolution, reads_kernels_in_the_blocks_of_this_processor_as_they_lie) {
#if !defined(__x86_64__)
  GTEST_SKIP() << "the library has such blocks on x86-64";
#endif
  const std::int64_t block = kernels::conv::library_block();
  const std::vector<std::int64_t> last{0, 3, 1, 2};
  for (const std::int64_t taps : {1, 3}) {
    const std::vector<TensorSpec> specs{
        {DType::f32, Shape{1, 14, 14, 64}},
        {DType::f32, Shape{256 / block, 64 / block, taps, taps, block, block}}};
    const auto conv = KernelRegistry::builtin().find("conv").value();
    const ParamSet params =
        ParamSet::resolve("conv", conv->params,
                          {{"input_axes", last}, {"output_axes", last}, {"kernel_blocked", true}})
            .value();
    const auto outputs = conv->check(specs, params).value();
    const CpuPlan plan = (*cpu_table().find("conv"))(KernelCall{specs, params}, outputs).value();
    EXPECT_EQ(plan.stages.size(), 1U) << taps;
  }
}

TEST(Convolution, refuses_kernels_in_blocks_of_another_size) {
  const TensorSpec x{DType::f32, Shape{1, 16, 5, 5}};
  const auto code = [&](const Shape& k) {
    const auto made = infer("conv", {x, {DType::f32, k}}, {{"kernel_blocked", true}});
    return made.has_error() ? std::optional{made.error().code()} : std::nullopt;
  };
  EXPECT_EQ(code(Shape{2, 2, 3, 3, 8, 8}), std::nullopt);
  EXPECT_EQ(code(Shape{1, 1, 3, 3, 16, 16}), std::nullopt);
  EXPECT_EQ(code(Shape{2, 1, 3, 3, 16, 8}), ErrorCode::invalid_parameter);
  EXPECT_EQ(code(Shape{4, 4, 3, 3, 4, 4}), ErrorCode::invalid_parameter);
  EXPECT_EQ(code(Shape{2, 2, 3, 3, 0, 0}), ErrorCode::invalid_parameter);
}

// With fewer products an infinite pixel would make NaN.
TEST(Convolution, takes_fewer_products_of_f32_only) {
  const std::vector<std::int64_t> last{0, 3, 1, 2};
  const Params params{{"input_axes", last}, {"output_axes", last}, {"winograd", true}};
  const Shape x{1, 20, 20, 32}, k{32, 32, 3, 3};
  const auto nans_of = [&](DType dtype, auto one, auto infinity) {
    std::vector<decltype(one)> pixels(static_cast<std::size_t>(x.elements()), one);
    pixels[5 * 20 * 32 + 7 * 32] = infinity;
    const std::vector<decltype(one)> ones(static_cast<std::size_t>(k.elements()), one);
    const std::vector<Bytes> inputs{bytes_of<decltype(one)>(pixels), bytes_of<decltype(one)>(ones)};
    const auto made = run_kernel("conv", {{dtype, x}, {dtype, k}}, inputs, params);
    std::size_t nans = 0;
    for (const auto y : values_in<decltype(one)>(made.bytes[0])) {
      if constexpr (std::is_same_v<decltype(one), float>)
        nans += std::isnan(y) ? 1 : 0;
      else
        nans += (y & 0x7FFF) > infinity ? 1 : 0;
    }
    return nans;
  };
  EXPECT_GT(nans_of(DType::f32, 1.0F, std::numeric_limits<float>::infinity()), 0U);
  EXPECT_EQ(nans_of(DType::f16, std::uint16_t{0x3C00}, std::uint16_t{0x7C00}), 0U);
  EXPECT_EQ(nans_of(DType::bf16, std::uint16_t{0x3F80}, std::uint16_t{0x7F80}), 0U);
}

// The padded input of integer_conv, 2^66 elements, would wrap to none.
TEST(Convolution, of_integers_refuses_taps_too_far_apart) {
  const std::vector<TensorSpec> specs{{DType::s8, Shape{1, 1, 1, 1, 1}},
                                      {DType::s8, Shape{1, 1, 2, 2, 2}}};
  const std::vector<std::int64_t> far(3, (1 << 22) - 1);
  const auto conv = KernelRegistry::builtin().find("integer_conv").value();
  const ParamSet params = ParamSet::resolve("integer_conv", conv->params,
                                            {{"kernel_dilation", far}, {"padding_low", far}})
                              .value();
  const auto outputs = conv->check(specs, params).value();
  const auto plan = (*cpu_table().find("integer_conv"))(KernelCall{specs, params}, outputs);
  ASSERT_FALSE(plan.has_value());
  EXPECT_EQ(plan.error().code(), ErrorCode::limit_exceeded);
}

}  // namespace
}  // namespace stoker
