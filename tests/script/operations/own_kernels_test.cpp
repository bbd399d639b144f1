// kernel{…}: kernels that a script defines itself.
#include "stoker/actors/device/device_client.hpp"
#include "stoker/device/device_info.hpp"
#include "stoker/pipeline/script/run/script.hpp"
#include "stoker/pipeline/tensor/lowering/evaluation.hpp"
#include "stoker/tests/script/script_runner.hpp"

namespace stoker {
namespace {

/// Defines `parabola`, for GPUs and for the CPU.
constexpr const char* parabola = R"(
local parabola = kernel{
  name = "parabola",
  params = {a = 1.0, b = 0, negative = false},
  glsl = [[
    void main() {
      uint i = stoker_index();
      if (i >= n) return;
      float v = a * x(i) * x(i) + float(b);
      y(i) = negative != 0u ? -v : v;
    }]],
  cpu = function(x, p)
    local v = p.a * x * x + p.b
    return p.negative and -v or v
  end,
}
)";

class OwnKernels : public Scripts {
 protected:
  explicit OwnKernels(std::string_view device_name = "cpu") : Scripts{device_name} {}

  [[nodiscard]] Outcome run(const std::string& code, ScriptOptions options = {}) {
    options.kernels = script_kernels();
    return Scripts::run(code, std::move(options));
  }
  [[nodiscard]] Outcome with_parabola(const std::string& code) { return run(parabola + code); }
};

class OwnKernelsOf : public OwnKernels, public testing::WithParamInterface<const char*> {
 protected:
  OwnKernelsOf() : OwnKernels{GetParam()} {}
};
INSTANTIATE_TEST_SUITE_P(Devices, OwnKernelsOf, testing::Values("cpu", "vulkan"),
                         [](const auto& one) { return std::string{one.param}; });

TEST_P(OwnKernelsOf, are_functions_and_methods_with_options) {
  EXPECT_EQ(with_parabola(R"(
    local x = buffer{1, 2, 3}
    print(table.concat(read(parabola(x)), " "))
    print(table.concat(read(parabola(x, {a = 2, b = 1})), " "))
    print(table.concat(read(x:parabola{negative = true}), " "))
    print(x:parabola().dtype, x:parabola().shape[1]))")
                .text(),
            "1.0 4.0 9.0\n3.0 9.0 19.0\n-1.0 -4.0 -9.0\nf32\t3\n");
}

TEST_P(OwnKernelsOf, stand_among_other_operations) {
  EXPECT_EQ(with_parabola("print(read(sum(parabola(buffer{1, 2} * 2 + 1) - 1))[1])").text(),
            "32.0\n");
}

TEST_P(OwnKernelsOf, take_and_give_several_buffers_of_several_types) {
  EXPECT_EQ(run(R"(
    local divide = kernel{
      name = "divide_whole",
      inputs = {{"p", "s32"}, {"q", "s32"}},
      outputs = {{"whole", "s32"}, {"rest", "f32"}},
      glsl = "void main() { uint i = stoker_index(); if (i >= n) return;"
          .. " whole_store(i, p_load(i) / q_load(i)); rest_store(i, float(p_load(i) % q_load(i))); }",
      cpu = function(p, q)
        return p / q, (p % q):cast{dtype = "f32"}
      end}
    local whole, rest = divide(buffer({7, 9}, {dtype = "s32"}), buffer({2, 4}, {dtype = "s32"}))
    print(read(whole)[1], read(whole)[2], read(rest)[1], read(rest)[2]))")
                .text(),
            "3\t2\t1.0\t1.0\n");
}

TEST_P(OwnKernelsOf, have_outputs_shaped_like_an_input_or_as_the_definition_says) {
  EXPECT_EQ(run(R"(
    local pick = kernel{
      name = "pick", inputs = {"x", "weights"}, outputs = {"y", "head"}, shapes = {"x", {2, 1}},
      params = {at = "integer"},
      glsl = "void main() { uint i = stoker_index(); if (i >= n) return;"
          .. " y(i) = x(i) * weights(at); if (i < 2u) head(i) = weights(i); }",
      cpu = function(x, weights, p)
        return x * weights:slice{p.at}, weights:slice{{0, 2}}:reshape{shape = {2, 1}}
      end}
    local y, head = pick(buffer{{1, 2}, {3, 4}}, buffer{10, 20, 30}, {at = 2})
    print(table.concat(read(y), " "), table.concat(read(head), " "), head.shape[2])
    print(pcall(pick, y, y)))")
                .text(),
            "30.0 60.0 90.0 120.0\t10.0 20.0\t1\n"
            "false\ttest.lua:12: pick: parameter 'at' is missing, expected integer\n");
}

TEST_P(OwnKernelsOf, compute_in_each_of_their_dtypes) {
  EXPECT_EQ(run(R"(
    local twice = kernel{
      name = "twice", dtypes = {"f32", "f16", "s32"},
      glsl = "void main() { uint i = stoker_index(); if (i < n) y_store(i, x_load(i) + x_load(i)); }",
      cpu = function(x) return x + x end}
    for _, dtype in ipairs{"f32", "f16", "s32"} do
      local y = twice(buffer({3}, {dtype = dtype}))
      print(y.dtype, read(y)[1] == 6)
    end)")
                .text(),
            "f32\ttrue\nf16\ttrue\ns32\ttrue\n");
}

TEST_P(OwnKernelsOf, refuse_wrong_calls_by_name_and_line) {
  EXPECT_EQ(with_parabola(R"(
    local function tell(...)
      local _, e = pcall(parabola, ...)
      print(e.code, e.op, e.line)
    end
    local x = buffer{1, 2}
    tell(x, x)
    tell()
    tell(x, {c = 1})
    tell(x, {a = "x"})
    tell("x")
    tell(buffer({1}, {dtype = "s32"})))")
                .text(),
            "arity_mismatch\tparabola\t19\narity_mismatch\tparabola\t19\n"
            "invalid_parameter\tparabola\t19\ninvalid_parameter\tparabola\t19\n"
            "invalid_argument\tparabola\t19\ndtype_mismatch\tparabola\t19\n");
}

class OwnKernelsOnVulkan : public OwnKernels {
 protected:
  OwnKernelsOnVulkan() : OwnKernels{"vulkan"} {}
};

TEST_F(OwnKernelsOnVulkan, that_a_gpu_refuses_later_are_named_with_the_line_of_the_call) {
  const Error error =
      with_parabola("local y = parabola(buffer{1}, {b = 1 << 40})\n\nwait(y)").error();
  EXPECT_EQ(error.code(), ErrorCode::invalid_parameter);
  EXPECT_EQ(error.op(), "parabola");
  EXPECT_EQ(error.detail("line"), "17");
}

TEST_F(OwnKernelsOnVulkan, need_no_function_for_the_cpu) {
  EXPECT_EQ(run(R"(
    local f = kernel{name = "negated", glsl = "void main() { uint i = stoker_index(); if (i < n) y(i) = -x(i); }"}
    print(read(f(iota{shape = {2, 3}}))[6]))")
                .text(),
            "-5.0\n");
}

TEST_P(OwnKernelsOf, of_equal_names_are_each_scripts_own) {
  const std::string before = R"(
    local f = kernel{name = "change", glsl = "void main() { uint i = stoker_index(); if (i < n) y(i) = x(i) )";
  EXPECT_EQ(run(before + R"(+ 1.0; }", cpu = function(x) return x + 1 end}
                print(read(f(buffer{5}))[1]))")
                .text(),
            "6.0\n");
  EXPECT_EQ(run(before + R"(* 3.0; }", cpu = function(x) return x * 3 end}
                print(read(f(buffer{5}))[1]))")
                .text(),
            "15.0\n");
  EXPECT_EQ(run("buffer{5}:change()").code(), ErrorCode::not_found);
}

TEST_P(OwnKernelsOf, with_mistakes_in_their_text_are_refused_with_both_lines) {
  const Error error = run(R"(
local f = kernel{name = "wrong", glsl = "void main() {\n  y(0) = nonsense;\n}"})")
                          .error();
  EXPECT_EQ(error.code(), ErrorCode::compile_failed);
  EXPECT_EQ(error.op(), "wrong");
  EXPECT_EQ(error.detail("line"), "2");
  EXPECT_EQ(error.detail("glsl_line"), "2");
  EXPECT_NE(error.reason().find("line 2 of its GLSL"), std::string_view::npos) << error.reason();
  EXPECT_NE(error.reason().find("nonsense"), std::string_view::npos) << error.reason();
}

TEST_F(OwnKernels, are_refused_where_the_host_does_not_allow_them) {
  const Error error = Scripts::run(std::string{"\n"} + parabola).error();
  EXPECT_EQ(error.code(), ErrorCode::permission_denied);
  EXPECT_EQ(error.op(), "kernel");
  EXPECT_EQ(error.detail("line"), "3");
}

TEST_F(OwnKernels, without_a_function_for_the_cpu_are_refused_there_by_name) {
  const Error error = run(R"(
    local f = kernel{name = "only_glsl", glsl = "void main() {}"}
    f(buffer{1}))")
                          .error();
  EXPECT_EQ(error.code(), ErrorCode::unsupported);
  EXPECT_EQ(error.op(), "only_glsl");
  EXPECT_EQ(error.detail("line"), "3");
  EXPECT_NE(error.reason().find("cpu = function"), std::string_view::npos) << error.reason();
}

TEST_F(OwnKernels, refuse_what_their_function_returns_unless_it_is_what_the_kernel_gives) {
  const auto code_of = [&](const std::string& body) {
    const Error error =
        run("local f = kernel{name = 'f', glsl = 'void main() {}', cpu = function(x) " + body +
            " end}\nf(buffer{1, 2})")
            .error();
    EXPECT_EQ(error.op(), "f");
    EXPECT_EQ(error.detail("line"), "2") << body;
    return error.code();
  };
  EXPECT_EQ(code_of("return x:slice{0}"), ErrorCode::shape_mismatch);
  EXPECT_EQ(code_of("return x:cast{dtype = 'f16'}"), ErrorCode::dtype_mismatch);
  EXPECT_EQ(code_of("return 1"), ErrorCode::invalid_argument);
  EXPECT_EQ(code_of("return x, x"), ErrorCode::arity_mismatch);
  EXPECT_EQ(code_of(""), ErrorCode::arity_mismatch);
}

TEST_F(OwnKernels, tell_where_their_function_failed) {
  const Error error = run(R"(
    local f = kernel{name = "f", glsl = "void main() {}", cpu = function(x)
      return x + buffer{1, 2, 3}
    end}
    f(buffer{1, 2}))")
                          .error();
  EXPECT_EQ(error.op(), "add");
  EXPECT_EQ(error.detail("line"), "3");
}

TEST_F(OwnKernels, take_no_name_that_is_there) {
  for (const char* name : {"relu", "sum", "where", "slice", "shape", "read", "elementwise_add"}) {
    const Error error =
        run("kernel{name = '" + std::string{name} + "', glsl = 'void main() {}'}").error();
    EXPECT_EQ(error.code(), ErrorCode::already_exists) << name;
    EXPECT_EQ(error.detail("line"), "1");
  }
  EXPECT_EQ(
      with_parabola("print(pcall(kernel, {name = 'parabola', glsl = 'void main() {}'}))").text(),
      "false\ttest.lua:17: kernel: there is a function of buffers, or a field, of this name "
      "already: parabola\n");
}

TEST_F(OwnKernels, leave_the_functions_of_scripts_alone) {
  EXPECT_EQ(with_parabola(R"(
    kernels.parabola = nil
    parabola = nil
    print(read(buffer{2}:parabola())[1], _G.parabola, kernels.relu == relu))")
                .text(),
            "4.0\tnil\ttrue\n");
}

TEST_F(OwnKernels, name_what_was_meant) {
  const auto reason_of = [&](const std::string& code) {
    return std::string{with_parabola(code).error().reason()};
  };
  EXPECT_NE(reason_of("buffer{1}:parabolla()").find("did you mean 'parabola'"), std::string::npos);
  EXPECT_NE(reason_of("kernel{name = 'f', gsl = ''}").find("did you mean 'glsl'"),
            std::string::npos);
  EXPECT_NE(reason_of("kernel{name = 'f', glsl = 'void main() {}', dtypes = {'f23'}}")
                .find("there is no dtype 'f23'"),
            std::string::npos);
  EXPECT_NE(reason_of("kernel{name = 'f', glsl = 'void main() {}', inputs = {'photo'}, shapes = "
                      "{'phot'}}")
                .find("did you mean 'photo'"),
            std::string::npos);
}

TEST_F(OwnKernels, that_contradict_themselves_are_refused_with_their_line) {
  const std::string good = "name = 'f', glsl = 'void main() {}'";
  for (const std::string fields :
       {"", "name = 'f'", "glsl = ''", "name = 'f', glsl = ''",
        "name = '', glsl = 'void main() {}'", "name = 'a b', glsl = 'void main() {}'",
        "name = 'f', glsl = 3", "name = 3, glsl = ''", "name = 'f', glsl = 'void main() {}\\0'",
        "name = 'gl_f', glsl = 'void main() {}'"})
    EXPECT_EQ(run("\nkernel{" + fields + "}").error().detail("line"), "2") << fields;
  for (const char* more : {"inputs = {}",
                           "inputs = 'x'",
                           "inputs = {1}",
                           "inputs = {'x', 'x'}",
                           "inputs = {'y'}",
                           "inputs = {{'x'}}",
                           "inputs = {[1] = 'x', [3] = 'z'}",
                           "inputs = {'x', z = 's32'}",
                           "inputs = {{'x', 's32', z = 1}}",
                           "inputs = {'float'}",
                           "params = {T_MOST = 1}",
                           "inputs = {{'x', 'q'}}",
                           "inputs = {{'x', 1}}",
                           "inputs = {'n'}",
                           "outputs = {}",
                           "outputs = {{}}",
                           "dtypes = {}",
                           "dtypes = {1}",
                           "dtypes = 'f32'",
                           "dtypes = {'c64'}",
                           "dtypes = {'f32', 'f32'}",
                           "params = 1",
                           "params = {1}",
                           "params = {x = 1}",
                           "params = {a = 'text'}",
                           "params = {a = {}}",
                           "params = {['a b'] = 1}",
                           "shapes = {}",
                           "shapes = {1}",
                           "shapes = {'x', 'x'}",
                           "shapes = {{-1}}",
                           "shapes = {{'x'}}",
                           "shapes = {{1, 1, 1, 1, 1, 1, 1, 1, 1}}",
                           "local_size = 0",
                           "local_size = 1.5",
                           "local_size = 2048",
                           "local_size = {1, 2}",
                           "uses_subgroups = 1",
                           "cpu = 1",
                           "cpu = {}",
                           "summary = 1",
                           "other = 1",
                           "[1] = 1",
                           "[print] = 1"}) {
    const std::string code = "\nkernel{" + good + ", " + more + "}";
    EXPECT_EQ(run(code).error().detail("line"), "2") << code;
  }
  EXPECT_EQ(run("\nkernel()").error().detail("line"), "2");
  EXPECT_EQ(run("\nkernel('f', 'void main() {}')").error().detail("line"), "2");
}

TEST_F(OwnKernels, of_values_of_every_kind_are_errors_with_a_line) {
  EXPECT_EQ(run(R"(
    local values = {
      false, true, 0, -1, 3, 0.5, 0 / 0, 1 / 0, math.maxinteger, math.mininteger, '', 'x', 'f32',
      ('x'):rep(70000), {}, {1, 2, 3}, {{1, 2}, {3}}, {x = 1}, {{}}, {'x'}, {{'x', 's32'}}, print,
      function() error('mine') end, coroutine.create(function() end), buffer{1}, {buffer{1}},
      setmetatable({}, {__index = function() return 1 end, __len = function() return 1 << 60 end}),
      setmetatable({}, {__index = function() error('mine') end}), {math.maxinteger}, {[1 << 60] = 1},
    }
    local fields = {'name', 'glsl', 'inputs', 'outputs', 'dtypes', 'params', 'shapes', 'local_size',
                    'cpu', 'uses_subgroups', 'summary'}
    local refused = 0
    for i = 1, #values do
      for f = 1, #fields do
        local definition = {name = 'f' .. i .. '_' .. f, glsl = 'void main() {}'}
        definition[fields[f]] = values[i]
        local good, problem = pcall(kernel, definition)
        if not good then
          refused = refused + 1
          if not tostring(problem):find('^test%.lua:%d+: ') then print(fields[f], i, problem) end
        end
      end
      pcall(kernel, values[i])
      pcall(kernel, values[i], values[i])
    end
    print(refused > 200))",
                limited(0))
                .text(),
            "true\n");
}

TEST_F(OwnKernels, are_at_most_64_in_a_script) {
  const Error error = run(R"(
    for i = 1, 65 do kernel{name = "f" .. i, glsl = "void main() {}"} end)")
                          .error();
  EXPECT_EQ(error.code(), ErrorCode::limit_exceeded);
  EXPECT_EQ(error.detail("limit"), "64");
}

TEST_F(OwnKernels, have_texts_of_at_most_64_KiB) {
  EXPECT_EQ(run("kernel{name = 'f', glsl = ('/'):rep(65537)}").code(), ErrorCode::limit_exceeded);
}

TEST_P(OwnKernelsOf, cannot_assign_to_what_they_read) {
  const Error error = run("kernel{name = 'f', glsl = 'void main() {\\n  x(0) = 7.0;\\n}'}").error();
  EXPECT_EQ(error.code(), ErrorCode::compile_failed);
  EXPECT_EQ(error.detail("glsl_line"), "2");
}

TEST_F(OwnKernels, that_declare_buffers_are_refused) {
  const Error error =
      run("kernel{name = 'f', glsl = 'layout(set = 0, binding = 0) buffer B { float "
          "q[]; }; void main() { q[0] = 1.0; }'}")
          .error();
  EXPECT_EQ(error.code(), ErrorCode::compile_failed);
  EXPECT_EQ(error.op(), "f");
  EXPECT_NE(error.reason().find("declares a buffer"), std::string_view::npos) << error.reason();
}

TEST_F(OwnKernels, of_a_name_that_is_none_are_refused_as_kernel) {
  for (const char* name : {"''", "'a b'", "'a\\n\\27[31mevil'", "'gl_f'", "'stoker_f'", "'a__b'"}) {
    const Error error =
        run("kernel{name = " + std::string{name} + ", glsl = 'void main() {}'}").error();
    EXPECT_EQ(error.code(), ErrorCode::invalid_parameter) << name;
    EXPECT_EQ(error.op(), "kernel") << name;
    EXPECT_EQ(error.reason().find('\n'), std::string_view::npos) << name;
  }
}

/// Needs what no device of Stoker's gives a shader.
constexpr const char* needing_a_feature =
    "glsl = '#extension GL_EXT_shader_atomic_float : require\\nshared float q; void main() { "
    "atomicAdd(q, 1.0); y(0) = q; }'";

TEST_F(OwnKernelsOnVulkan, that_the_gpu_lacks_are_their_function) {
  EXPECT_EQ(
      run("local f = kernel{name = 'f', cpu = function(x, p) return x * p.a end, params = {a = "
          "3.0}, " +
          std::string{needing_a_feature} + "} print(read(f(buffer{2}) + 1)[1])")
          .text(),
      "7.0\n");
}

TEST_F(OwnKernelsOnVulkan, that_the_gpu_lacks_are_refused_with_what_it_lacks) {
  const Error error = run("local f = kernel{name = 'f', " + std::string{needing_a_feature} +
                          "}\nlocal y = f(buffer{2})\nread(y)")
                          .error();
  EXPECT_EQ(error.code(), ErrorCode::unsupported);
  EXPECT_EQ(error.detail("line"), "2");
  EXPECT_NE(error.reason().find("lacks a feature that the shader needs"), std::string_view::npos)
      << error.reason();
}

class SharedKernels : public OwnKernelsOnVulkan {
 protected:
  [[nodiscard]] std::uint64_t programs() {
    return device.client()->services().get<expr::ProgramCache>()->counters().programs;
  }
  [[nodiscard]] Outcome run_with(const std::string& code) {
    ScriptOptions options;
    options.kernels = kernels;
    return Scripts::run(code, std::move(options));
  }
  std::shared_ptr<ScriptExtension> kernels = script_kernels();
};

TEST_F(SharedKernels, of_equal_definitions_are_one) {
  const std::string twice =
      "local f = kernel{name = 'f', glsl = 'void main() { uint i = stoker_index(); if (i < n) y(i) "
      "= "
      "x(i) * 2.0; }'} print(read(f(buffer{5}))[1])";
  const Outcome first = run_with(twice);
  EXPECT_EQ(first.text(), "10.0\n");
  const std::uint64_t before = programs();
  const Outcome second = run_with(twice);
  EXPECT_EQ(second.text(), "10.0\n");
  EXPECT_EQ(programs(), before) << "the second run found the program of the first";
  EXPECT_EQ(second.result->instructions, first.result->instructions);
  std::string other = twice;
  other.replace(other.find("2.0"), 3, "3.0");
  EXPECT_EQ(run_with(other).text(), "15.0\n");
  EXPECT_GT(programs(), before);
}

/// Holds the host's thread for files until it is destroyed.
class BusyFiles final : public ScriptExtension {
 public:
  void open(lua_State* L) override {
    script::script_of(L).services().files->post(
        [done = done_.future()] { static_cast<void>(done.wait()); });
  }
  void on_returned(lua_State*, int) override {}
  void end() { done_.set(Result<void>{}); }

 private:
  Promise<void> done_;
};

TEST_F(OwnKernels, are_compiled_while_the_thread_for_files_is_busy) {
  const auto busy = std::make_shared<BusyFiles>();
  ScriptOptions options;
  options.extension = busy;
  options.time_limit = std::chrono::minutes{1};
  const Outcome outcome =
      run("kernel{name = 'f', glsl = 'void main() {}'} print('there')", options);
  busy->end();
  EXPECT_EQ(outcome.text(), "there\n");
}

TEST_F(OwnKernels, are_not_compiled_for_a_script_without_the_instructions) {
  EXPECT_EQ(run("kernel{name = 'f', glsl = 'nonsense'}", limited(100'000)).code(),
            ErrorCode::budget_exceeded);
}

TEST_F(OwnKernels, count_as_memory_of_the_script) {
  const Outcome without = run("local text = ('/'):rep(1000)");
  const Outcome with = with_parabola("");
  ASSERT_TRUE(without.result);
  ASSERT_TRUE(with.result) << with.error().what();
  EXPECT_GT(with.result->peak_memory_bytes, without.result->peak_memory_bytes + 8192);
}

TEST_F(OwnKernels, take_as_many_instructions_each_time) {
  const std::string code = "print(read(parabola(buffer{1}) + 1)[1])";
  const Outcome first = with_parabola(code), second = with_parabola(code);
  ASSERT_TRUE(first.result && second.result);
  EXPECT_EQ(first.result->instructions, second.result->instructions);
}

TEST_P(OwnKernelsOf, need_no_text_where_a_function_of_operations_will_do) {
  const Outcome outcome = run(R"(
    local function swish(x, beta) return x / (1 + exp(-beta * x)) end
    print(read(swish(buffer{0, 100}, 2) + 1)[2]))");
  EXPECT_EQ(outcome.text(), "101.0\n");
  EXPECT_EQ(outcome.seen->commands.size(), 1U);
}

}  // namespace
}  // namespace stoker
