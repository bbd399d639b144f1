#include "stoker/tests/runtime/base/error_of.hpp"
#include "stoker/tests/script/script_runner.hpp"

namespace stoker {
namespace {

class ScriptErrors : public Scripts {};

TEST_F(ScriptErrors, of_a_kernel_name_the_line_the_kernel_and_the_shapes) {
  const Error error = run("local a = buffer{{1, 2}}\n\nlocal b = matmul(a, a)").error();
  EXPECT_EQ(error.op(), "matmul");
  EXPECT_EQ(error.code(), ErrorCode::shape_mismatch);
  EXPECT_EQ(error.detail("script"), "test.lua");
  EXPECT_EQ(error.detail("line"), "3");
  EXPECT_EQ(error.detail("kernel"), "matmul");
  EXPECT_EQ(error.detail("inputs"), "f32[1,2], f32[1,2]");
}

TEST_F(ScriptErrors, of_a_parameter_name_it) {
  const Error error = run("gaussian_blur(buffer({1}, {shape = {1, 1, 1}}), {radios = 3})").error();
  EXPECT_EQ(error.code(), ErrorCode::invalid_parameter);
  EXPECT_NE(error.reason().find("radios"), std::string_view::npos) << error.what();
}

TEST_F(ScriptErrors, of_arguments_say_what_came) {
  EXPECT_NE(std::string{run("relu(nil)").error().what()}.find("not nil"), std::string::npos);
  EXPECT_NE(std::string{run("matmul({1}, buffer{1})").error().what()}.find("options come last"),
            std::string::npos);
  EXPECT_EQ(run("relu()").code(), ErrorCode::arity_mismatch);
  EXPECT_EQ(run("relu(buffer{1}, buffer{2})").code(), ErrorCode::arity_mismatch);
  EXPECT_EQ(run("buffer{1}:no_such_kernel()").code(), ErrorCode::not_found);
  EXPECT_EQ(run("wait(1)").code(), ErrorCode::invalid_argument);
}

TEST_F(ScriptErrors, of_a_misspelt_name_say_which_was_near) {
  EXPECT_EQ(run("gausian_blur(buffer{1})").error().reason(),
            "attempt to call a nil value (global 'gausian_blur'); did you mean 'gaussian_blur'?");
  EXPECT_EQ(run("bufer{1}").error().reason(),
            "attempt to call a nil value (global 'bufer'); did you mean 'buffer'?");
  EXPECT_EQ(run("quite_another()").error().reason(),
            "attempt to call a nil value (global 'quite_another')");
  EXPECT_EQ(run("swish(buffer{1})").error().reason(),
            "attempt to call a nil value (global 'swish')");
  EXPECT_EQ(run("buffer{1}:gausian_blur()").error().reason(),
            "a buffer has no field and no kernel of this name: gausian_blur; did you mean "
            "'gaussian_blur'?");
  EXPECT_EQ(run("print(buffer{1}.shap)").error().reason(),
            "a buffer has no field and no kernel of this name: shap; did you mean 'shape'?");
  const Error dtype = run("buffer({1}, {dtype = 'f33'})").error();
  EXPECT_EQ(dtype.reason(), "there is no dtype 'f33'; did you mean 'f32'?");
  EXPECT_NE(dtype.detail("known").find("bf16"), std::string_view::npos);
}

TEST_F(ScriptErrors, of_a_list_that_is_none_of_integers_say_what_it_was) {
  const Error error = run("fill{shape = {2, 1e30}}").error();
  EXPECT_EQ(error.code(), ErrorCode::invalid_parameter);
  EXPECT_EQ(error.detail("got"), "{2, 1e+30}");
  EXPECT_EQ(run("fill{shape = 3.5}").error().detail("got"), "3.5");
}

TEST_F(ScriptErrors, of_an_index_say_how_elements_are_read) {
  EXPECT_NE(
      run("local b = buffer{1} print(b[1])").error().reason().find("there is no b[1]; read(b)"),
      std::string_view::npos);
  EXPECT_EQ(run("local b = buffer{1} print(b[{}])").code(), ErrorCode::invalid_argument);
}

TEST_F(ScriptErrors, of_library_functions_name_the_function_and_the_line) {
  for (const auto& [code, text] : std::initializer_list<std::pair<const char*, const char*>>{
           {"\nutf8.offset({}, 1)", "bad argument #1 to 'offset'"},
           {"\nstring.byte()", "bad argument #1 to 'byte'"},
           {"\ntonumber()", "bad argument #1 to 'tonumber'"},
           {"\nload()", "bad argument #1 to 'load'"},
           {"\ncoroutine.close(1)", "bad argument #1 to 'close'"}}) {
    const Error error = run(code).error();
    EXPECT_EQ(error.reason().substr(0, std::string_view{text}.size()), text);
    EXPECT_EQ(error.detail("line"), "2") << code;
  }
  EXPECT_EQ(
      run("print(pcall(function() return utf8.len({}) .. '' end))").text().find("test.lua:1: "),
      6U);
}

TEST_F(ScriptErrors, of_a_script_keep_its_text_and_line) {
  const Error error = run("local x = 1\nerror('no luck')").error();
  EXPECT_EQ(error.code(), ErrorCode::script_error);
  EXPECT_EQ(error.reason(), "no luck");
  EXPECT_EQ(error.detail("line"), "2");
  EXPECT_EQ(run("error({})").error().reason(), "an error that is {}");
  EXPECT_EQ(
      run("error{code = 3, message = 'no \"luck\"', 7, {8}, [print] = true}").error().reason(),
      "an error that is {7, a table, [a function] = true, code = 3, message = \"no \"luck\"\"}");
  EXPECT_EQ(run("error(42)").error().reason(), "an error that is 42");
  EXPECT_EQ(run("local t = {} for i = 1, 1000 do t[i] = ('x'):rep(1e4) end error(t)")
                .error()
                .reason()
                .substr(0, 24),
            "an error that is {\"xxxxx");
  EXPECT_EQ(
      run("error(setmetatable({}, {__tostring = function() return 'mine' end}))").error().reason(),
      "mine");
  EXPECT_EQ(run("error()").code(), ErrorCode::script_error);
}

TEST_F(ScriptErrors, of_syntax_are_compile_failures) {
  const Error error = run("local a = 1\nlocal b = = 2").error();
  EXPECT_EQ(error.code(), ErrorCode::compile_failed);
  EXPECT_EQ(error.detail("line"), "2");
}

TEST_F(ScriptErrors, of_deep_recursion_end_the_script_only) {
  const std::string deep(1000, '(');
  EXPECT_EQ(run("return " + deep + "1" + std::string(1000, ')')).code(), ErrorCode::compile_failed);
  for (const char* code :
       {"local function f() return 1 + f() end f()",
        "local function f() return ('x'):gsub('x', f) end f()",
        "local function f() return select(2, pcall(f)) .. 'x' end error(f())",
        "local t = {} for i = 1, 300 do t = setmetatable({}, {__index = t}) end\n"
        "local m = {} m.__index = function(t, k) return t[k .. ''] end\n"
        "return setmetatable({}, m).x",
        "local function f() return coroutine.wrap(f)() end f()",
        "local function f() table.sort({1, 2, 3}, f) end f()"})
    EXPECT_EQ(run(code).code(), ErrorCode::script_error) << code;
  // It can be caught like any other.
  EXPECT_EQ(run("local function f() return 1 + f() end print(pcall(f) == false)\n"
                "print((load('return ' .. ('('):rep(1000) .. '1' .. (')'):rep(1000))))")
                .text(),
            "true\nnil\n");
}

TEST_F(ScriptErrors, can_be_caught_and_examined) {
  EXPECT_EQ(run("local ok, e = pcall(matmul, buffer{{1, 2}}, buffer{{1, 2}})\n"
                "print(ok, e.code, e.op, e.line, e.kernel, e.nothing)\n"
                "print('caught: ' .. e)")
                .text(),
            "false\tshape_mismatch\tmatmul\t1\tmatmul\tnil\n"
            "caught: test.lua:1: matmul: shape mismatch: lhs [1,2], rhs [1,2]\n");
}

TEST_F(ScriptErrors, may_be_raised_again) {
  const Error error = run("local ok, e = pcall(function()\n  relu()\nend)\nerror(e)").error();
  EXPECT_EQ(error.code(), ErrorCode::arity_mismatch);
  EXPECT_EQ(error.detail("line"), "2");
}

TEST_F(ScriptErrors, long_names_are_shortened_as_lua_does) {
  const std::string name = std::string(100, 'd') + "/script.lua";
  const auto result = host.start({name, "\nerror('x')"}, {}).done.wait();
  ASSERT_TRUE(result.has_error());
  EXPECT_EQ(result.error().reason(), "x");
  EXPECT_EQ(result.error().detail("line"), "2");
  EXPECT_EQ(result.error().detail("script"), name);
}

TEST_F(ScriptErrors, allowed_directories_must_exist) {
  ScriptOptions options;
  options.allowed_directories = {"/no/such/directory"};
  EXPECT_EQ(code_of([&] { return host.start({"x", ""}, options); }), ErrorCode::not_found);
}

}  // namespace
}  // namespace stoker
