// Scripts that run wild. Each must end with budget_exceeded, whatever it tries.
#include "stoker/tests/script/script_runner.hpp"

namespace stoker {
namespace {

class Runaway : public Scripts, public testing::WithParamInterface<const char*> {};

TEST_P(Runaway, is_stopped) {
  const Error error = run(GetParam(), limited(2'000'000, 16)).error();
  EXPECT_EQ(error.code(), ErrorCode::budget_exceeded) << error.what();
  EXPECT_EQ(error.detail("script"), "test.lua");
  // The host and its other scripts are as before.
  EXPECT_EQ(run("print(read(buffer{1} + 1)[1])").text(), "2.0\n");
}

INSTANTIATE_TEST_SUITE_P(
    Instructions, Runaway,
    testing::Values(
        "while true do end",  //
        "local function f() return f() end f()",
        "while true do pcall(function() while true do end end) end",
        "while true do pcall(error) end",
        "xpcall(function() while true do end end, function() while true do end end)",
        "pcall(xpcall, function() while true do end end, function() while true do end end)",
        "coroutine.wrap(function() while true do end end)()",
        "while true do coroutine.resume(coroutine.create(function() while true do end end)) end",
        "while true do coroutine.wrap(function() for i = 1, 300 do end end)() end",
        "local c = coroutine.wrap(function() while true do coroutine.yield() end end) while true "
        "do c() end",
        "load(function() while true do end end)", "while true do load('x = 1') end",
        "local t = setmetatable({}, {__index = function() while true do end end}) return t.x",
        "local t <close> = setmetatable({}, {__close = function() while true do end end}) while "
        "true do end",
        "coroutine.wrap(function() local t <close> = setmetatable({}, {__close = function() "
        "while true do end end}) while true do end end)()",
        "local co = coroutine.create(function() local t <close> = setmetatable({}, {__close = "
        "function() "
        "while true do end end}) while true do end end)\n"
        "pcall(coroutine.resume, co) coroutine.close(co)",
        "goto again ::again:: goto again"));

INSTANTIATE_TEST_SUITE_P(
    LibraryLoops, Runaway,
    testing::Values(
        "local s = ('a'):rep(1000) s:find(('a*'):rep(20) .. 'b')",
        "local s = ('a'):rep(30) s:match(('a?'):rep(30) .. ('a-'):rep(10) .. 'b')",
        "local s = ('('):rep(5000) for i = 1, 5000 do s:match('%b()') end",
        "local s = ('ab'):rep(2000) s:gsub('.-.-.-c', '')",
        "local s = ('a'):rep(100000) s:find(('a'):rep(50000) .. 'b', 1, true)",
        "for _ in ('x'):rep(1000):gmatch('.-.-.-.-y') do end",
        "while true do ('x'):rep(100):gsub('x', '%0%0') end", "table.move({}, 1, 1 << 60, 2)",
        "table.insert(setmetatable({}, {__len = function() return 1 << 60 end}), 1, 1)",
        "table.remove(setmetatable({}, {__len = function() return 1 << 60 end}), 1)",
        "table.sort(setmetatable({}, {__len = function() return (1 << 31) - 2 end}), tonumber)",
        "table.concat(setmetatable({}, {__len = function() return 1 << 60 end, __index = rawlen, "
        "__name = 'x'}))\nwhile true do end",
        "while true do ('x'):rep(100000):upper() end",
        "while true do string.format('%s', ('x'):rep(100000)) end",
        "while true do utf8.len(('x'):rep(100000)) end"));

INSTANTIATE_TEST_SUITE_P(
    Memory, Runaway,
    testing::Values(
        "local t = {} while true do t[#t + 1] = ('x'):rep(1000) .. #t end",
        "local s = 'x' while true do s = s .. s end", "('x'):rep(1 << 40)",
        "local t = {} while true do pcall(function() t[#t + 1] = ('x'):rep(1e6) .. #t end) end",
        "table.unpack({}, 1, 900000)\nlocal t = {} while true do t[#t + 1] = {} end",
        "local t = {} while true do t[#t + 1] = coroutine.create(print) end",
        "local t = {} while true do t[#t + 1] = function() return t end end",
        "local t = {} while true do t[#t + 1] = ('a'):gmatch(('[a-z]'):rep(1000)) end",
        "local row = {} for i = 1, 1e4 do row[i] = 1 end\nlocal t = {} for i = 1, 1e4 do t[i] = "
        "row end\n"
        "buffer(t)",
        "local t = {} while true do t[#t + 1] = buffer{1} end",
        "local t, b = {}, buffer{1} while true do t[#t + 1] = relu(b) end",
        "read(fill{shape = {1 << 24}})"));

INSTANTIATE_TEST_SUITE_P(OutsideOfLua, Runaway,
                         testing::Values("local t = {} for i = 1, 1e6 do local _, e = "
                                         "pcall(buffer, {}, {dtype = ('x'):rep(64)}) t[i] = "
                                         "e end",
                                         "local t, s = {}, ('x'):rep(4000) for i = 1, 1e6 do t[i] "
                                         "= select(2, pcall(image.load, s)) end",
                                         "while true do load(('x = 1 '):rep(1e5)) end"));

class Budgets : public Scripts {};

/// An observer that keeps the text, as `stoker run --json` does.
class Keeper final : public ScriptObserver {
 public:
  void on_print(std::string_view line) noexcept override { text += line; }
  [[nodiscard]] bool keeps_text() const noexcept override { return true; }
  std::string text;
};

TEST_F(Budgets, text_that_is_kept_counts_as_memory) {
  const auto keeper = std::make_shared<Keeper>();
  ScriptOptions options = limited(0, 8);
  options.observer = keeper;
  const ScriptRun run =
      host.start({"test.lua", "local s = ('x'):rep(1000) while true do print(s) end"}, options);
  EXPECT_EQ(run.done.wait().error().code(), ErrorCode::budget_exceeded);
  EXPECT_LT(keeper->text.size(), std::size_t{8} << 20);
  EXPECT_GT(keeper->text.size(), std::size_t{4} << 20);
}

TEST_F(Budgets, text_that_a_function_gives_to_load_is_charged_as_any_other) {
  const std::string code =
      "local text, n = (' '):rep(1e6), 0\n"
      "print(load(function() n = n + 1 return n <= 20 and text or nil end))";
  EXPECT_EQ(run(code, limited(10'000'000, 0)).code(), ErrorCode::budget_exceeded);
  EXPECT_TRUE(run(code, limited(100'000'000, 0)).result.has_value());
}

TEST_F(Budgets, device_memory_is_limited) {
  ScriptOptions options;
  options.limits.buffer_bytes = 1 << 20;
  const Error error =
      run("local t = {} for i = 1, 100 do t[i] = fill{shape = {1 << 16}} wait(t[i]) end", options)
          .error();
  EXPECT_EQ(error.code(), ErrorCode::budget_exceeded);
  EXPECT_EQ(error.detail("budget"), "buffer_bytes");
}

TEST_F(Budgets, device_memory_of_garbage_comes_back) {
  ScriptOptions options;
  options.limits.buffer_bytes = 1 << 20;
  EXPECT_EQ(run("local b for i = 1, 100 do b = fill{shape = {1 << 16}, value = i} wait(b) "
                "end\nprint(read(b)[1])",
                options)
                .text(),
            "100.0\n");
}

TEST_F(Budgets, a_refused_allocation_ends_the_script_although_it_was_caught) {
  EXPECT_EQ(
      run("pcall(string.rep, 'x', 1 << 30)\nprint('still here')", limited(1'000'000, 16)).code(),
      ErrorCode::budget_exceeded);
}

TEST_F(Budgets, zero_means_no_limit) {
  ScriptOptions options;
  options.limits = {0, 0, 0};
  EXPECT_EQ(run("local n = 0 for i = 1, 3000000 do n = n + i end print(n)", options).text(),
            "4500001500000\n");
}

TEST_F(Budgets, too_little_memory_for_a_state_is_an_error) {
  ScriptOptions options;
  options.limits.memory_bytes = 1000;
  EXPECT_EQ(run("", options).code(), ErrorCode::budget_exceeded);
  options.limits.memory_bytes = 20'000;  // enough for a state, not for its libraries
  EXPECT_EQ(run("", options).code(), ErrorCode::budget_exceeded);
}

TEST_F(Budgets, the_same_script_costs_the_same) {
  for (const char* code :
       {"local n = 0 for i = 1, 100000 do n = n + i end",
        // garbage, and a state that grows
        "local keep = {} for i = 1, 100000 do local t = {i, tostring(i)}\n"
        "if i % 4 == 0 then keep[#keep + 1] = t end end",
        // texts, patterns, sorting
        "local t = {} for i = 1, 5000 do t[i] = ('k' .. i):rep(10):gsub('%d', 'x%0') end\n"
        "table.sort(t) local s = table.concat(t) assert(s == s .. '')",
        // coroutines
        "for i = 1, 50 do local c = coroutine.wrap(function() for j = 1, 50 do coroutine.yield(j) "
        "end end) for j = 1, 50 do c() end end",
        // kernels, with values that are waited for, or not
        "local b = buffer{1, 2, 3} for i = 1, 600 do b = relu(b * 0.5 + i)\n"
        "if i % 50 == 0 then print(b) end end",
        "for i = 1, 30 do wait(fill{shape = {1 << 18}, value = i}) end"}) {
    const std::uint64_t cost = run(code).result.value().instructions;
    for (int again = 0; again < 4; ++again)
      EXPECT_EQ(run(code).result.value().instructions, cost) << code;
  }
}

TEST_F(Budgets, what_was_used_is_reported) {
  const Outcome outcome =
      run("local n = 0 for i = 1, 100000 do n = n + 1 end print(relu(buffer{n}))");
  EXPECT_EQ(outcome.text(), "f32[1]\n[1e+05]\n");
  EXPECT_GT(outcome.result->instructions, 200'000U);
  EXPECT_GT(outcome.result->peak_memory_bytes, 10'000U);
  EXPECT_EQ(outcome.result->commands, 1U);
}

}  // namespace
}  // namespace stoker
