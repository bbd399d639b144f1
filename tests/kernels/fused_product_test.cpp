// Products whose elements go into a program: the same as storing and then reading them.
#include <gtest/gtest.h>

#include <random>

#include "device_run.hpp"
#include "fused_fixture.hpp"
#include "stoker/kernels/fused/product.hpp"

namespace stoker {
namespace {

using namespace fused_test;
using Value = FusedProgram::Value;

/// Small whole numbers: their products and sums are exact in every dtype, in any order.
std::vector<double> whole_values(std::size_t n, std::mt19937& random, DType dtype) {
  std::uniform_int_distribution<int> any{is_signed(dtype) || is_float(dtype) ? -2 : 0, 2};
  std::vector<double> values(n);
  for (double& value : values) value = any(random);
  return values;
}

class FusedProducts : public KernelsOnDevices {
 protected:
  Bytes some(const TensorSpec& spec) {
    return stored(spec.dtype, whole_values(spec.elements(), random_, spec.dtype));
  }

  static TensorSpec product_spec(const FusedProduct& product) {
    const std::vector<TensorSpec> inputs{product.a, product.b};
    return infer(product.kernel, inputs, product.params).value()[0];
  }

  /// max(product + bias, 0), with a bias for each column.
  static FusedProgram relu_of(const TensorSpec& product) {
    FusedProgram program{.shape = product.shape,
                         .inputs = {dense(product.dtype, product.shape)},
                         .constants = {},
                         .code = {},
                         .outputs = {4}};
    const std::size_t last = product.shape.rank() - 1;
    FusedProgram::Input bias{.spec = {product.dtype, Shape{product.shape[last]}}};
    bias.strides[last] = 1;
    program.inputs.push_back(bias);
    program.constants = {{product.dtype, 0}};
    program.code = {{function("add"), product.dtype, {0, 1}},
                    {function("max"), product.dtype, {3, 2}}};
    return program;
  }

  /// In one kernel and in two.
  void expect_same(const FusedProduct& product, const FusedProgram& program) {
    const TensorSpec result = product_spec(product);
    const Bytes a = some(product.a);
    const Bytes b = some(product.b);
    std::vector<TensorSpec> specs{product.a, product.b};
    std::vector<Bytes> inputs{a, b};
    std::vector<Bytes> of_program;
    const std::vector<TensorSpec> buffers = program.buffers();
    for (std::size_t i = 1; i < buffers.size(); ++i) {
      specs.push_back(buffers[i]);
      inputs.push_back(some(buffers[i]));
      of_program.push_back(inputs.back());
    }
    const auto one =
        run_all(fused_product_kernel(program, product, compile_).value(), specs, inputs);
    of_program.insert(of_program.begin(),
                      run(KernelRegistry::builtin().find(product.kernel).value(),
                          {product.a, product.b}, {a, b}, product.params));
    const auto two = run_all(fused_kernel(program, compile_).value(), buffers, of_program);
    ASSERT_EQ(one.size(), two.size());
    for (std::size_t o = 0; o < one.size(); ++o)
      EXPECT_EQ(one[o], two[o]) << "output " << o << " of " << product.a.to_string() << " · "
                                << product.b.to_string() << "\n"
                                << program.to_string();
    EXPECT_TRUE(std::ranges::any_of(one[0], [](std::byte byte) { return byte != std::byte{0}; }))
        << "nothing but zeros proves little: " << result.to_string();
  }

  std::mt19937 random_{7};
};

TEST_P(FusedProducts, equal_two_kernels_for_all_shapes_of_operands) {
  const std::vector<std::array<std::int64_t, 3>> shapes{
      {1, 7, 9},     {1, 300, 64},   {1, 64, 1030},  {5, 1, 3},     {33, 65, 17},
      {64, 64, 64},  {130, 70, 250}, {257, 31, 300}, {3, 12, 1500}, {700, 40, 1},
      {20, 523, 19}, {32, 784, 32},  {41, 1033, 77}};
  int turn = 0;
  for (const auto& [m, k, n] : shapes)
    for (const bool transpose_a : {false, true})
      for (const bool transpose_b : {false, true}) {
        // Each is a shader of its own, and takes a software device half a second.
        if (on_gpu() && ++turn % 3 != 0) continue;
        const Shape a = transpose_a ? Shape{k, m} : Shape{m, k};
        const Shape b = transpose_b ? Shape{n, k} : Shape{k, n};
        const FusedProduct product{{DType::f32, a},
                                   {DType::f32, b},
                                   {{"transpose_a", transpose_a}, {"transpose_b", transpose_b}}};
        expect_same(product, relu_of(product_spec(product)));
      }
}

TEST_P(FusedProducts, equal_two_kernels_for_every_dtype) {
  for (const DType dtype :
       {DType::f32, DType::f64, DType::f16, DType::bf16, DType::s32, DType::s64, DType::u32})
    for (const std::int64_t m : {1, 37}) {
      const FusedProduct product{{dtype, Shape{m, 20}}, {dtype, Shape{20, 44}}};
      expect_same(product, relu_of(product_spec(product)));
    }
}

TEST_P(FusedProducts, large_ones_are_finished_in_parts) {
  const FusedProduct product{{DType::f32, Shape{1100, 130}}, {DType::f32, Shape{130, 1300}}};
  expect_same(product, relu_of(product_spec(product)));
}

TEST_P(FusedProducts, batches_broadcast_as_in_a_product) {
  for (const auto& [a, b] :
       std::vector<std::pair<Shape, Shape>>{{Shape{3, 2, 6, 5}, Shape{2, 5, 8}},
                                            {Shape{4, 6, 5}, Shape{5, 8}},
                                            {Shape{6, 5}, Shape{3, 5, 8}},
                                            {Shape{3, 1, 5}, Shape{3, 5, 68}}}) {
    const FusedProduct product{{DType::f32, a}, {DType::f32, b}};
    expect_same(product, relu_of(product_spec(product)));
  }
}

TEST_P(FusedProducts, a_program_may_see_them_in_another_shape) {
  const FusedProduct product{{DType::f32, Shape{12, 6}}, {DType::f32, Shape{6, 10}}};
  FusedProgram program{
      .shape = Shape{3, 4, 10}, .inputs = {}, .constants = {}, .code = {}, .outputs = {2}};
  program.inputs = {dense(DType::f32, program.shape), {.spec = {DType::f32, Shape{4}}}};
  program.inputs[0].spec.shape = Shape{12, 10};
  program.inputs[1].strides[1] = 1;
  program.code = {{function("multiply"), DType::f32, {0, 1}}};
  expect_same(product, program);
}

TEST_P(FusedProducts, several_outputs_and_dtypes_are_written) {
  const FusedProduct product{{DType::f32, Shape{40, 16}}, {DType::f32, Shape{16, 36}}};
  const TensorSpec result = product_spec(product);
  const FusedProgram base = relu_of(result);
  // z = p + b, relu(z), z > 0, p · z: p is read after z was made.
  FusedProgram program = base;
  program.code.push_back({function("greater"), DType::u8, {3, 2}});
  program.code.push_back({function("multiply"), DType::f32, {0, 3}});
  program.code.push_back({function("cast"), DType::bf16, {4}});
  program.outputs = {3, 4, 5, 7};
  expect_same(product, program);
  program.outputs = {3, 6};
  expect_same(product, program);
  program.outputs = {0, 3, 4};
  expect_same(product, program);
}

TEST_P(FusedProducts, other_inputs_may_be_transposed_or_single) {
  const FusedProduct product{{DType::f32, Shape{24, 16}}, {DType::f32, Shape{16, 20}}};
  FusedProgram program{
      .shape = Shape{24, 20}, .inputs = {}, .constants = {}, .code = {}, .outputs = {4}};
  program.inputs = {dense(DType::f32, program.shape),
                    {.spec = {DType::f32, Shape{20, 24}}},
                    {.spec = {DType::f32, Shape{}}}};
  program.inputs[1].strides[0] = 1;
  program.inputs[1].strides[1] = 24;
  program.code = {{function("multiply"), DType::f32, {0, 2}},
                  {function("add"), DType::f32, {3, 1}}};
  expect_same(product, program);
}

/// One way through kernels/conv.
struct Convolved {
  const char* what;
  Shape x, k;
  Params params;
};

using List = std::vector<std::int64_t>;
const Params channels_last = {{"input_axes", List{0, 3, 1, 2}},
                              {"kernel_axes", List{3, 2, 0, 1}},
                              {"output_axes", List{0, 3, 1, 2}}};
const Params winograd = {{"input_axes", List{0, 3, 1, 2}},
                         {"kernel_axes", List{3, 2, 0, 1}},
                         {"output_axes", List{0, 3, 1, 2}},
                         {"winograd", true}};

std::vector<Convolved> convolutions() {
  return {
      {"a few taps", Shape{2, 3, 5, 6}, Shape{4, 3, 2, 2}, {}},
      {"in tiles", Shape{2, 8, 9, 7}, Shape{20, 8, 3, 3}, {{"padding_low", List{1, 1}}}},
      {"in tiles, channels last", Shape{2, 9, 7, 8}, Shape{3, 3, 8, 20}, channels_last},
      {"in tiles, an odd number of channels", Shape{2, 9, 7, 8}, Shape{3, 3, 8, 19}, channels_last},
      {"lanes of outputs", Shape{8, 16, 14, 14}, Shape{32, 16, 3, 3}, {}},
      {"lanes of outputs, channels last", Shape{9, 14, 14, 16}, Shape{3, 3, 16, 24}, channels_last},
      {"the library, images in order", Shape{4, 72, 14, 14}, Shape{32, 72, 3, 3}, {}},
      {"the library, channels last", Shape{5, 14, 14, 72}, Shape{3, 3, 72, 24}, channels_last},
      {"few images, outputs in parts", Shape{1, 32, 30, 30}, Shape{64, 32, 3, 3}, {}},
      {"few images, parts, channels last", Shape{2, 30, 30, 32}, Shape{3, 3, 32, 64},
       channels_last},
      {"fewer products", Shape{2, 21, 24, 32}, Shape{3, 3, 32, 48}, winograd},
      {"fewer products, outputs in parts", Shape{1, 15, 15, 64}, Shape{3, 3, 64, 256}, winograd},
      {"strides and dilations",
       Shape{3, 4, 21, 20},
       Shape{16, 4, 3, 3},
       {{"strides", List{2, 3}}, {"kernel_dilation", List{2, 1}}}},
      {"groups", Shape{3, 8, 16, 16}, Shape{32, 4, 3, 3}, {{"feature_groups", std::int64_t{2}}}},
      {"groups of the batch",
       Shape{4, 8, 24, 24},
       Shape{16, 8, 5, 5},
       {{"batch_groups", std::int64_t{2}}}},
      {"a gradient by the input",
       Shape{2, 16, 12, 12},
       Shape{16, 16, 3, 3},
       {{"input_dilation", List{2, 2}},
        {"padding_low", List{2, 2}},
        {"padding_high", List{2, 2}},
        {"flip", true}}},
      {"a gradient by the kernel: long sums", Shape{8, 16, 34, 34}, Shape{16, 16, 32, 32}, {}},
      {"outputs before the batch",
       Shape{3, 4, 12, 10},
       Shape{18, 4, 3, 3},
       {{"output_axes", List{1, 0, 2, 3}}}},
      {"outputs between pixels",
       Shape{3, 4, 12, 10},
       Shape{18, 4, 3, 3},
       {{"output_axes", List{0, 2, 1, 3}}}},
      {"one axis of space", Shape{3, 4, 40}, Shape{17, 4, 5}, {}},
      {"three axes of space", Shape{2, 3, 6, 5, 7}, Shape{4, 3, 2, 2, 2}, {}},
      {"no channels meet: a sum of nothing", Shape{2, 0, 5, 9}, Shape{3, 0, 2, 2}, {}},
  };
}

TEST_P(FusedProducts, convolutions_equal_two_kernels_whatever_their_way) {
  for (const Convolved& one : convolutions()) {
    SCOPED_TRACE(one.what);
    const FusedProduct product{{DType::f32, one.x}, {DType::f32, one.k}, one.params, "conv"};
    expect_same(product, relu_of(product_spec(product)));
  }
}

TEST_P(FusedProducts, biases_and_relus_of_convolutions_equal_two_kernels) {
  const Params last = {{"input_axes", List{0, 3, 1, 2}}, {"output_axes", List{0, 3, 1, 2}}};
  for (const auto& [what, x, k, params] : std::vector<Convolved>{
           {"planes", Shape{2, 3, 9, 11}, Shape{20, 3, 3, 3}, {}},
           {"as many outputs as pixels in a row", Shape{2, 1, 6, 18}, Shape{16, 1, 3, 3}, {}},
           {"outputs last", Shape{2, 9, 7, 2}, Shape{16, 2, 3, 3}, last}}) {
    const FusedProduct product{{DType::f32, x}, {DType::f32, k}, params, "conv"};
    const TensorSpec result = product_spec(product);
    for (std::size_t axis = 0; axis < 4; ++axis) {
      SCOPED_TRACE(std::string{what} + ", a bias along axis " + std::to_string(axis));
      FusedProgram program{.shape = result.shape,
                           .inputs = {dense(DType::f32, result.shape)},
                           .constants = {},
                           .code = {},
                           .outputs = {3}};
      program.inputs.push_back({.spec = {DType::f32, Shape{result.shape[axis]}}});
      program.inputs[1].strides[axis] = 1;
      program.code = {{function("add"), DType::f32, {1, 0}}, {function("relu"), DType::f32, {2}}};
      expect_same(product, program);
      program.code.pop_back();
      program.outputs = {2};
      expect_same(product, program);
    }
    FusedProgram relu{.shape = result.shape,
                      .inputs = {dense(DType::f32, result.shape)},
                      .constants = {},
                      .code = {{function("relu"), DType::f32, {0}}},
                      .outputs = {1}};
    expect_same(product, relu);
  }
}

TEST_P(FusedProducts, convolutions_equal_two_kernels_for_every_dtype) {
  for (const DType dtype : {DType::f64, DType::f16, DType::bf16}) {
    const FusedProduct direct{{dtype, Shape{2, 3, 5, 6}}, {dtype, Shape{4, 3, 2, 2}}, {}, "conv"};
    expect_same(direct, relu_of(product_spec(direct)));
    const FusedProduct tiled{{dtype, Shape{2, 8, 9, 10}}, {dtype, Shape{20, 8, 3, 3}}, {}, "conv"};
    expect_same(tiled, relu_of(product_spec(tiled)));
  }
}

TEST_P(FusedProducts, of_a_convolution_several_outputs_are_written) {
  for (const Params& params : {Params{}, channels_last}) {
    const bool last = params.find("input_axes") != nullptr;
    const FusedProduct product{{DType::f32, last ? Shape{5, 14, 14, 72} : Shape{5, 72, 14, 14}},
                               {DType::f32, last ? Shape{3, 3, 72, 24} : Shape{24, 72, 3, 3}},
                               params,
                               "conv"};
    FusedProgram program = relu_of(product_spec(product));
    program.code.push_back({function("greater"), DType::u8, {3, 2}});
    program.code.push_back({function("cast"), DType::bf16, {4}});
    program.outputs = {3, 5, 6};  // none is a home for the sums
    expect_same(product, program);
    program.outputs = {0, 4};
    expect_same(product, program);
  }
}

TEST(FusedProduct, refuses_what_does_not_fit) {
  const FusedProduct product{{DType::f32, Shape{4, 3}}, {DType::f32, Shape{3, 5}}};
  const auto code_for = [&](const FusedProgram& program) {
    const auto made = fused_product_kernel(program, product);
    return made.has_error() ? made.error().code() : ErrorCode::internal;
  };
  FusedProgram program{.shape = Shape{4, 5},
                       .inputs = {dense(DType::f32, Shape{4, 5})},
                       .constants = {},
                       .code = {{function("negate"), DType::f32, {0}}},
                       .outputs = {1}};
  EXPECT_TRUE(fused_product_kernel(program, product).has_value());

  FusedProgram other = program;
  other.inputs[0].spec.dtype = DType::s32;
  EXPECT_EQ(code_for(other), ErrorCode::dtype_mismatch);
  other = program;
  other.shape = Shape{5, 4};
  other.inputs[0].strides[0] = 1;  // transposed
  other.inputs[0].strides[1] = 5;
  EXPECT_EQ(code_for(other), ErrorCode::invalid_argument);
  other = program;
  other.shape = Shape{2, 5};
  EXPECT_EQ(code_for(other), ErrorCode::invalid_argument) << "half of the product";
  other = program;
  other.inputs.push_back(dense(DType::f32, Shape{4, 5}));
  other.code[0].operands[0] = 1;
  other.outputs = {2};
  EXPECT_EQ(code_for(other), ErrorCode::invalid_argument) << "nobody needs the product";

  const auto wrong = fused_product_kernel(
      program, FusedProduct{{DType::f32, Shape{4, 3}}, {DType::f32, Shape{4, 5}}});
  EXPECT_EQ(wrong.error().code(), ErrorCode::shape_mismatch);
  const auto other_kernel =
      fused_product_kernel(program, FusedProduct{product.a, product.b, {}, "softmax"});
  EXPECT_EQ(other_kernel.error().code(), ErrorCode::invalid_argument);
  const auto other_params =
      fused_product_kernel(program, FusedProduct{product.a, product.b, {{"strides", 2}}});
  EXPECT_EQ(other_params.error().code(), ErrorCode::invalid_parameter);
}

/// One for each text that a GPU computes them with.
std::vector<FusedProduct> products(DType dtype) {
  const auto of = [&](Shape a, Shape b, Params params = {}, std::string kernel = "matmul") {
    return FusedProduct{{dtype, a}, {dtype, b}, std::move(params), std::move(kernel)};
  };
  return {of(Shape{40, 8}, Shape{8, 36}), of(Shape{1, 8}, Shape{8, 36}),
          of(Shape{1, 8}, Shape{36, 8}, {{"transpose_b", true}}),
          of(Shape{1, 4, 5, 5}, Shape{16, 4, 2, 2}, {}, "conv"),
          of(Shape{1, 4, 5, 5}, Shape{3, 4, 2, 2}, {}, "conv")};
}

// A shader is the texts of the functions and that of the product: no name may be in both.
TEST(FusedProduct, every_function_that_a_gpu_has_may_follow_a_product) {
  GlslCompiler compiler;
  const auto compile = [&](const Shader& shader, const ShaderVariant& variant) {
    return compiler.try_compile(shader, variant);
  };
  const ParamSet params = ParamSet::resolve("fused", {}, {}).value();
  std::size_t compiled = 0, turn = 0;
  for (const ScalarFunction* each : scalar_functions())
    for (const DType dtype : {DType::f32, DType::s32}) {
      if (each->condition) continue;  // their first operand is no element of a product
      const std::vector<DType> operands(each->arity, dtype);
      const auto result = scalar_result(*each, operands, DType::f32);
      if (result.has_error()) continue;
      const std::size_t way = turn++ % (is_float(dtype) ? 5 : 3);  // convolutions are of floats
      const FusedProduct product = products(dtype)[way];
      const FusedProgram program =
          single(*each, operands, *result,
                 infer(product.kernel, std::vector{product.a, product.b}, product.params)
                     .value()[0]
                     .shape);
      const auto made = fused_product_kernel(program, product, compile);
      const bool has_text = !each->glsl(operands.back(), *result).expression.empty();
      ASSERT_EQ(made.has_value(), has_text) << each->name;
      if (!has_text) {
        EXPECT_EQ(made.error().code(), ErrorCode::unsupported);
        continue;
      }
      std::vector<TensorSpec> specs{product.a, product.b};
      const auto buffers = program.buffers();
      specs.insert(specs.end(), buffers.begin() + 1, buffers.end());
      const auto outputs = (*made)->check(specs, params).value();
      const auto plan = (*made)->gpu(KernelCall{specs, params}, outputs, {});
      EXPECT_TRUE(plan.has_value()) << each->name << plan.error().what();
      ++compiled;
    }
  EXPECT_GT(compiled, 50U);
}

INSTANTIATE_TEST_SUITE_P(Devices, FusedProducts, testing::Values("cpu", "vulkan"),
                         [](const auto& info) { return std::string{info.param}; });

}  // namespace
}  // namespace stoker
