// Our pattern functions against Lua's own: the same answers, for patterns people write and for
// random ones.
#include <lauxlib.h>
#include <lua.h>
#include <lualib.h>

#include <random>

#include "script_runner.hpp"

namespace stoker {
namespace {

class Patterns : public Scripts {
 protected:
  ~Patterns() override { lua_close(lua_); }

  /// What stock Lua prints for the code.
  std::string stock(const std::string& code) {
    printed_.clear();
    const int status = luaL_dostring(lua_, code.c_str());
    EXPECT_EQ(status, LUA_OK) << lua_tostring(lua_, -1) << "\n" << code;
    lua_settop(lua_, 0);
    return printed_;
  }

  void SetUp() override {
    luaL_openlibs(lua_);
    *static_cast<Patterns**>(lua_getextraspace(lua_)) = this;
    lua_register(lua_, "print", [](lua_State* L) {
      Patterns& self = **static_cast<Patterns**>(lua_getextraspace(L));
      for (int i = 1; i <= lua_gettop(L); ++i) {
        std::size_t size = 0;
        const char* text = luaL_tolstring(L, i, &size);
        self.printed_.append(i > 1 ? "\t" : "").append(text, size);
        lua_pop(L, 1);
      }
      self.printed_ += '\n';
      return 0;
    });
  }

  void compare(const std::string& code) { EXPECT_EQ(run(code).text(), stock(code)) << code; }

 private:
  lua_State* lua_ = luaL_newstate();
  std::string printed_;
};

TEST_F(Patterns, gmatch_and_gsub_agree_with_lua) {
  for (const char* code :
       {"for k, v in ('a=1, b=2'):gmatch('(%w+)=(%w+)') do print(k, v) end",
        "for w in ('one two'):gmatch('%a+') do print(w) end",
        "for p in ('abc'):gmatch('()') do print(p) end",
        "for w in ('abc'):gmatch('') do print('[' .. w .. ']') end",
        "for w in ('^a^a'):gmatch('^a') do print(w) end",
        "for w in ('abcd'):gmatch('..', 2) do print(w) end",
        "for w in ('abcd'):gmatch('.', -2) do print(w) end",
        "for w in ('ab'):gmatch('.', 10) do print(w) end",
        "print(('hello'):gsub('l', 'L'))",
        "print(('hello'):gsub('l', 'L', 1))",
        "print(('hello'):gsub('', '-'))",
        "print(('hello world'):gsub('%w+', '%0 %0', 1))",
        "print(('hello'):gsub('(h)(e)', '%2%1'))",
        "print(('abc'):gsub('%w', '%%%0'))",
        "print(('$name is $age'):gsub('%$(%w+)', {name = 'Bob', age = 3}))",
        "print(('abc'):gsub('b', function(c) return c:upper() end))",
        "print(('abc'):gsub('.', function(c) if c == 'b' then return false end return nil end))",
        "print(('abc'):gsub('b', {b = false}))",
        "print(('abc'):gsub('^a', 'x'))",
        "print(('aaa'):gsub('^a', 'x'))",
        "print(('abc'):gsub('x*', '-'))",
        "print(('abc'):gsub('b*', '-'))",
        "print(('abc'):gsub('()', '%1'))",
        "print(('abc'):gsub('b', 5))",
        "print(('abc'):gsub('b', '', 0))",
        "print(('abc'):gsub('b', 'x', -1))",
        "print(('a b'):gsub('(%w) (%w)', '%2 %1'))",
        "print((''):gsub('', 'x'))",
        "print(('x'):rep(3, ','), ('x'):rep(0), ('x'):rep(-1), (''):rep(5, 'a'))"})
    compare(code);
}

TEST_F(Patterns, that_nest_too_deep_are_refused_as_in_lua) {
  const std::string code =
      "print(select(2, pcall(string.find, ('a'):rep(300), ('a-'):rep(250) .. 'b')))";
  EXPECT_EQ(run(code).text(), stock(code));
}

}  // namespace
}  // namespace stoker
