#include "stoker/tests/script/script_runner.hpp"

namespace stoker {
namespace {

class Sandbox : public Scripts {};

TEST_F(Sandbox, has_no_files_processes_modules_or_debugger) {
  for (const char* name :
       {"io", "debug", "package", "require", "dofile", "loadfile", "os.execute", "os.exit",
        "os.getenv", "os.remove", "os.rename", "os.tmpname", "os.setlocale", "string.dump"})
    EXPECT_EQ(run("print(" + std::string{name} + ")").text(), "nil\n") << name;
}

TEST_F(Sandbox, has_the_harmless_libraries) {
  EXPECT_EQ(run("print(type(os.clock()), type(os.time()), #os.date('%Y'), math.floor(2.5), "
                "utf8.char(955), ('x'):upper())")
                .text(),
            "number\tnumber\t4\t2\tλ\tX\n");
}

TEST_F(Sandbox, compiled_chunks_are_refused) {
  const std::string code = "print(load('\\27Lua', 'x', 'b'))";
  EXPECT_NE(run(code).text().find("attempt to load a binary chunk"), std::string::npos);
  EXPECT_EQ(host.start({"x", "\x1bLua"}, {}).done.wait().error().code(), ErrorCode::compile_failed);
}

TEST_F(Sandbox, text_can_be_loaded_with_an_environment) {
  EXPECT_EQ(run("print(load('x = 2 return x + y', 'chunk', 't', {y = 3})(), x)").text(),
            "5\tnil\n");
  EXPECT_EQ(run("print(load('return ...', 'chunk')(7))").text(), "7\n");
}

TEST_F(Sandbox, finalizers_are_refused) {
  EXPECT_EQ(run("setmetatable({}, {__gc = function() end})").code(), ErrorCode::script_error);
  EXPECT_EQ(run("setmetatable({}, {__gc = false})").code(), ErrorCode::script_error);
  // A field that comes later does not make a finalizer.
  EXPECT_EQ(run("local m = {} setmetatable({}, m) m.__gc = function() while true do end end\n"
                "for i = 1, 100000 do local t = {} end print('ok')")
                .text(),
            "ok\n");
}

TEST_F(Sandbox, the_collector_can_only_be_asked) {
  EXPECT_EQ(
      run("print(collectgarbage('count') > 0, collectgarbage() > 0, pcall(collectgarbage, 'stop'))")
          .text(),
      "true\ttrue\tfalse\tcollectgarbage can only count here\n");
}

TEST_F(Sandbox, metatables_of_our_objects_are_hidden) {
  EXPECT_EQ(run("print(getmetatable(buffer{1}), pcall(setmetatable, buffer{1}, {}))")
                .text()
                .substr(0, 12),
            "false\tfalse\t");
  EXPECT_EQ(run("local ok, e = pcall(relu) print(getmetatable(e))").text(), "false\n");
  EXPECT_EQ(run("buffer{1}.shape = {2}").code(), ErrorCode::script_error);
}

TEST_F(Sandbox, scripts_share_no_globals) {
  EXPECT_EQ(run("x = 1 string.upper = nil relu = nil").text(), "");
  EXPECT_EQ(run("print(x, string.upper ~= nil, relu ~= nil)").text(), "nil\ttrue\ttrue\n");
}

TEST_F(Sandbox, replacing_functions_replaces_them_for_the_script_only) {
  // What the library itself uses is out of the script's reach.
  EXPECT_EQ(run("tostring = nil kernels.relu = nil relu = nil pcall = nil\n"
                "print(buffer{-1}:relu())")
                .text(),
            "f32[1]\n[0]\n");
}

TEST_F(Sandbox, the_string_metatable_is_the_scripts_own) {
  EXPECT_EQ(run("getmetatable('').__index = nil print(pcall(function() return ('x'):upper() end))")
                .text()
                .substr(0, 5),
            "false");
  EXPECT_EQ(run("print(('x'):upper())").text(), "X\n");
}

}  // namespace
}  // namespace stoker
