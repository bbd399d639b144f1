#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <optional>
#include <thread>

#include "stoker/api/kernel_spec.hpp"
#include "stoker/kernels/glsl/compiler.hpp"
#include "stoker/kernels/glsl/frontend.hpp"
#include "stoker/kernels/shader/preamble.hpp"

namespace stoker {
namespace {

/// A folder that is gone when the test ends.
class TemporaryFolder {
 public:
  TemporaryFolder() {
    std::string name = (std::filesystem::temp_directory_path() / "stoker-glsl-XXXXXX").string();
    path_ = ::mkdtemp(name.data());
  }
  ~TemporaryFolder() { std::filesystem::remove_all(path_); }
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;
  [[nodiscard]] const std::filesystem::path& path() const { return path_; }
  [[nodiscard]] std::vector<std::filesystem::path> files() const {
    std::vector<std::filesystem::path> found;
    for (const auto& entry : std::filesystem::directory_iterator{path_})
      found.push_back(entry.path());
    return found;
  }

 private:
  std::filesystem::path path_;
};

const ShaderVariant f32{"f32", {{"T", DType::f32}}};

Shader doubling(std::string source = "void main() {\n  y_store(0, 2.0 * x_load(0));\n}\n") {
  Shader shader{.name = "double",
                .file = "double.glsl",
                .bindings = {{"x", "T"}, {"y", "T", true}},
                .variants = {f32}};
  shader.source = std::move(source);
  return shader;
}

KernelSpec scale() {
  return {
      .name = "scale",
      .inputs = {{"x"}},
      .params = {{.name = "factor", .type = ParamType::real, .fallback = 1.0, .doc = "multiplies"}},
      .glsl = R"(
void main() {
  uint i = stoker_index();
  if (i >= n) return;
  y_store(i, T(factor) * x_load(i));
}
)"};
}

TEST(Glsl, an_error_has_the_users_own_line) {
  const auto compiled =
      try_compile_glsl(doubling("void main() {\n\n  y_store(0, nothing);\n}\n"), f32);
  ASSERT_TRUE(compiled.has_error());
  EXPECT_EQ(compiled.error().code(), ErrorCode::compile_failed);
  EXPECT_EQ(compiled.error().op(), "double");
  EXPECT_EQ(compiled.error().detail("file"), "double.glsl");
  EXPECT_EQ(compiled.error().detail("line"), "3");
  EXPECT_NE(compiled.error().detail("message").find("undeclared"), std::string_view::npos);
  EXPECT_EQ(compiled.error().detail("variant"), "f32");
}

TEST(Glsl, a_text_without_main_or_with_rubbish_is_an_error_not_a_crash) {
  for (const char* text : {"", "void other() {}", "void main() {", "#error no", "\x01\x02\xff",
                           "}}}}", "#line 99 \"x\"\nfoo"})
    EXPECT_EQ(try_compile_glsl(doubling(text), f32).error().code(), ErrorCode::compile_failed)
        << text;
}

TEST(Glsl, a_second_compiler_reads_the_cache) {
  const TemporaryFolder folder;
  GlslCompiler first{folder.path()};
  const auto made = first.compile(doubling(), f32);
  EXPECT_EQ(first.counters().compiled, 1U);
  GlslCompiler second{folder.path()};
  EXPECT_EQ(second.compile(doubling(), f32), made);
  EXPECT_EQ(second.counters().compiled, 0U);
  EXPECT_EQ(second.counters().from_cache, 1U);
}

TEST(Glsl, another_text_or_variant_is_another_entry) {
  const TemporaryFolder folder;
  GlslCompiler compiler{folder.path()};
  ASSERT_TRUE(compiler.try_compile(doubling(), f32).has_value());
  ASSERT_TRUE(compiler.try_compile(doubling("void main() {}"), f32).has_value());
  ASSERT_TRUE(compiler.try_compile(doubling(), {"s32", {{"T", DType::f16}}}).has_value());
  EXPECT_EQ(compiler.counters().compiled, 3U);
  EXPECT_EQ(folder.files().size(), 3U);
}

/// How many instructions of a module have this number, and this last word if one is given.
std::size_t count_of(const std::vector<std::uint32_t>& words, std::uint32_t op,
                     std::optional<std::uint32_t> last = std::nullopt) {
  std::size_t found = 0;
  for (std::size_t at = 5; at < words.size(); at += words[at] >> 16)
    if ((words[at] & 0xffff) == op && (!last || words[at + (words[at] >> 16) - 1] == *last))
      ++found;
  return found;
}

TEST(Glsl, what_is_precise_stays_so_in_every_copy_of_an_unrolled_loop) {
  constexpr std::uint32_t op_line = 8;
  constexpr std::uint32_t op_decorate = 71;
  constexpr std::uint32_t op_f_mul = 133;
  constexpr std::uint32_t no_contraction = 42;
  const std::string function = "float f(float a) { precise float b = a * 3.0 + 1.0; return b; }\n";
  const auto compiled = [](const std::string& text) {
    const TemporaryFolder folder;
    return GlslCompiler{folder.path()}.compile(doubling(text), f32);
  };
  const std::string loop =
      "void main() {\n  [[unroll]] for (uint i = 0; i < 4; ++i)\n"
      "    y_store(i, f(x_load(i)));\n}\n";
  const auto precise = compiled(function + loop);
  EXPECT_EQ(count_of(precise, op_f_mul), 4U);
  EXPECT_EQ(count_of(precise, op_decorate, no_contraction), 8U) << "products and sums";
  EXPECT_EQ(count_of(precise, op_line), 0U);
  const auto loose = compiled("float f(float a) { return a * 3.0 + 1.0; }\n" + loop);
  EXPECT_EQ(count_of(loose, op_decorate, no_contraction), 0U);
  // The second loop's bounds are constants once the first is unrolled.
  const auto later = compiled(function +
                              "void main() {\n  uint at = 0;\n"
                              "  [[unroll]] for (uint k = 0; k < 3; ++k) {\n"
                              "    y_store(k + 50, x_load(k));\n    at += 1;\n  }\n"
                              "  [[unroll]] for (uint j = at; j < at + 4; ++j)\n"
                              "    y_store(j, f(x_load(j)));\n}\n");
  EXPECT_EQ(count_of(later, op_decorate, no_contraction), 2 * count_of(later, op_f_mul));
  EXPECT_GE(count_of(later, op_f_mul), 1U);
}

TEST(Glsl, a_cache_entry_is_of_its_tools_target_and_passes) {
  const TemporaryFolder folder;
  const auto words = GlslCompiler{folder.path()}.compile(doubling(), f32);
  const auto cached = [&](std::string_view toolchain) {
    const Shader shader = doubling();
    return glsl::SpirvCache{folder.path()}.load(
        glsl::SpirvCache::key(preamble(shader, f32), shader.source, toolchain));
  };
  const std::string version{glsl::toolchain_version()};
  EXPECT_EQ(cached(version), words);
  const std::string target =
      "SPIR-V " + std::to_string(words[1] >> 16) + "." + std::to_string(words[1] >> 8 & 0xff);
  for (const std::string& part : {target, std::string{"Vulkan 1.2"}, std::string{"passes"}}) {
    const std::size_t at = version.find(part);
    ASSERT_NE(at, version.npos) << part << " is not in " << version;
    EXPECT_FALSE(cached(std::string{version}.replace(at, part.size(), "others"))) << part;
  }
}

TEST(Glsl, a_damaged_cache_file_is_compiled_again) {
  const TemporaryFolder folder;
  GlslCompiler compiler{folder.path()};
  const auto made = compiler.compile(doubling(), f32);
  const auto file = folder.files().at(0);
  const auto size = std::filesystem::file_size(file);
  const auto damage = [&](const char* how, const std::function<void()>& act) {
    act();
    const auto before = compiler.counters().compiled;
    EXPECT_EQ(compiler.compile(doubling(), f32), made) << how;
    EXPECT_EQ(compiler.counters().compiled, before + 1) << how;
  };
  damage("torn", [&] { std::filesystem::resize_file(file, size / 2); });
  damage("empty", [&] { std::filesystem::resize_file(file, 0); });
  damage("longer", [&] { std::filesystem::resize_file(file, size + 4); });
  damage("one bit", [&] {
    std::fstream out{file, std::ios::in | std::ios::out | std::ios::binary};
    out.seekp(static_cast<std::streamoff>(size) - 3);
    out.put('\x55');
  });
}

TEST(Glsl, a_full_cache_forgets_what_was_not_used_for_longest) {
  const TemporaryFolder folder;
  const glsl::SpirvCache cache{folder.path(), 4000};
  const std::vector<std::uint32_t> words(200);  // with its header less than a kilobyte
  const auto key_of = [](int number) {
    return glsl::SpirvCache::key("", std::to_string(number), "test");
  };
  std::ofstream{folder.path() / "somebody.else"} << std::string(9000, 'x');
  auto age = std::filesystem::file_time_type::clock::now() - std::chrono::hours{1};
  for (int i = 0; i < 8; ++i) {
    const auto known = folder.files();
    cache.store(key_of(i), words);
    for (const auto& file : folder.files())
      if (std::ranges::find(known, file) == known.end())
        std::filesystem::last_write_time(file, age += std::chrono::seconds{1});
  }
  ASSERT_TRUE(cache.load(key_of(0)));  // which counts as a use
  cache.trim();
  EXPECT_TRUE(cache.load(key_of(0)));
  EXPECT_FALSE(cache.load(key_of(1)));
  EXPECT_TRUE(cache.load(key_of(7)));
  EXPECT_TRUE(std::filesystem::exists(folder.path() / "somebody.else"));
  const auto left = folder.files().size();
  cache.trim();
  EXPECT_EQ(folder.files().size(), left);  // there is room again
}

TEST(Glsl, a_folder_that_cannot_be_written_costs_the_cache_only) {
  GlslCompiler compiler{"/proc/no/such/folder"};
  EXPECT_TRUE(compiler.try_compile(doubling(), f32).has_value());
}

TEST(Glsl, threads_may_compile_at_once) {
  const TemporaryFolder folder;
  GlslCompiler compiler{folder.path()};
  std::atomic<int> good{0};
  {
    std::vector<std::jthread> threads;
    for (int t = 0; t < 4; ++t)
      threads.emplace_back([&, t] {
        for (int i = 0; i < 4; ++i) {
          const std::string text =
              "void main() { y_store(" + std::to_string((t + i) % 5) + ", 1.0); }";
          if (compiler.try_compile(doubling(text), f32).has_value()) ++good;
        }
      });
  }
  EXPECT_EQ(good, 16);
}

TEST(GlslKernel, becomes_a_kernel_with_shape_rule_and_plan) {
  const Kernel kernel = make_kernel(scale());
  KernelRegistry registry;
  ASSERT_TRUE(registry.add(kernel).has_value());
  const std::vector<TensorSpec> inputs{{DType::f32, {3, 100}}};
  const ParamSet params = ParamSet::resolve("scale", kernel.params, {{"factor", 2.5}}).value();
  const auto outputs = kernel.check(inputs, params).value();
  EXPECT_EQ(outputs, inputs);
  const GpuPlan plan = kernel.gpu({inputs, params}, outputs, {}).value();
  ASSERT_EQ(plan.passes.size(), 1U);
  EXPECT_EQ(plan.passes[0].groups[0], 2U);
  EXPECT_EQ(plan.passes[0].bindings.size(), 2U);
  EXPECT_EQ(plan.passes[0].push.bytes().size(), 4U + 4U + 32U + 4U);
  EXPECT_FALSE(plan.passes[0].shader->variant("f32")->spirv.empty());
}

TEST(GlslKernel, each_dtype_of_T_is_a_variant) {
  KernelSpec spec = scale();
  spec.dtypes = {DType::f32, DType::f16, DType::s32};
  const Kernel kernel = make_kernel(std::move(spec));
  EXPECT_EQ(kernel.shaders[0]->variants.size(), 3U);
  const std::vector<TensorSpec> inputs{{DType::f16, {8}}};
  EXPECT_EQ(
      kernel.check(inputs, ParamSet::resolve("scale", kernel.params, {}).value()).value()[0].dtype,
      DType::f16);
}

TEST(GlslKernel, inputs_of_one_letter_must_agree) {
  KernelSpec spec = scale();
  spec.inputs = {{"x"}, {"z"}};
  spec.dtypes = {DType::f32, DType::f16};
  const Kernel kernel = make_kernel(std::move(spec));
  const std::vector<TensorSpec> inputs{{DType::f16, {8}}, {DType::f32, {8}}};
  EXPECT_EQ(
      kernel.check(inputs, ParamSet::resolve("scale", kernel.params, {}).value()).error().code(),
      ErrorCode::dtype_mismatch);
}

TEST(GlslKernel, is_read_from_a_file_whose_name_messages_bear) {
  const TemporaryFolder folder;
  const auto file = folder.path() / "mine.glsl";
  std::ofstream{file} << "void main() {\n  oops\n}\n";
  KernelSpec spec = scale();
  spec.glsl = GlslText::from_file(file);
  const auto kernel = try_make_kernel(spec);
  ASSERT_TRUE(kernel.has_error());
  EXPECT_EQ(kernel.error().detail("file"), file.string());
  try {
    static_cast<void>(GlslText::from_file(folder.path() / "absent.glsl"));
    ADD_FAILURE() << "it was read";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::io_error);
  }
}

TEST(GlslKernel, a_signature_that_contradicts_itself_is_refused) {
  const auto refused = [](const std::function<void(KernelSpec&)>& change) {
    KernelSpec spec = scale();
    change(spec);
    const auto kernel = try_make_kernel(std::move(spec));
    return kernel.has_error() && kernel.error().code() == ErrorCode::invalid_argument;
  };
  EXPECT_TRUE(refused([](auto& s) { s.outputs.clear(); }));
  EXPECT_TRUE(refused([](auto& s) { s.inputs.clear(); }));
  EXPECT_TRUE(refused([](auto& s) { s.glsl = ""; }));
  EXPECT_TRUE(refused([](auto& s) { s.glsl = {}; }));
  EXPECT_TRUE(refused([](auto& s) { s.dtypes.clear(); }));
  EXPECT_TRUE(refused([](auto& s) { s.inputs = {{"x", "f99"}}; }));
  EXPECT_TRUE(refused([](auto& s) { s.inputs = {{"n"}}; }));
  EXPECT_TRUE(refused([](auto& s) { s.local_size = {16, 16, 1}; }));
  EXPECT_TRUE(refused([](auto& s) {
    s.params = {{.name = "axes", .type = ParamType::integers, .fallback = {}, .doc = ""}};
  }));
}

TEST(GlslKernel, keeps_what_it_compiled) {
  const TemporaryFolder folder;
  ASSERT_TRUE(try_make_kernel(scale(), folder.path()).has_value());
  EXPECT_EQ(folder.files().size(), 1U);
}

TEST(GlslKernel, has_one_shape_rule_with_the_function_for_the_cpu) {
  KernelSpec spec = scale();
  spec.outputs = {{"y"}, {"found", "s32"}};
  spec.shapes = [](const KernelCall& call) -> Result<std::vector<Shape>> {
    return std::vector<Shape>{call.shape(), Shape{1}};
  };
  spec.cpu = [](const CppCall&, std::size_t, std::size_t) {};
  const Kernel kernel = make_kernel(spec);
  const std::vector<TensorSpec> inputs{{DType::f32, {8}}};
  const ParamSet params = ParamSet::resolve("scale", kernel.params, {}).value();
  const auto outputs = kernel.check(inputs, params).value();
  EXPECT_EQ(outputs, (std::vector<TensorSpec>{{DType::f32, {8}}, {DType::s32, {1}}}));
  EXPECT_EQ(kernel.cpu({inputs, params}, outputs)->stages.size(), 1U);
  EXPECT_EQ(kernel.gpu({inputs, params}, outputs, {})->passes[0].bindings.size(), 3U);
}

TEST(GlslKernel, an_integer_that_does_not_fit_32_bits_is_refused_by_the_plan) {
  KernelSpec spec = scale();
  spec.params = {
      {.name = "factor", .type = ParamType::integer, .fallback = std::int64_t{1}, .doc = ""}};
  const Kernel kernel = make_kernel(std::move(spec));
  const std::vector<TensorSpec> inputs{{DType::f32, {8}}};
  const ParamSet params =
      ParamSet::resolve("scale", kernel.params, {{"factor", std::int64_t{1} << 40}}).value();
  EXPECT_EQ(kernel.gpu({inputs, params}, inputs, {}).error().code(), ErrorCode::invalid_parameter);
}

/// GLSL that is not the program's own.
std::optional<Error> refusal(std::string text) {
  const auto compiled = try_compile_bounded_glsl(doubling(std::move(text)), f32);
  return compiled ? std::nullopt : std::optional{compiled.error()};
}

TEST(BoundedGlsl, has_no_macros_with_arguments) {
  const auto error = refusal("void main() {}\n#define \\\n  TWICE(a) a a\n");
  ASSERT_TRUE(error);
  EXPECT_EQ(error->code(), ErrorCode::compile_failed);
  EXPECT_EQ(error->detail("line"), "3");
  EXPECT_EQ(error->detail("file"), "double.glsl");
  EXPECT_FALSE(refusal("#define TWO (2.0)\nvoid main() { y(0) = TWO * x(0); }"));
}

TEST(BoundedGlsl, grows_by_its_macros_to_a_limit) {
  std::string text = "#define A0 v;\n";
  for (int i = 1; i <= 20; ++i)
    text += "#define A" + std::to_string(i) + " A" + std::to_string(i - 1) + " A" +
            std::to_string(i - 1) + "\n";
  EXPECT_FALSE(refusal(text + "void main() { float v = 1.0; A6 y(0) = v; }"));
  const auto error = refusal(text + "void main() { float v = 1.0; A20 y(0) = v; }");
  ASSERT_TRUE(error);
  EXPECT_EQ(error->code(), ErrorCode::limit_exceeded);
  EXPECT_EQ(error->detail("limit"), "65536");
}

TEST(BoundedGlsl, calls_functions_to_a_limit) {
  std::string text = "float f0(float v) { return v * v + 1.0; }\n";
  for (int i = 1; i <= 30; ++i) {
    const std::string before = "f" + std::to_string(i - 1);
    text +=
        "float f" + std::to_string(i) + "(float v) { return " + before + "(" + before + "(v)); }\n";
  }
  EXPECT_FALSE(refusal(text + "void main() { y(0) = f4(x(0)); }"));
  const auto error = refusal(text + "void main() { y(0) = f30(x(0)); }");
  ASSERT_TRUE(error);
  EXPECT_EQ(error->code(), ErrorCode::limit_exceeded);
  EXPECT_EQ(error->detail("limit"), "4096");
}

TEST(BoundedGlsl, has_loops_to_a_limit) {
  const auto nested = [](int depth) {
    std::string text = "float f(float v) {";
    for (int i = 0; i < depth; ++i) text += " for (int i = 0; i < 2; ++i)";
    return text + " v *= 1.5; return v; }\nvoid main() { y(0) = f(f(x(0))); }";
  };
  EXPECT_FALSE(refusal(nested(10)));
  const auto error = refusal(nested(65));
  ASSERT_TRUE(error);
  EXPECT_EQ(error->code(), ErrorCode::limit_exceeded);
  EXPECT_EQ(error->detail("limit"), "128");
}

TEST(BoundedGlsl, has_loops_as_they_are) {
  const Shader looping = doubling(
      "void main() { float v = 0.0; [[unroll]] for (int i = 0; i < 200; ++i) v = v * 1.5 + x(i); "
      "y(0) = v; }");
  EXPECT_LT(try_compile_bounded_glsl(looping, f32).value().size() * 4,
            compile_glsl(looping, f32).size());
}

TEST(BoundedGlsl, is_not_taken_from_what_the_program_compiled) {
  const TemporaryFolder folder;
  const Shader macro = doubling("#define TWICE(a) a a\nvoid main() {}");
  EXPECT_TRUE(try_compile_glsl(macro, f32, folder.path()));
  EXPECT_FALSE(try_compile_bounded_glsl(macro, f32, folder.path()));
}

}  // namespace
}  // namespace stoker
