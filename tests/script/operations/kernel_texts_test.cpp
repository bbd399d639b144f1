// What the GLSL of kernel{…} may be, so that the compiler is not ended by it, and what becomes of the rest.
#include <unistd.h>

#include "stoker/tests/script/script_runner.hpp"

namespace stoker {
namespace {

/// What becomes of a definition whose text is the value of a Lua expression: "good", or the error's code.
class TextsOfKernels : public Scripts {
 protected:
  [[nodiscard]] Outcome run(const std::string& code, ScriptOptions options = limited(0)) {
    options.kernels = script_kernels();
    return Scripts::run(code, std::move(options));
  }
  [[nodiscard]] std::string outcome(const std::string& expression) {
    // With what makes it a text that no cache on disk has.
    const std::string end = " .. '\\n// " + std::to_string(::getpid()) + "'";
    const Outcome outcome = run("local good, e = pcall(kernel, {name = 'f', glsl = " + expression +
                                end + "}) print(good and 'good' or e.code)");
    const std::string text = outcome.text();
    return text.substr(0, text.size() - 1);
  }
};

TEST_F(TextsOfKernels, have_the_stack_that_the_compiler_takes_for_them) {
  EXPECT_EQ(outcome("'void main() { float v = 1.0; v = v' .. ('+v'):rep(32000) .. '; y(0) = v; }'"),
            "good");
  EXPECT_EQ(outcome("'void main() { float v = 1.0; v = v' .. (',v=v'):rep(16000) .. '; }'"),
            "good");
  EXPECT_EQ(outcome("'void main() { float v = ' .. ('('):rep(30000) .. '1.0; }'"),
            "compile_failed");
  EXPECT_EQ(outcome("'#if ' .. ('!'):rep(60000) .. '1\\n#endif\\nvoid main() {}'"), "good");
  EXPECT_EQ(outcome("'void main() { float v = 1.0; v = v' .. (('+v'):rep(4000) .. "
                    "'/*;*/'):rep(7) .. '; y(0) = v; }'"),
            "good");
  EXPECT_EQ(outcome("'const float q[] = {' .. ('0.5,'):rep(2100) .. '1.0}; void main() { y(0) = "
                    "q[stoker_index() & 1023u]; }'"),
            "good");
  EXPECT_EQ(outcome("'// ' .. ('='):rep(4100) .. '\\nvoid main() {}'"), "good");
}

TEST_F(TextsOfKernels, grow_by_macros_to_64_Ki_words_and_signs) {
  EXPECT_EQ(outcome("'#define A ' .. ('+v'):rep(1000) .. '\\nvoid main() { float v = 1.0; v = v' "
                    ".. (' A'):rep(30) .. '; y(0) = v; }'"),
            "good");
  EXPECT_EQ(outcome("'#define A ' .. ('+v'):rep(1000) .. '\\nvoid main() { float v = 1.0; v = v' "
                    ".. (' A'):rep(33) .. '; y(0) = v; }'"),
            "limit_exceeded");
  EXPECT_EQ(outcome("(function() local t = {'#define A0 v;\\n'} for i = 1, 40 do t[#t + 1] = "
                    "('#define A%d A%d A%d\\n'):format(i, i - 1, i - 1) end return "
                    "table.concat(t) .. 'void main() { float v = 1.0; A40 }' end)()"),
            "limit_exceeded");
  const std::string hidden[] = {
      "#define A0 v; v; v; v; v; v; v; v;\\n#define A1 A0 A0 A0 A0 A0 A0 A0 A0\\n",
      "#define \\\\\\nA0 v; v; v; v; v; v; v; v;\\n/**/ # /**/ define A1 A0 A0 A0 A0 A0 A0 A0 "
      "A0\\n",
      "#define A0 v;\\n#undef A0\\n#define A0 v; v; v; v; v; v; v; v;\\r#define A1 A0 A0 A0 A0 A0 "
      "A0 A0 A0\\n"};
  for (const std::string& defines : hidden) {
    const auto with = [&](const char* uses) {
      return outcome("'" + defines + "void main() { float v = 1.0; ' .. " + uses + " .. ' }'");
    };
    EXPECT_EQ(with("(' A1 '):rep(20)"), "good") << defines;
    EXPECT_EQ(with("(' A1 '):rep(1000)"), "limit_exceeded") << defines;
  }
}

TEST_F(TextsOfKernels, have_no_macros_that_make_macros) {
  for (const char* macro : {"#define F(a) a a\\n", "#define A A\\n", "#define A B\\n#define B A\\n",
                            "#define A x ## y\\n", "#define A (\\n", "#define A )\\n"}) {
    const std::string use = std::string{macro}.find("F(") == std::string::npos ? "A" : "F(1)";
    EXPECT_EQ(outcome("'" + std::string{macro} + "void main() { " + use + "; }'"), "compile_failed")
        << macro;
  }
  const Error error = run("kernel{name = 'f', glsl = 'void main() {}\\n#define F(a) a'}").error();
  EXPECT_EQ(error.detail("glsl_line"), "2");
  EXPECT_NE(error.reason().find("write a function"), std::string_view::npos) << error.reason();
}

// The compiler may see the end of such quotes elsewhere, and with it the comments and lines after them.
TEST_F(TextsOfKernels, have_no_quotes_that_hide_what_follows) {
  EXPECT_EQ(outcome(R"('#define S "\\"/*"\n#define F(a) a a\nvoid main() {}\n//*/')"),
            "compile_failed");
  EXPECT_EQ(outcome(R"('#if !T_IS_FLOAT\n#error "for floats /*"\n#endif\nvoid main() {}')"),
            "good");
}

TEST_F(TextsOfKernels, nest_accessors_a_few_times) {
  const auto nested = [&](const char* times) {
    return outcome("'void main() { y(0) = ' .. ('x(uint('):rep(" + std::string{times} +
                   ") .. '1.0' .. ('))'):rep(" + times + ") .. '; }'");
  };
  EXPECT_EQ(nested("8"), "good");
  EXPECT_EQ(nested("9"), "limit_exceeded");
  EXPECT_EQ(outcome("'#define A x\\nvoid main() { y(0) = ' .. ('A(uint('):rep(9) .. '1.0' .. "
                    "('))'):rep(9) .. '; }'"),
            "limit_exceeded");
}

TEST_F(TextsOfKernels, call_functions_4096_times_at_most) {
  const auto depth = [&](const char* levels) {
    return outcome(
        "(function() local t = {'float f0(float v) { return v * v + 1.0; }'} for i = 1, " +
        std::string{levels} +
        " do t[#t + 1] = ('float f%d(float v) { return f%d(f%d(v)); }'):format(i, i - 1, i "
        "- 1) end return table.concat(t) .. 'void main() { y(0) = f" +
        levels + "(x(0)); }' end)()");
  };
  EXPECT_EQ(depth("5"), "good");
  EXPECT_EQ(depth("12"), "limit_exceeded");
  EXPECT_EQ(depth("60"), "limit_exceeded");
}

// Unrolled, each of the rounds would be in the kernel's SPIR-V, which counts as memory.
TEST_F(TextsOfKernels, have_no_loops_that_are_unrolled) {
  const auto memory = [&](const char* hint) {
    const Outcome outcome =
        run("kernel{name = 'f', glsl = 'void main() { float v = 0.0; " + std::string{hint} +
            " for (int a = 0; a < 4000; ++a) v = v * 1.5 + x(a); y(0) = v; }'}");
    EXPECT_TRUE(outcome.result) << outcome.error().what();
    return outcome.result ? outcome.result->peak_memory_bytes : 0;
  };
  EXPECT_LT(memory("[[unroll]]"), memory("") + 4096);
}

}  // namespace
}  // namespace stoker
