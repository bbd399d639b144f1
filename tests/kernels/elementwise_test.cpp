// The scalar functions as kernels that are called by name.
#include <gtest/gtest.h>

#include "cpu_run.hpp"
#include "stoker/kernels/kernel.hpp"
#include "stoker/kernels/scalar/function.hpp"

namespace stoker {
namespace {

std::shared_ptr<const Kernel> kernel(std::string_view name) {
  return KernelRegistry::builtin().find(name).value();
}

ErrorCode refusal(std::string_view name, const std::vector<TensorSpec>& inputs) {
  const auto outputs = infer(name, inputs);
  return outputs ? ErrorCode::internal : outputs.error().code();
}

TEST(Elementwise, every_function_of_one_or_two_operands_is_a_kernel_of_its_name) {
  int kernels = 0;
  for (const ScalarFunction* function : scalar_functions()) {
    // Conversions move memory: they have kernels of their own. select is where() of tensors.
    if (function->name == "cast" || function->name == "copy" || function->arity > 2) continue;
    const auto found = KernelRegistry::builtin().find(function->name);
    ASSERT_TRUE(found.has_value()) << found.error().what();
    EXPECT_EQ((*found)->name, function->name);
    EXPECT_EQ((*found)->inputs.min, function->arity);
    EXPECT_EQ((*found)->inputs.max, function->arity);
    EXPECT_TRUE((*found)->summary.starts_with(function->summary)) << (*found)->summary;
    ++kernels;
  }
  EXPECT_GE(kernels, 60);
}

TEST(Elementwise, earlier_names_are_aliases) {
  EXPECT_EQ(kernel("elementwise_add"), kernel("add"));
  EXPECT_EQ(kernel("elementwise_sub"), kernel("subtract"));
  EXPECT_EQ(kernel("sub"), kernel("subtract"));
  EXPECT_EQ(kernel("elementwise_mul"), kernel("multiply"));
  EXPECT_EQ(kernel("mul"), kernel("multiply"));
  EXPECT_EQ(kernel("neg"), kernel("negate"));
  EXPECT_EQ(kernel("div"), kernel("elementwise_div"));
}

TEST(Elementwise, dtypes_and_results_are_those_of_the_table) {
  const Shape shape{3};
  EXPECT_EQ(refusal("erf", {{DType::s32, shape}}), ErrorCode::dtype_mismatch);
  EXPECT_EQ(refusal("bitwise_and", {{DType::f32, shape}, {DType::f32, shape}}),
            ErrorCode::dtype_mismatch);
  EXPECT_EQ(refusal("add", {{DType::boolean, shape}, {DType::boolean, shape}}),
            ErrorCode::dtype_mismatch);
  EXPECT_EQ(refusal("less", {{DType::f32, shape}, {DType::f64, shape}}), ErrorCode::dtype_mismatch);
  EXPECT_EQ(refusal("pow", {{DType::f32, shape}, {DType::f32, Shape{2}}}),
            ErrorCode::shape_mismatch);
  EXPECT_EQ(refusal("max", {{DType::f32, shape}}), ErrorCode::arity_mismatch);
  const std::vector<TensorSpec> inputs{{DType::f64, Shape{4, 1}}, {DType::f64, Shape{3}}};
  EXPECT_EQ(infer("less", inputs).value()[0], (TensorSpec{DType::u8, Shape{4, 3}}));
  EXPECT_FALSE(kernel("less")->in_place) << "its elements are smaller than its operands'";
}

TEST(Elementwise, division_truncates_integers_and_divides_floats) {
  const Shape shape{3};
  const std::vector<std::int32_t> a{-7, 7, 5};
  const std::vector<std::int32_t> b{2, 2, 0};
  const std::vector<Bytes> integers{bytes_of<std::int32_t>(a), bytes_of<std::int32_t>(b)};
  const auto whole =
      run_kernel("elementwise_div", {{DType::s32, shape}, {DType::s32, shape}}, integers);
  EXPECT_EQ(values_in<std::int32_t>(whole.bytes[0]), (std::vector<std::int32_t>{-3, 3, 0}));
  const std::vector<float> x{-7, 7, 5};
  const std::vector<float> y{2, 2, 4};
  const std::vector<Bytes> floats{bytes_of<float>(x), bytes_of<float>(y)};
  const auto real =
      run_kernel("elementwise_div", {{DType::f32, shape}, {DType::f32, shape}}, floats);
  EXPECT_EQ(values_in<float>(real.bytes[0]), (std::vector<float>{-3.5F, 3.5F, 1.25F}));
}

}  // namespace
}  // namespace stoker
