// Ctrl-C, at any time.
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>

#include "command_folder.hpp"

namespace stoker {
namespace {

class Interrupt : public CommandFolder {};

// The loader of Vulkan waits for somebody to write its list of drivers.
TEST_F(Interrupt, ends_a_command_that_is_opening_a_device) {
  const std::string pipe = directory / "drivers.json";
  ASSERT_EQ(mkfifo(pipe.c_str(), 0600), 0);
  setenv("VK_DRIVER_FILES", pipe.c_str(), 1);
  write("t.lua", "return nn.model(nn.dense(nn.input{2}, 2)), {}");
  const std::vector<std::vector<std::string>> commands = {
      {"run", "-e", "x = 1", "--device", "vulkan"}, {"train", "t.lua", "--device", "vulkan"}};
  for (const auto& words : commands) {
    CommandProcess process{words, directory};
    process.wait_until_listening_for(SIGINT);
    process.signal_until_ended(SIGINT);
    EXPECT_EQ(process.finish().exit_code, 130) << words[0];
  }
  unsetenv("VK_DRIVER_FILES");
}

TEST_F(Interrupt, ends_a_command_whose_output_nobody_reads) {
  CommandProcess process{
      {"run", "-e", "while true do print('x') end", "--device", "cpu", "--instructions", "0"},
      directory};
  ASSERT_TRUE(process.wait_for_output("x\n"));
  process.signal_until_ended(SIGTERM);
  EXPECT_EQ(process.finish_unread().exit_code, 143);
}

TEST_F(Interrupt, ends_a_command_whose_kernels_run) {
  CommandProcess process{
      {"run", "-e",
       "print('go') local b = fill{value = 0, shape = {1500, 1500}, dtype = 'f32'}\n"
       "for i = 1, 1000 do b = matmul(b, b) end wait(b)",
       "--device", "cpu"},
      directory};
  ASSERT_TRUE(process.wait_for_output("go\n"));
  process.signal(SIGINT);
  const CommandResult result = process.finish();
  EXPECT_EQ(result.exit_code, 130);
  EXPECT_TRUE(contains(result.err, "cancelled")) << "a second signal ends it without a word";
}

// The compiler works for minutes, and nothing can tell it to stop.
TEST_F(Interrupt, ends_a_command_that_compiles_a_kernel) {
  const std::string none_cached = "// " + std::to_string(getpid());
  const std::string text =
      "float a' .. ('[1]'):rep(20000) .. '; void main() { y(stoker_index()) = 1.0; }";
  CommandProcess process{
      {"run", "-e", "kernel{name = 'f', glsl = '" + text + none_cached + "'}", "--device", "cpu"},
      directory};
  process.wait_until_it_has_a_thread("stoker-compile");
  process.signal(SIGTERM);
  const CommandResult result = process.finish();
  EXPECT_EQ(result.exit_code, 143);
  EXPECT_TRUE(contains(result.err, "cancelled")) << "a second signal ends it without a word";
}

TEST_F(Interrupt, stays_ignored_where_whoever_started_the_command_ignores_it) {
  CommandProcess process{
      {"run", "-e", "print('go') for i = 1, 1e7 do end print('end')", "--device", "cpu", "--quiet"},
      CommandPlace{directory, {}, R"(trap '' INT; exec "$@")"}};
  ASSERT_TRUE(process.wait_for_output("go\n"));
  process.signal(SIGINT);
  const CommandResult result = process.finish();
  EXPECT_EQ(result.exit_code, 0);
  EXPECT_EQ(result.out, "go\nend\n");
}

}  // namespace
}  // namespace stoker
