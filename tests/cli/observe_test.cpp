// `stoker observe`: of a system of its own, and of another program.
#include <gtest/gtest.h>
#include <signal.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>

#include "process.hpp"

namespace stoker {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

/// A script that runs for ever, on the cpu device.
class ObservedProgram : public testing::Test {
 protected:
  ObservedProgram()
      : socket{fs::temp_directory_path() / ("stoker_observed_" + std::to_string(getpid()))} {
    setenv("STOKER_OBSERVE", socket.c_str(), 1);
    program.emplace(std::vector<std::string>{
        "run", "-e",
        "wait(relu(buffer{-1, 2})) print('go') while true do wait(relu(buffer{1})) end",
        "--instructions", "0", "--device", "cpu"});
    unsetenv("STOKER_OBSERVE");
    started = program->wait_for_output("go\n");
  }
  ~ObservedProgram() override { fs::remove(socket); }

  fs::path socket;
  std::optional<CommandProcess> program;
  bool started = false;
};

TEST(ObserveCommand, shows_a_system_of_its_own) {
  const CommandResult result =
      stoker_command({"observe", "--once", "--json", "--device", "cpu", "--interval", "0.01"});
  EXPECT_EQ(result.exit_code, 0) << result.err;
  const json seen = parsed(result);
  EXPECT_EQ(seen["devices"][0]["name"], "cpu");
  EXPECT_EQ(seen["tree"]["children"][0]["id"], "device cpu");
  EXPECT_EQ(seen["tree"]["children"][0]["children"][0]["class"], "stoker::DeviceActor");
  EXPECT_TRUE(seen["tree"]["messages_per_second"].is_number());
}

TEST(ObserveCommand, without_an_interval_knows_no_rates) {
  const json seen = parsed(
      stoker_command({"observe", "--once", "--json", "--device", "null", "--interval", "0"}));
  EXPECT_EQ(seen["devices"][0]["name"], "null");
  EXPECT_TRUE(seen["tree"]["messages_per_second"].is_null());
}

TEST(ObserveCommand, draws_a_tree) {
  const CommandResult result =
      stoker_command({"observe", "--once", "--device", "cpu", "--interval", "0"});
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_TRUE(contains(result.out, "\nsystem ")) << result.out;
  EXPECT_TRUE(contains(result.out, "\n  device cpu ")) << result.out;
  EXPECT_TRUE(contains(result.out, "\n    cpu ")) << result.out;
  EXPECT_FALSE(contains(result.out, "\033")) << "no terminal, no control characters";
}

TEST(ObserveCommand, where_nobody_listens_nothing_is_found) {
  const CommandResult result =
      stoker_command({"observe", "--socket", "/nowhere/at/all", "--once", "--json"});
  EXPECT_EQ(result.exit_code, 3);
  EXPECT_EQ(parsed(result)["error"]["code"], "not_found");
  EXPECT_EQ(parsed(result)["error"]["details"]["socket"], "/nowhere/at/all");
}

TEST(ObserveCommand, refuses_an_interval_that_is_none) {
  for (const char* interval : {"soon", "-1", "nan", "1e300"})
    EXPECT_EQ(stoker_command({"observe", "--once", "--interval", interval}).exit_code, 2)
        << interval;
  EXPECT_EQ(stoker_command({"observe", "--interval", "0"}).exit_code, 2) << "would never rest";
}

TEST(ObserveCommand, an_unknown_device_is_not_found) {
  EXPECT_EQ(stoker_command({"observe", "--once", "--device", "abacus"}).exit_code, 3);
}

TEST(ObserveCommand, ctrl_c_ends_it) {
  CommandProcess process{{"observe", "--device", "cpu", "--interval", "1000"}};
  ASSERT_TRUE(process.wait_for_output("device cpu"));
  process.signal(SIGINT);
  EXPECT_EQ(process.finish().exit_code, 130);
}

TEST_F(ObservedProgram, shows_what_it_does) {
  ASSERT_TRUE(started);
  const json seen = parsed(stoker_command(
      {"observe", "--socket", socket.string(), "--once", "--json", "--interval", "0.01"}));
  EXPECT_NE(seen["pid"], getpid());
  EXPECT_EQ(seen["devices"][0]["name"], "cpu");
  EXPECT_GE(seen["devices"][0]["commands"]["completed"], 1);
  EXPECT_EQ(seen["tree"]["children"][0]["id"], "device cpu");
}

TEST_F(ObservedProgram, is_found_by_the_environment_too) {
  ASSERT_TRUE(started);
  setenv("STOKER_OBSERVE", socket.c_str(), 1);
  const CommandResult result = stoker_command({"observe", "--once", "--interval", "0"});
  unsetenv("STOKER_OBSERVE");
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_TRUE(contains(result.out, "device cpu"));
  EXPECT_EQ(result.err, "");
}

TEST_F(ObservedProgram, is_observed_until_it_ends) {
  ASSERT_TRUE(started);
  CommandProcess observer{{"observe", "--socket", socket.string(), "--json", "--interval", "0.01"}};
  ASSERT_TRUE(observer.wait_for_output("\n"));
  program->signal(SIGTERM);
  EXPECT_EQ(program->finish().exit_code, 143);
  const CommandResult result = observer.finish();
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_TRUE(contains(result.err, "the program has ended"));
  const std::string first = result.out.substr(0, result.out.find('\n'));
  EXPECT_TRUE(json::parse(first, nullptr, false).contains("tree")) << first;
}

}  // namespace
}  // namespace stoker
