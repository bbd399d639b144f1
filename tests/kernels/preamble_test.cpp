#include "stoker/kernels/shader/preamble.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "stoker/kernels/cases.hpp"
#include "stoker/kernels/glsl/compiler.hpp"
#include "stoker/kernels/kernel.hpp"
#include "stoker/kernels/shader/shader_names.hpp"

namespace stoker {
namespace {

Shader probe(std::string source) {
  Shader shader{.name = "probe",
                .file = "probe.glsl",
                .bindings = {{"x", "T"}, {"y", "T", true}},
                .variants = {}};
  shader.push = {{"n"}, {"scale", PushType::f32}, {"dims", PushType::s32, 8}};
  shader.constants = {{"TILE", 4}};
  shader.source = std::move(source);
  return shader;
}

ShaderVariant variant_of(DType dtype) { return {std::string{to_string(dtype)}, {{"T", dtype}}}; }

bool has(const std::string& text, std::string_view part) { return text.find(part) != text.npos; }

TEST(Preamble, declares_what_the_shader_declares) {
  const std::string text = preamble(probe(""), variant_of(DType::f32));
  EXPECT_TRUE(text.starts_with("#version 460\n"));
  EXPECT_TRUE(text.ends_with("#line 1\n"));
  EXPECT_TRUE(has(text, "layout(constant_id = 0) const uint TILE = 4u;"));
  EXPECT_TRUE(has(text, "  int dims[8];"));
  EXPECT_TRUE(has(text, "local_size_x = 256"));
  EXPECT_TRUE(has(text, "#define T_IS_f32 1"));
  EXPECT_FALSE(has(text, "x_store")) << "x is read only";
}

TEST(Preamble, ends_with_what_the_shader_makes_of_the_variant) {
  Shader shader = probe("");
  shader.prologue = [](const ShaderVariant& variant) { return "T of_" + variant.name + "();"; };
  const std::string text = preamble(shader, variant_of(DType::f16));
  EXPECT_TRUE(text.ends_with("\nT of_f16();\n#line 1\n")) << text;
}

TEST(Preamble, asks_only_for_the_extensions_that_the_dtypes_need) {
  const std::string plain = preamble(probe(""), variant_of(DType::f32));
  EXPECT_FALSE(has(plain, "8bit"));
  EXPECT_FALSE(has(plain, "16bit"));
  EXPECT_FALSE(has(plain, "int64"));
  EXPECT_FALSE(has(plain, "subgroup"));
  EXPECT_TRUE(has(preamble(probe(""), variant_of(DType::u8)), "GL_EXT_shader_8bit_storage"));
  EXPECT_TRUE(has(preamble(probe(""), variant_of(DType::bf16)), "GL_EXT_shader_16bit_storage"));
}

TEST(Preamble, every_accessor_compiles_for_every_dtype) {
  const Shader shader = probe(R"(
void main() {
  uint i = stoker_index() + stoker_group();
  if (i >= n) return;
  T v = x_load(i) + T(scale) + T(dims[2] + int(TILE));
  y_store(i, v + y_load(i));
  T4 w = x_load4(i);
  y_store4(i, w + y_load4(i));
  y(i + 1) = x(i + 2);
#if T_IS_FLOAT && !T_IS_f64
  y_store(i, exp(v));
#endif
})");
  for (std::size_t d = 0; d < dtype_count; ++d) {
    const auto compiled = try_compile_glsl(shader, variant_of(static_cast<DType>(d)));
    EXPECT_TRUE(compiled.has_value()) << compiled.error().what();
  }
}

TEST(Preamble, what_a_shader_reads_it_cannot_assign_to) {
  for (std::size_t d = 0; d < dtype_count; ++d) {
    const auto compiled = try_compile_glsl(probe("void main() {\n  x(0) = x(1);\n}"),
                                           variant_of(static_cast<DType>(d)));
    ASSERT_TRUE(compiled.has_error()) << to_string(static_cast<DType>(d));
    EXPECT_EQ(compiled.error().detail("line"), "2");
    EXPECT_TRUE(has(std::string{compiled.error().detail("message")}, "l-value required"))
        << compiled.error().what();
  }
}

// What the preamble defines for itself has names that begin with stoker_.
TEST(Preamble, names_of_buffers_and_parameters_are_the_shaders_own) {
  for (const char* name :
       {"address",  "addresses", "at",    "at_x",      "bf16",       "block",  "block_at",
        "elements", "first",     "group", "has_table", "index",      "pack_8", "push",
        "table",    "table_at",  "u8x4",  "wide_x",    "x_elements", "x_wide"}) {
    Shader of_a_buffer = probe("void main() { uint i = stoker_index(); y(i) = x(i); }");
    of_a_buffer.bindings.push_back({name, "T"});
    Shader of_a_parameter = probe(of_a_buffer.source);
    of_a_parameter.push.push_back({name});
    for (const DType dtype : {DType::f32, DType::u8, DType::bf16})
      for (const Shader* shader : {&of_a_buffer, &of_a_parameter}) {
        const auto compiled = try_compile_glsl(*shader, variant_of(dtype));
        EXPECT_TRUE(compiled.has_value()) << name << ": " << compiled.error().what();
      }
  }
}

TEST(Preamble, buffers_may_have_names_that_no_text_writes_before_one_argument) {
  for (const char* name : {"buffer", "in", "out", "inout", "sample", "patch", "shared", "filter",
                           "min", "max", "step", "distance", "dot", "mix", "clamp"}) {
    Shader shader = probe(std::string{R"(
shared int q;
void set(in int v, out int w) { w = v; }
void main() { set(1, q); )"} +
                          name + "(0) = x(0); }");
    shader.bindings.push_back({name, "T", true});
    EXPECT_EQ(wrong_name(shader), std::nullopt);
    for (const DType dtype : {DType::f32, DType::u8, DType::bf16, DType::boolean}) {
      const auto compiled = try_compile_glsl(shader, variant_of(dtype));
      EXPECT_TRUE(compiled.has_value()) << name << ": " << compiled.error().what();
    }
  }
}

TEST(Preamble, more_parameters_than_can_be_pushed_lie_in_memory) {
  Shader shader = probe(R"(
void main() {
  uint i = stoker_index();
  if (i < n) y_store(i, x_load(i) + scale * float(dims[i % 8u] + more[3]));
})");
  EXPECT_FALSE(in_memory(shader));
  EXPECT_TRUE(has(preamble(shader, variant_of(DType::f32)), "stoker_table"));
  shader.push.push_back({"more", PushType::s32, 40});
  EXPECT_TRUE(in_memory(shader));
  EXPECT_TRUE(has(preamble(shader, variant_of(DType::f32)),
                  "uniform stoker_push { uvec2 stoker_block_at; };"));
  const auto compiled = try_compile_glsl(shader, variant_of(DType::f32));
  EXPECT_TRUE(compiled.has_value()) << compiled.error().what();
}

TEST(Preamble, stores_of_f16_leave_no_rounding_to_the_driver) {
  const std::string text = preamble(probe(""), variant_of(DType::f16));
  EXPECT_TRUE(
      has(text, "y_store(uint i, float v) { stoker_at_y.at[i] = float16_t(stoker_half(v)); }"));
  EXPECT_TRUE(has(text, "f16vec4(vec4(stoker_half(v.x), stoker_half(v.y), stoker_half(v.z), "));
}

TEST(Preamble, bindings_are_restricted_to_their_names) {
  const std::string text = preamble(probe(""), variant_of(DType::f32));
  for (const char* x : {"stoker_elements_x", "stoker_wide_x"})
    EXPECT_TRUE(has(text, std::string{"restrict readonly buffer "} + x)) << x;
  for (const char* y : {"stoker_elements_y", "stoker_wide_y"})
    EXPECT_TRUE(has(text, std::string{"restrict buffer "} + y)) << y;
}

// What that rests on; plans are tests/api/pipeline_plan_test.cpp's.
TEST(Preamble, no_pass_reads_by_one_name_what_it_writes_by_another) {
  std::size_t passes = 0;
  for (const KernelSuite& suite : all_kernel_suites()) {
    const Kernel& kernel = *KernelRegistry::builtin().find(suite.kernel).value();
    for (const KernelCase& one : suite.cases) {
      const ParamSet params = ParamSet::resolve(kernel.name, kernel.params, one.params).value();
      const auto outputs = kernel.check(one.inputs, params).value();
      if (!kernel.gpu || std::ranges::any_of(outputs, [](auto& y) { return y.elements() == 0; }))
        continue;
      const auto plan = kernel.gpu({one.inputs, params}, outputs, {});
      if (!plan) continue;
      for (const GpuPass& pass : plan->passes) {
        ++passes;
        const auto& bindings = pass.shader->bindings;
        for (std::size_t i = 0; i < pass.bindings.size(); ++i)
          for (std::size_t k = 0; k < i; ++k)
            if (pass.bindings[i].source == pass.bindings[k].source &&
                pass.bindings[i].index == pass.bindings[k].index) {
              EXPECT_EQ(bindings[i].writes, bindings[k].writes)
                  << kernel.name << ' ' << one.label << ": " << bindings[i].name << " is "
                  << bindings[k].name;
            }
      }
    }
  }
  EXPECT_GT(passes, 1000U);
}

TEST(Preamble, subgroup_operations_compile_where_declared) {
  Shader shader =
      probe("void main() { y_store(0, subgroupAdd(x_load(gl_SubgroupInvocationID))); }");
  EXPECT_TRUE(try_compile_glsl(shader, variant_of(DType::f32)).has_error());
  shader.uses_subgroups = true;
  EXPECT_TRUE(try_compile_glsl(shader, variant_of(DType::f32)).has_value());
}

TEST(Preamble, an_unbound_type_is_an_error_that_names_the_binding) {
  const auto compiled = try_compile_glsl(probe("void main() {}"), ShaderVariant{"none"});
  ASSERT_TRUE(compiled.has_error());
  EXPECT_TRUE(has(std::string{compiled.error().detail("log")}, "binding x has type T"));
}

TEST(Preamble, defines_of_the_variant_reach_the_body) {
  ShaderVariant variant = variant_of(DType::f32);
  variant.defines = {{"OP(a, b)", "((a) + (b))"}};
  EXPECT_TRUE(try_compile_glsl(probe("void main() { y_store(0, OP(x_load(0), 1.0)); }"), variant)
                  .has_value());
}

}  // namespace
}  // namespace stoker
