#include <gtest/gtest.h>

#include <set>

#include "stoker/kernels/cases.hpp"
#include "stoker/kernels/cpp_kernel.hpp"
#include "stoker/kernels/kernel.hpp"
#include "stoker/kernels/shader/preamble.hpp"
#include "stoker/kernels/shader/spirv.hpp"

namespace stoker {
namespace {

Kernel sample(std::string name) {
  Kernel kernel;
  kernel.name = std::move(name);
  kernel.family = "test";
  kernel.summary = "nothing";
  kernel.dtypes = {DType::f32};
  kernel.infer = [](const KernelCall& call) -> Result<std::vector<TensorSpec>> {
    return std::vector<TensorSpec>{call.inputs[0]};
  };
  return kernel;
}

Shader sample_shader() {
  return {.name = "probe",
          .file = "probe.glsl",
          .bindings = {{"x", "T"}},
          .variants = {{"f32", {{"T", DType::f32}}}}};
}

ErrorCode refusal(Kernel kernel) {
  KernelRegistry registry;
  const auto added = registry.add(std::move(kernel));
  return added.has_error() ? added.error().code() : ErrorCode::internal;
}

TEST(KernelRegistry, finds_a_kernel_by_name_and_by_alias) {
  KernelRegistry registry;
  Kernel kernel = sample("add");
  kernel.aliases = {"plus"};
  ASSERT_TRUE(registry.add(std::move(kernel)).has_value());
  EXPECT_EQ(registry.find("add").value(), registry.find("plus").value());
  EXPECT_EQ(registry.list().size(), 1U);
}

TEST(KernelRegistry, an_unknown_name_suggests_the_nearest) {
  KernelRegistry registry;
  ASSERT_TRUE(registry.add(sample("softmax")).has_value());
  const auto found = registry.find("sofmax");
  ASSERT_TRUE(found.has_error());
  EXPECT_EQ(found.error().code(), ErrorCode::unknown_kernel);
  EXPECT_EQ(found.error().detail("nearest"), "softmax");
  EXPECT_EQ(registry.find("xyz").error().detail("nearest"), "");
}

TEST(KernelRegistry, a_name_that_is_far_from_all_gets_no_suggestion) {
  for (const char* far : {"test", "node", "norm", "code", "self", "transformer", "gelu2"})
    EXPECT_EQ(KernelRegistry::builtin().find(far).error().detail("nearest"), "") << far;
}

TEST(KernelRegistry, a_name_is_taken_once) {
  KernelRegistry registry;
  ASSERT_TRUE(registry.add(sample("add")).has_value());
  Kernel second = sample("sum");
  second.aliases = {"add"};
  EXPECT_EQ(registry.add(std::move(second)).error().code(), ErrorCode::already_exists);
  EXPECT_TRUE(registry.find("sum").has_error()) << "a refused kernel leaves nothing behind";
}

TEST(KernelRegistry, refuses_incomplete_definitions) {
  Kernel no_rule = sample("a");
  no_rule.infer = nullptr;
  EXPECT_EQ(refusal(std::move(no_rule)), ErrorCode::invalid_argument);
  Kernel no_dtypes = sample("a");
  no_dtypes.dtypes.clear();
  EXPECT_EQ(refusal(std::move(no_dtypes)), ErrorCode::invalid_argument);
  EXPECT_EQ(refusal(sample("")), ErrorCode::invalid_argument);
  EXPECT_EQ(refusal(sample("no spaces")), ErrorCode::invalid_argument);
  Kernel bad_default = sample("a");
  bad_default.params = {{.name = "n", .type = ParamType::integer, .fallback = 1.5, .doc = ""}};
  EXPECT_EQ(refusal(std::move(bad_default)), ErrorCode::invalid_argument);
}

TEST(KernelRegistry, refuses_shaders_that_contradict_themselves) {
  const auto refused = [](const std::function<void(Shader&)>& change) {
    Shader shader = sample_shader();
    change(shader);
    Kernel kernel = sample("a");
    kernel.shaders = {std::make_shared<const Shader>(shader)};
    return refusal(std::move(kernel)) == ErrorCode::invalid_argument;
  };
  EXPECT_FALSE(refused([](Shader&) {}));
  EXPECT_TRUE(refused([](Shader& s) { s.bindings.push_back({"y", "U"}); }));
  EXPECT_TRUE(refused([](Shader& s) { s.bindings.push_back({"x", "T"}); }));
  EXPECT_TRUE(refused([](Shader& s) { s.push = {{"dims", PushType::u32, 0}}; }));
  EXPECT_FALSE(refused([](Shader& s) { s.push = {{"dims", PushType::u32, 1000}}; })) << "in memory";
  EXPECT_TRUE(refused([](Shader& s) { s.local_size = {1024, 2, 1}; }));
  EXPECT_TRUE(refused([](Shader& s) { s.variants.clear(); }));
  EXPECT_TRUE(refused([](Shader& s) { s.variants.push_back(s.variants[0]); }));
  EXPECT_TRUE(refused([](Shader& s) { s.push = {{"stoker_group"}}; }));
}

TEST(KernelRegistry, refuses_names_by_which_a_shader_means_something_else) {
  const auto reason_of = [](const std::function<void(Shader&)>& change) {
    Shader shader = sample_shader();
    change(shader);
    Kernel kernel = sample("a");
    kernel.shaders = {std::make_shared<const Shader>(shader)};
    KernelRegistry registry;
    const auto added = registry.add(std::move(kernel));
    return added ? std::string{} : std::string{added.error().reason()};
  };
  const auto of_a_buffer = [&](const char* name) {
    return reason_of([&](Shader& s) { s.bindings.push_back({name, "T"}); });
  };
  const auto of_a_parameter = [&](const char* name) {
    return reason_of([&](Shader& s) { s.push = {{name}}; });
  };
  const auto has = [](const std::string& text, const char* part) {
    return text.find(part) != std::string::npos;
  };
  for (const char* name : {"T", "T4", "T_IS_FLOAT", "T_IS_f32", "T_LEAST", "T_MOST"})
    for (const std::string& reason : {of_a_buffer(name), of_a_parameter(name)})
      EXPECT_TRUE(has(reason, "is a word of the preamble")) << name << ": " << reason;
  for (const char* name : {"main", "float", "uint", "vec3", "i16vec2", "dmat4x3", "uint8_t", "if",
                           "sampler2D", "layout", "GL_EXT_buffer_reference", "VULKAN"})
    for (const std::string& reason : {of_a_buffer(name), of_a_parameter(name)})
      EXPECT_TRUE(has(reason, "is a word of GLSL")) << name << ": " << reason;
  EXPECT_TRUE(has(of_a_buffer("exp"), "is a function of GLSL"));
  for (const char* name : {"input", "out", "shared"})
    EXPECT_TRUE(has(of_a_parameter(name), "is a word that GLSL keeps for itself")) << name;
  for (const char* name : {"x_load", "x_load4", "x_store", "x_store4"})
    EXPECT_TRUE(has(of_a_parameter(name), "is the name of an accessor of 'x'")) << name;
  for (const char* name : {"T_OTHER", "T5", "TT", "exp", "vec5", "mat", "floats", "x_", "load"})
    EXPECT_EQ(of_a_parameter(name), "") << name;
  for (const char* name : {"input", "image", "expo", "mask_load", "texture1"})
    EXPECT_EQ(of_a_buffer(name), "") << name;
}

TEST(Kernel, check_names_the_kernel_and_what_was_expected) {
  const Kernel kernel = sample("add");
  const ParamSet none = ParamSet::resolve("add", kernel.params, {}).value();
  const std::vector<TensorSpec> two(2);
  EXPECT_EQ(kernel.check(two, none).error().code(), ErrorCode::arity_mismatch);
  EXPECT_EQ(kernel.check(two, none).error().detail("expected"), "1");
  const std::vector<TensorSpec> wrong{{DType::u8, {2}}};
  EXPECT_EQ(kernel.check(wrong, none).error().code(), ErrorCode::dtype_mismatch);
  EXPECT_EQ(kernel.check(wrong, none).error().detail("expected"), "f32");
}

TEST(Kernel, what_a_shape_rule_throws_becomes_the_kernels_error) {
  Kernel kernel = sample("odd");
  kernel.infer = [](const KernelCall&) -> Result<std::vector<TensorSpec>> {
    throw Error{"shape", ErrorCode::shape_mismatch, "odd"};
  };
  const ParamSet none;
  const std::vector<TensorSpec> one{{DType::f32, {3}}};
  EXPECT_EQ(kernel.check(one, none).error().op(), "odd");
  EXPECT_EQ(kernel.check(one, none).error().code(), ErrorCode::shape_mismatch);
}

TEST(BuiltinKernels, all_definitions_are_accepted) {
  EXPECT_NO_THROW((void)KernelRegistry::builtin());
  EXPECT_FALSE(KernelRegistry::builtin().list().empty());
}

TEST(BuiltinKernels, each_has_a_cpu_version_and_says_what_it_does) {
  for (const auto& kernel : KernelRegistry::builtin().list()) {
    EXPECT_TRUE(kernel->cpu || cpu_table().find(kernel->name)) << kernel->name;
    EXPECT_FALSE(kernel->summary.empty()) << kernel->name;
    EXPECT_FALSE(kernel->family.empty()) << kernel->name;
    for (const ParamSpec& param : kernel->params)
      EXPECT_FALSE(param.doc.empty()) << kernel->name << "." << param.name;
  }
}

TEST(BuiltinKernels, every_shader_variant_was_compiled) {
  for (const auto& kernel : KernelRegistry::builtin().list())
    for (const auto& shader : kernel->shaders)
      for (const ShaderVariant& variant : shader->variants) {
        const auto words = builtin_spirv(shader->name, variant.name);
        ASSERT_GT(words.size(), 5U) << shader->name << " " << variant.name;
        EXPECT_EQ(words[0], 0x07230203U) << "the magic number of SPIR-V";
      }
  EXPECT_TRUE(builtin_spirv("no_such_shader", "f32").empty());
}

TEST(BuiltinKernels, each_has_a_conformance_suite_over_all_its_dtypes) {
  std::set<std::string> covered;
  std::set<std::pair<std::string, DType>> dtypes;
  for (const KernelSuite& suite : all_kernel_suites()) {
    covered.insert(suite.kernel);
    for (const KernelCase& sample : suite.cases)
      if (!sample.inputs.empty()) dtypes.insert({suite.kernel, sample.inputs[0].dtype});
  }
  for (const auto& kernel : KernelRegistry::builtin().list()) {
    EXPECT_TRUE(covered.contains(kernel->name)) << kernel->name;
    if (kernel->inputs.min == 0) continue;  // its dtype is a parameter
    for (const DType dtype : kernel->dtypes)
      EXPECT_TRUE(dtypes.contains({kernel->name, dtype}))
          << kernel->name << " " << to_string(dtype);
  }
}

TEST(CppKernel, computes_its_ranges_through_a_plan) {
  CppKernelSpec spec{.name = "twice",
                     .run = [](const CppCall& call, std::size_t begin, std::size_t end) {
                       const auto x = call.in<float>();
                       const auto y = call.out<float>();
                       for (std::size_t i = begin; i < end; ++i) y[i] = 2 * x[i];
                     }};
  spec.grain = 10;
  const Kernel kernel = cpp_kernel(std::move(spec));
  const std::vector<TensorSpec> specs{{DType::f32, {1000}}};
  const ParamSet none;
  EXPECT_EQ(kernel.check(specs, none).value(), specs);
  const CpuPlan plan = kernel.cpu(KernelCall{specs, none}, specs).value();
  std::vector<float> x(1000, 1.5F);
  std::vector<float> y(1000);
  const void* in = x.data();
  void* out = y.data();
  for (std::uint32_t i = 0; i < plan.stages[0].slices; ++i)
    plan.stages[0].run({&in, &out, nullptr}, i);
  EXPECT_EQ(y, std::vector<float>(1000, 3.0F));
}

TEST(CppKernel, an_error_of_its_function_names_it) {
  CppKernelSpec spec{.name = "mistaken", .run = [](const CppCall& call, std::size_t, std::size_t) {
                       static_cast<void>(call.in<double>());
                     }};
  const Kernel kernel = cpp_kernel(std::move(spec));
  const std::vector<TensorSpec> specs{{DType::f32, {1}}};
  const ParamSet none;
  const CpuPlan plan = kernel.cpu(KernelCall{specs, none}, specs).value();
  float element = 1;
  const void* in = &element;
  void* out = &element;
  try {
    plan.stages[0].run({&in, &out, nullptr}, 0);
    ADD_FAILURE() << "nothing was thrown";
  } catch (const Error& error) {
    EXPECT_EQ(error.detail("kernel"), "mistaken");
  }
}

TEST(CppKernel, reading_a_buffer_as_another_type_throws) {
  const std::vector<TensorSpec> specs{{DType::f32, {1}}};
  const ParamSet none;
  const void* const pointers[2] = {nullptr, nullptr};
  const CpuArgs args{pointers, nullptr, nullptr};
  const CppCall call{specs, specs, none, args};
  EXPECT_THROW((void)call.in<double>(0), Error);
  EXPECT_THROW((void)call.in<float>(1), Error);
}

TEST(SliceRange, slices_cover_everything_once_and_begin_at_whole_blocks) {
  for (const std::size_t elements : {0UL, 1UL, 63UL, 64UL, 65UL, 1000UL, 4096UL, 100003UL})
    for (const std::uint32_t slices : {1U, 2U, 3U, 7U, 8U}) {
      std::size_t next = 0;
      for (std::uint32_t i = 0; i < slices; ++i) {
        const SliceRange range = slice_range(elements, slices, i);
        EXPECT_EQ(range.begin, next);
        EXPECT_LE(range.begin, range.end);
        EXPECT_TRUE(range.begin % 64 == 0 || range.begin == elements);
        next = range.end;
      }
      EXPECT_EQ(next, elements);
    }
}

TEST(SliceCount, small_work_is_one_slice) {
  EXPECT_EQ(slice_count(0, 1000), 1U);
  EXPECT_EQ(slice_count(1999, 1000), 1U);
  EXPECT_GE(slice_count(1'000'000'000, 1), 4U);
}

TEST(LinearGroups, enough_groups_within_the_limit_of_each_axis_and_few_idle_ones) {
  for (const std::uint64_t groups : {0ULL, 1ULL, 65535ULL, 65536ULL, 131071ULL, 8388608ULL,
                                     4294967296ULL, 4294967297ULL, 1ULL << 40}) {
    const auto [x, y, z] = linear_groups(groups);
    for (const std::uint32_t axis : {x, y, z}) {
      EXPECT_GE(axis, 1U);
      EXPECT_LE(axis, 65535U);
    }
    const std::uint64_t total = std::uint64_t{x} * y * z;
    EXPECT_GE(total, groups);
    EXPECT_LE(total, groups + groups / 100 + 1);
  }
  EXPECT_EQ(linear_groups_for(1025, 256)[0], 5U);
}

}  // namespace
}  // namespace stoker
