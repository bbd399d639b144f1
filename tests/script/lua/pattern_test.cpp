// Our pattern functions against Lua's own: the same answers, for patterns people write and for
// random ones.
#include <lauxlib.h>
#include <lua.h>
#include <lualib.h>

#include <sstream>

#include "stoker/tests/script/script_runner.hpp"

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

  /// Both print the same; of what differs the first line is shown.
  void compare(const std::string& code) {
    std::istringstream ours{run(code).text()};
    std::istringstream theirs{stock(code)};
    std::string our_line;
    for (std::string line; std::getline(theirs, line);) {
      ASSERT_TRUE(std::getline(ours, our_line)) << "missing: " << line;
      ASSERT_EQ(our_line, line);
    }
    EXPECT_FALSE(std::getline(ours, our_line)) << "too much: " << our_line;
  }

 private:
  lua_State* lua_ = luaL_newstate();
  std::string printed_;
};

TEST_F(Patterns, find_and_match_agree_with_lua) {
  compare(R"lua(
    local zeros = 'a\0b\0'
    for _, case in ipairs{
      -- plain texts and where they begin
      {'hello', 'l'}, {'hello', 'l', 4}, {'hello', 'l', 5}, {'hello', ''}, {'hello', '', 6},
      {'hello', '', 7}, {'hello', 'o', -1}, {'hello', 'h', -100}, {'hello', 'h', 0},
      {'hello', 'hello!'}, {'', ''}, {'', 'a'}, {'a.b', '.', 2, true}, {'a%b', '%', 1, true},
      {zeros, '\0', 3}, {zeros, 'b\0'}, {zeros, '\0%a'}, {'hello', 'l', math.maxinteger},
      {'hello', '.', math.mininteger}, {'hello', '%a', 6}, {'hello', '$', 6}, {'hello', '$', 7},
      -- classes and their complements
      {'ab 12_\t', '%a+%s%d+%p%c'}, {'ab 12', '%A+'}, {'aB', '%l%u'}, {'\0a', '%z'}, {'a\0', '%Z*'},
      {'x=1', '%w=%w'}, {'beef', '%x+'}, {'a b', '%g %g'}, {'%', '%%'}, {'a.b', '%.'}, {'é', '%W+'},
      -- sets
      {'a-z', '[a-]+'}, {'a-z', '[-a]+'}, {'b-', '[%a-z]+'}, {'x]y', '[]]'}, {'x]y', '[^]]+'},
      {'^a', '[a^]+'}, {'abc', '[^a-b]'}, {'a%]', '[%]%%]+'}, {'-]', '[]-a]+'}, {'+,-', '[+--]+'},
      {'abc]', '[a-%%]'}, {'%z', '[a-%z]+'}, {'#$%', '[!-%%]+'}, {zeros, '[%z]+'}, {'a', '[^%s]'},
      -- repetitions
      {'aaab', 'a*b'}, {'b', 'a*b'}, {'b', 'a+b'}, {'aaab', 'a-b'}, {'ab', 'a?b'}, {'b', 'a?b'},
      {'<a><b>', '<.->'}, {'<a><b>', '<.*>'}, {'a*b', '%*'}, {'aab', '[ab]-b'}, {'a-', 'a-%-'},
      {'*a', '*a'}, {'+', '+'}, {'a??', 'a??'}, {'a', 'a**'}, {'a', '^*'}, {'x', '-'},
      -- anchors
      {'abc', '^b'}, {'abc', '^b', 2}, {'abc', 'c$'}, {'abc', '^abc$'}, {'a$b', 'a$b'}, {'a^b', 'a^'},
      {'abc', '^'}, {'abc', '$'}, {'^a', '^^a'}, {'$', '$$'}, {'a', '^$'},
      -- captures, positions, back references
      {'key = value', '(%w+)%s*=%s*(%w+)'}, {'abc', '()b()'}, {'abc', '((a)(b))'}, {'abab', '(ab)%1'},
      {'aa', '(a)()%2'}, {'"x"', '(["\'])(.-)%1'}, {'abc', '(a*(.)%w(%s*))'}, {'', '()'}, {'a', '(.-)%1'},
      {('x'):rep(40), ('(x)'):rep(32)},
      -- balance and frontier
      {'f(a(b)c)d', '%b()'}, {'(((', '%b()'}, {'xaax', '%bxx'}, {'a', '%ba\0'}, {'THE (quick)', '%f[%a]%a+'},
      {'THE quick', '%f[%l]%a+'}, {'aba', '%f[b]'}, {'aba', 'a%f[%z]', 2}, {'', '%f[%z]'}, {'ab', '%f[^%z]', 2},
    } do
      print(case[2], pcall(string.find, table.unpack(case)))
      print(case[2], pcall(string.match, case[1], case[2], case[3]))
    end)lua");
}

TEST_F(Patterns, what_is_wrong_with_a_pattern_is_said_as_lua_says_it) {
  compare(R"lua(
    for _, case in ipairs{
      -- malformed
      {'find', 'a', '[a'}, {'find', 'a', '['}, {'find', 'a', '[]'}, {'find', 'a', '[^]'}, {'find', 'a', '[a%'},
      {'find', 'a', '[a%]'}, {'find', 'a', '%'}, {'find', 'a', 'a%'}, {'match', 'a', '%b'}, {'match', 'a', '%ba'},
      {'match', 'a', '%f'}, {'match', 'a', '%fa'}, {'match', 'a', '%f[a'}, {'gmatch', 'a', '[a'},
      {'gsub', 'a', '%', ''}, {'gsub', '', '[', ''},
      -- captures
      {'find', 'a', '('}, {'find', 'a', '(a'}, {'find', 'a', 'a)'}, {'find', 'a', ')'}, {'find', 'a', '(()'},
      {'find', 'aa', '%1'}, {'find', 'aa', '(a)%2'}, {'find', 'aa', '(a%1)'}, {'find', 'aa', '%0'},
      {'match', 'a', ('()'):rep(33)}, {'gmatch', 'a', '(a'}, {'gsub', 'a', '(a', 'x'}, {'gsub', 'a', '(a', '%1'},
      {'gsub', 'a', '(a', {}}, {'gsub', 'a', '(a', print},
      -- what a match does not come to is not wrong
      {'find', 'a', 'b['}, {'find', 'a', 'b%'}, {'find', 'a', 'b('}, {'match', 'a', 'b%f'}, {'find', 'a', 'b)'},
      {'gsub', 'a', 'b%9', ''}, {'find', 'a', '^b[', 1}, {'find', 'a', '[', 3}, {'gsub', 'a', '[', '', 0},
      {'find', 'a[', '[', 1, true}, {'find', 'ab', 'a['},
      -- replacements
      {'gsub', 'a', 'a', '%2'}, {'gsub', 'a', '(a)', '%2'}, {'gsub', 'a', 'a', '%1'}, {'gsub', 'a', 'a', '%'},
      {'gsub', 'a', 'a', '%x'}, {'gsub', 'b', 'a', '%x'}, {'gsub', 'a', 'a', '%%%0'}, {'gsub', 'a', '()', '%1'},
      {'gsub', 'a', 'a', {a = {}}}, {'gsub', 'a', 'a', {a = true}}, {'gsub', 'a', 'a', math.abs},
      {'gsub', 'a', 'a', function() return {} end}, {'gsub', 'a', 'a', {a = 1.5}},
      -- arguments
      {'find'}, {'find', 'a'}, {'find', {}, 'a'}, {'find', 'a', true}, {'find', 'a', 'a', 'x'},
      {'find', 'a', 'a', 1.5}, {'match', 'a', 'a', {}}, {'gsub', 'a', 'a'}, {'gsub', 'a', 'a', true},
      {'gsub', 'a', 'a', nil, 'x'}, {'gsub', 'a', 'a', '', 'x'}, {'gmatch', 'a'}, {'gmatch', 'a', 'a', 'x'},
      {'find', 12, 2}, {'gsub', 12, 1, 3},
      -- nested too deep
      {'find', ('a'):rep(300), ('a-'):rep(250) .. 'b'}, {'find', 'a', ('b*'):rep(300)},
      {'find', ('a'):rep(300), ('a?'):rep(250) .. 'b'}, {'find', ('a'):rep(300), ('a?'):rep(300)},
    } do
      local name, n = table.remove(case, 1), 4
      if name == 'gmatch' then
        local ok, iterate = pcall(string.gmatch, table.unpack(case, 1, n))
        print(name, case[2], ok and 'iterates' or iterate)
        if ok then print(pcall(iterate)) end
      else
        print(name, case[2], pcall(string[name], table.unpack(case, 1, n)))
      end
    end)lua");
}

TEST_F(Patterns, random_patterns_agree_with_lua) {
  compare(R"lua(
    local seed = 20240229
    local function random(n)
      seed = (seed * 1103515245 + 12345) % (1 << 31)
      return (seed >> 16) % n + 1
    end
    local function text(pieces, longest)
      local parts = {}
      for i = 1, random(longest + 1) - 1 do parts[i] = pieces[random(#pieces)] end
      return table.concat(parts)
    end
    local letters = {'a', 'b', 'A', '1', ' ', '%', ']', '-', '^', '(', ')', '\0'}
    local pieces = {'a', 'b', '1', '.', '%', '[', ']', '[^', '(', ')', '()', '^', '$', '*', '+', '-',
                    '?', '%a', '%A', '%d', '%w', '%z', '%b', '%b()', '%f', '%f[', '%1', '%2', '[ab]', '-b',
                    '(a', '.-)', '\0'}
    local changes = {'<%0>', '%1', '%2%%', 'x', {a = 'T', b = false}, function(...) return select('#', ...) end}

    local function matches(subject, pattern)
      local all = {}
      local iterate = subject:gmatch(pattern)
      repeat
        local found = table.pack(pcall(iterate))
        for i = 1, found.n do all[#all + 1] = tostring(found[i]) end
      until not found[1] or found[2] == nil
      return table.concat(all, ' ')
    end
    for i = 1, 4000 do
      local pattern = text(pieces, 6)
      for j = 1, 3 do
        local subject, init = text(letters, 8), random(12) - 4
        print(i, pattern, subject, pcall(string.find, subject, pattern, init))
        print(i, pattern, subject, pcall(string.match, subject, pattern))
        print(i, pattern, subject, pcall(string.gsub, subject, pattern, changes[random(#changes)]))
        print(i, pattern, subject, matches(subject, pattern))
      end
    end)lua");
}

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
