// What a program adds to the language of one script, and what the script gives back.
#include "stoker/pipeline/script/lua/lua_glue.hpp"
#include "stoker/tests/script/script_runner.hpp"

namespace stoker {
namespace {

int twice(lua_State* L, script::Script&) {
  const lua_Integer value = luaL_checkinteger(L, 1);
  if (value < 0) throw Error{"twice", ErrorCode::invalid_argument, "less than nothing"};
  lua_pushinteger(L, 2 * value);
  return 1;
}

/// Adds twice(), and keeps the integers that the script returns.
class Doubling final : public ScriptExtension {
 public:
  void open(lua_State* L) override {
    lua_pushcfunction(L, script::function<twice>);
    lua_setglobal(L, "twice");
  }
  void on_returned(lua_State* L, int first) override {
    for (int i = first; i <= lua_gettop(L); ++i) {
      if (lua_isinteger(L, i) == 0)
        throw Error{"doubling", ErrorCode::dtype_mismatch, "not an integer"};
      returned.push_back(lua_tointeger(L, i));
    }
    ++calls;
  }

  std::vector<std::int64_t> returned;
  int calls = 0;
};

class ScriptExtensions : public Scripts {
 protected:
  [[nodiscard]] Outcome run_extended(const std::string& code) {
    ScriptOptions options;
    options.extension = extension;
    return run(code, std::move(options));
  }
  std::shared_ptr<Doubling> extension = std::make_shared<Doubling>();
};

TEST_F(ScriptExtensions, add_functions_and_see_what_a_script_returns) {
  EXPECT_EQ(run_extended("print(twice(4)) return twice(1), 7").text(), "8\n");
  EXPECT_EQ(extension->returned, (std::vector<std::int64_t>{2, 7}));
}

TEST_F(ScriptExtensions, see_that_a_script_returned_nothing_but_not_one_that_failed) {
  EXPECT_EQ(run_extended("local x = 1").text(), "");
  EXPECT_EQ(extension->calls, 1);
  EXPECT_EQ(run_extended("error('no')").code(), ErrorCode::script_error);
  EXPECT_EQ(extension->calls, 1);
}

TEST_F(ScriptExtensions, fail_with_the_script_s_name_and_line) {
  const Error error = run_extended("\nprint(twice(-1))").error();
  EXPECT_EQ(error.code(), ErrorCode::invalid_argument);
  EXPECT_EQ(error.op(), "twice");
  EXPECT_EQ(error.detail("script"), "test.lua");
  EXPECT_EQ(error.detail("line"), "2");
}

TEST_F(ScriptExtensions, refuse_what_a_script_returned) {
  const Error error = run_extended("return 1, 'two'").error();
  EXPECT_EQ(error.code(), ErrorCode::dtype_mismatch);
  EXPECT_EQ(error.detail("script"), "test.lua");
}

TEST_F(ScriptExtensions, cost_a_script_nothing_before_it_begins) {
  const auto without = run("local x = 1").result.value().instructions;
  EXPECT_EQ(run_extended("local x = 1").result.value().instructions, without);
}

TEST_F(ScriptExtensions, are_for_one_script_only) {
  EXPECT_EQ(run_extended("return twice(1)").text(), "");
  EXPECT_EQ(run("return twice(1)").code(), ErrorCode::script_error);
}

}  // namespace
}  // namespace stoker
