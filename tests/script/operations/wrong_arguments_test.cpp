// Every function that a script can reach, with values of every kind in every place: what is wrong is an
// error of the script with its line, and nothing else.
#include <regex>
#include <set>
#include <sstream>

#include "stoker/runtime/observe/log.hpp"
#include "stoker/tests/script/script_runner.hpp"

namespace stoker {
namespace {

/// Makes `values`, and `report(name, ...)`: calls the function of that name with the values of these
/// places, and prints an error that has no line.
constexpr const char* prelude = R"(
local values = {
  false, true, 0, -1, 1, 3, 0.5, 0 / 0, 1 / 0, math.maxinteger, math.mininteger, 1e308, '', 'x',
  'f32', '%d%s', '[', ('x'):rep(5000), {}, {1, 2, 3}, {{1, 2}, {3}}, {x = 1}, {shape = {2, 2}},
  {axes = {0}}, setmetatable({}, {__index = function() return 1 end, __len = function() return 1 << 60 end}),
  print, function() error('mine') end, coroutine.create(function() end), buffer{1, 2, 3},
  buffer{{1, 2}, {3, 4}}, buffer({1}, {dtype = 'u8'}), select(2, pcall(relu)),
}
local count = #values + 1  -- the last one is nil
)";

/// `a.b.c` of the globals; methods and operators of a buffer are wrapped.
constexpr const char* lookup = R"(
local operators = {
  add = function(a, b) return a + b end, sub = function(a, b) return a - b end,
  mul = function(a, b) return a * b end, div = function(a, b) return a / b end,
  idiv = function(a, b) return a // b end, mod = function(a, b) return a % b end,
  pow = function(a, b) return a ^ b end, band = function(a, b) return a & b end,
  shl = function(a, b) return a << b end, bnot = function(a) return ~a end,
  unm = function(a) return -a end, index = function(a, b) return a[b] end,
  newindex = function(a, b, c) a[b] = c end, concat = function(a, b) return a .. b end,
  len = function(a) return #a end, call = function(a, b) return a(b) end,
  lt = function(a, b) return a < b end, eq = function(a, b) return a == b end,
  method = function(a, b, c) return a[b](a, c) end,
}
local function found(name)
  local value = name:match('^operators%.') and operators or _G
  for part in name:gsub('^operators%.', ''):gmatch('[^.]+') do value = value[part] end
  return value
end
)";

constexpr const char* list_all = R"(
local seen, names = {}, {}
local function list(prefix, values)
  if seen[values] then return end
  seen[values] = true
  for key, value in pairs(values) do
    if type(key) == 'string' and type(value) == 'function' and not seen[value] then
      names[#names + 1] = prefix .. key
      seen[value] = true
    end
    if type(key) == 'string' and type(value) == 'table' then list(prefix .. key .. '.', value) end
  end
end
list('', _G)
list('operators.', operators)
table.sort(names)
for _, name in ipairs(names) do print(name) end
)";

class WrongArguments : public Scripts {
 protected:
  /// Runs `calls(first)`, which prints the number of each call before it is made, until it ends well: a
  /// call may use up the limits, and the next begins behind it.
  template <class Calls> void all_answered(const std::string& name, const Calls& calls) {
    for (long first = 1;;) {
      ScriptOptions options = limited(20'000'000, 64);
      options.limits.buffer_bytes = std::uint64_t{16} << 20;
      const Outcome outcome = run(calls(first), options);
      const std::string& text = outcome.seen->text;
      EXPECT_EQ(text.find("without a line"), std::string::npos) << name << '\n' << text;
      if (outcome.result) return;
      ASSERT_EQ(outcome.result.error().code(), ErrorCode::budget_exceeded)
          << name << '\n'
          << outcome.result.error().what() << '\n'
          << text;
      const long made = last_call_in(text);
      ASSERT_GE(made, first) << name << '\n' << text;
      first = made + 1;
    }
  }

  /// The number on the last line "call N"; 0 if there is none. Functions print lines of their own.
  [[nodiscard]] static long last_call_in(const std::string& text) {
    static const std::regex call{"call ([0-9]+)"};
    std::istringstream lines{text};
    std::smatch found;
    long last = 0;
    for (std::string line; std::getline(lines, line);)
      if (line.size() < 30 && std::regex_match(line, found, call)) last = std::stol(found[1]);
    return last;
  }

  [[nodiscard]] std::set<std::string> names() {
    std::istringstream lines{run(std::string{lookup} + list_all).text()};
    std::set<std::string> all;
    for (std::string line; std::getline(lines, line);) all.insert(line);
    return all;
  }
};

TEST_F(WrongArguments, of_every_function_are_errors_with_a_line) {
  const LogCapture quiet;  // warn() is one of them
  // These pass on what they are given.
  const std::set<std::string> exempt = {"error", "assert", "coroutine.yield", "coroutine.close"};
  const std::set<std::string> all = names();
  EXPECT_GT(all.size(), 150U);
  // A third of all pairs for each function, and another third for the next one.
  for (int turn = 0; const std::string& name : all) {
    const std::string third = std::to_string(++turn % 3 + 1);
    const std::string body = R"(
local f = found(')" + name + R"(')
local made = 0
local function call(first, ...)
  made = made + 1
  if made < first then return end
  if made % 50 == 1 or first > 1 then print('call ' .. made) end
  local arguments = table.pack(...)
  local good, problem = pcall(function()
    local result = f(table.unpack(arguments, 1, arguments.n))
    if type(result) == 'userdata' and made % 5 == 0 then wait(result) end
    return result
  end)
  if not good and not )" + (exempt.contains(name) ? "true" : "false") +
                             R"( then
    local shown, text = pcall(tostring, problem)
    -- What Lua itself says within a function of C, as anywhere, gets its line where nobody catches it.
    local by_lua = shown and (text:find('^attempt to') or text:find('^invalid key') or text:find('^table index is '))
    if not shown or not (by_lua or text:find('^test%.lua:%d+: ') and not text:find("to '?'", 1, true)) then
      local kinds = {}
      for i = 1, arguments.n do kinds[i] = type(arguments[i]) end
      print('without a line: )" +
                             name + R"((' .. table.concat(kinds, ', ') .. ') ' .. tostring(problem))
    end
  end
end
)";
    all_answered(name, [&](long first) {
      const std::string from = std::to_string(first);
      return std::string{prelude} + lookup + body + "call(" + from + ")\n" +
             "for i = 1, count do call(" + from + ", values[i]) end\n" +
             "for i = 1, count do for j = (i + " + third + ") % 3 + 1, count, 3 do call(" + from +
             ", values[i], values[j]) end end\n" + "for i = 1, count do for j = 1, 5 do\n" +
             "  call(" + from +
             ", values[i], values[(i * 7 + j * 3) % count + 1], values[(i * 5 + j * 11) % count + "
             "1])\n" +
             "end end";
    });
    if (HasFatalFailure()) return;
  }
}

}  // namespace
}  // namespace stoker
