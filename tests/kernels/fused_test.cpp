// What a fused program refuses, what tells programs apart, and that their shaders compile.
#include <gtest/gtest.h>

#include "fused_programs.hpp"
#include "stoker/kernels/glsl/compiler.hpp"

namespace stoker {
namespace {

using namespace fused_test;

TEST(Fused, mistakes_are_errors) {
  const Shape shape{2, 3};
  const FusedProgram good = single(*function("add"), {DType::f32, DType::f32}, DType::f32, shape);
  const auto code_of = [&](auto&& change) {
    FusedProgram program = good;
    change(program);
    const auto made = fused_kernel(program);
    return made.has_error() ? made.error().code() : ErrorCode::internal;
  };
  EXPECT_TRUE(fused_kernel(good).has_value());
  EXPECT_EQ(code_of([](auto& p) { p.outputs.clear(); }), ErrorCode::invalid_argument);
  EXPECT_EQ(code_of([](auto& p) { p.outputs = {9}; }), ErrorCode::invalid_argument);
  EXPECT_EQ(code_of([](auto& p) { p.code[0].operands[1] = 2; }), ErrorCode::invalid_argument);
  EXPECT_EQ(code_of([](auto& p) { p.code[0].function = nullptr; }), ErrorCode::invalid_argument);
  EXPECT_EQ(code_of([](auto& p) { p.code[0].result = DType::f64; }), ErrorCode::dtype_mismatch);
  EXPECT_EQ(code_of([](auto& p) { p.inputs[0].spec.dtype = DType::f64; }),
            ErrorCode::dtype_mismatch);
  EXPECT_EQ(code_of([](auto& p) { p.inputs[0].offset = 1; }), ErrorCode::invalid_argument);
  EXPECT_EQ(code_of([](auto& p) { p.inputs[0].strides[0] = -3; }), ErrorCode::invalid_argument);
  EXPECT_EQ(code_of([](auto& p) { p.inputs[0].strides[0] = std::int64_t{1} << 62; }),
            ErrorCode::invalid_argument);
  EXPECT_EQ(code_of([&](auto& p) { p.code[0].function = function("bitwise_and"); }),
            ErrorCode::dtype_mismatch);
  EXPECT_EQ(code_of([&](auto& p) { p.constants.resize(70000); }), ErrorCode::limit_exceeded);
  const auto unknown = find_scalar_function("subtrct");
  EXPECT_EQ(unknown.error().code(), ErrorCode::not_found);
  EXPECT_EQ(unknown.error().detail("nearest"), "subtract");

  const auto kernel = fused_kernel(good).value();
  const ParamSet params = ParamSet::resolve("fused", {}, {}).value();
  const TensorSpec right{DType::f32, shape};
  const auto check = [&](std::vector<TensorSpec> specs) {
    return kernel->check(specs, params).error().code();
  };
  EXPECT_EQ(check({right}), ErrorCode::arity_mismatch);
  EXPECT_EQ(check({right, {DType::f32, Shape{3, 2}}}), ErrorCode::shape_mismatch);
  EXPECT_EQ(check({right, {DType::s32, shape}}), ErrorCode::dtype_mismatch);
}

TEST(Fused, a_text_tells_programs_apart) {
  const FusedProgram one = single(*function("add"), {DType::f32, DType::f32}, DType::f32, Shape{2});
  FusedProgram other = one;
  EXPECT_EQ(one.hash(), other.hash());
  other.inputs[1].strides[0] = 0;
  EXPECT_NE(one.to_string(), other.to_string());
  EXPECT_NE(one.hash(), other.hash());
  EXPECT_EQ(one.to_string(),
            "fused [2]\nv0: f32 = buffer [2] at 0 by [1]\nv1: f32 = buffer [2] at 0 by [1]\n"
            "v2: f32 = add(v0, v1)\nreturn v2\n");
}

TEST(Fused, shaders_compile_or_say_why_there_is_none) {
  const auto compile = [](const Shader& shader, const ShaderVariant& variant) {
    auto words = try_compile_glsl(shader, variant);
    EXPECT_TRUE(words.has_value()) << words.error().what() << "\n" << shader.source;
    return words;
  };
  const ParamSet params = ParamSet::resolve("fused", {}, {}).value();
  const auto plan = [&](const FusedProgram& program, bool compiled = true) {
    const auto kernel =
        fused_kernel(program, compiled ? ShaderCompiler{compile} : ShaderCompiler{}).value();
    const auto specs = program.buffers();
    return kernel->gpu(KernelCall{specs, params}, kernel->check(specs, params).value(),
                       GpuTraits{});
  };
  for (const Use& use : all_uses()) {
    // 16-bit integers are written as the 8-bit ones are.
    if (size_of(use.operands.back()) == 2 && !is_float(use.operands.back())) continue;
    // Casts: a row and a column of the square are enough here.
    if (use.function->result == ScalarResult::free && use.result != DType::s8 &&
        use.result != DType::u64 && use.operands[0] != DType::f32)
      continue;
    const auto made = plan(single(*use.function, use.operands, use.result, Shape{64}));
    if (made.has_error()) {
      EXPECT_EQ(made.error().code(), ErrorCode::unsupported) << made.error().what();
      EXPECT_EQ(use.operands.back(), DType::f64) << use.name();
    }
  }
  for (const View& view : views) {
    if (view.shape.empty()) continue;
    for (const bool index : {false, true})
      for (const DType dtype : {DType::f32, DType::f64, DType::bf16, DType::s8, DType::u64})
        EXPECT_TRUE(plan(copy_of(view, dtype, index)).has_value()) << view.label;
  }
  std::mt19937 random{11};
  for (int round = 0; round < 8; ++round) {
    const auto made = plan(random_program(random));
    EXPECT_TRUE(made.has_value() || made.error().code() == ErrorCode::unsupported);
  }
  const auto without = plan(copy_of(views[0], DType::f32, false), false);
  EXPECT_EQ(without.error().code(), ErrorCode::unsupported);
}

TEST(Fused, contiguous_programs_of_any_size_share_a_shader) {
  const auto name = [](const Shape& shape) {
    const auto program = single(*function("exp"), {DType::f32}, DType::f32, shape);
    return fused_kernel(program).value()->shaders.at(0)->name;
  };
  EXPECT_EQ(name(Shape{7}), name(Shape{3, 1000}));
}

}  // namespace
}  // namespace stoker
