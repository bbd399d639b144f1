#include <gtest/gtest.h>
#include <signal.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <sstream>

#include "process.hpp"
#include "stoker/tests/checkout/checkout.hpp"

namespace stoker {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

/// The options that make a run independent of the machine.
std::vector<std::string> on_cpu(std::vector<std::string> words) {
  words.insert(words.begin(), "run");
  words.insert(words.end(), {"--device", "cpu"});
  return words;
}

class RunCommand : public testing::Test {
 protected:
  void SetUp() override {
    directory =
        fs::temp_directory_path() / ("stoker_cli_" + std::to_string(getpid()) + "_" +
                                     testing::UnitTest::GetInstance()->current_test_info()->name());
    fs::create_directories(directory);
  }
  void TearDown() override { fs::remove_all(directory); }

  fs::path write(const std::string& name, const std::string& text) const {
    std::ofstream{directory / name} << text;
    return directory / name;
  }

  fs::path directory;
};

TEST(Command, tells_its_version) {
  const CommandResult result = stoker_command({"--version"});
  EXPECT_EQ(result.exit_code, 0);
  std::ifstream lists{checkout_folder() / "CMakeLists.txt"};
  const std::string text{std::istreambuf_iterator<char>{lists}, {}};
  ASSERT_TRUE(result.out.starts_with("stoker "));
  EXPECT_TRUE(contains(text, "VERSION " + result.out.substr(7, result.out.size() - 8)))
      << result.out;
}

TEST(Command, teaches_with_examples_and_exit_codes) {
  const CommandResult result = stoker_command({"--help"});
  EXPECT_EQ(result.exit_code, 0);
  EXPECT_TRUE(contains(result.out, "Examples:"));
  EXPECT_TRUE(contains(result.out, "Exit codes:"));
  for (const char* verb : {"devices", "doctor", "kernels", "run", "train", "observe", "bench"}) {
    EXPECT_TRUE(contains(result.out, verb));
    EXPECT_EQ(stoker_command({verb, "--help"}).exit_code, 0) << verb;
  }
}

TEST(Command, refuses_what_it_does_not_know) {
  EXPECT_EQ(stoker_command({}).exit_code, 2);
  EXPECT_EQ(stoker_command({"fly"}).exit_code, 2);
  EXPECT_EQ(stoker_command({"devices", "--colour"}).exit_code, 2);
  EXPECT_EQ(stoker_command({"run"}).exit_code, 2);
  EXPECT_EQ(stoker_command({"run", "-e", "x = 1", "radius"}).exit_code, 2);
  for (const char* limit : {"soon", "-1", "nan", "1e300"})
    EXPECT_EQ(stoker_command({"run", "-e", "x = 1", "--time-limit", limit}).exit_code, 2) << limit;
}

TEST(Command, names_a_verb_that_there_is_not) {
  const CommandResult text = stoker_command({"frob"});
  EXPECT_EQ(text.exit_code, 2);
  EXPECT_TRUE(contains(text.err, "there is no verb 'frob'")) << text.err;
  const CommandResult as_json = stoker_command({"frob", "--json"});
  EXPECT_EQ(as_json.exit_code, 2);
  EXPECT_EQ(parsed(as_json)["error"]["reason"], "there is no verb 'frob'");
}

TEST(Command, answers_a_wrong_option_in_json_if_that_was_asked_for) {
  const CommandResult result = stoker_command({"devices", "--bogus", "--json"});
  EXPECT_EQ(result.exit_code, 2);
  EXPECT_EQ(parsed(result)["error"]["code"], "invalid_argument");
}

TEST(Command, doctor_reports_also_when_the_default_device_does_not_exist) {
  setenv("STOKER_DEVICE", "zzz", 1);
  const CommandResult result = stoker_command({"doctor", "--json"});
  unsetenv("STOKER_DEVICE");
  EXPECT_EQ(result.exit_code, 1);
  const json report = parsed(result);
  EXPECT_EQ(report["environment"]["STOKER_DEVICE"], "zzz");
  EXPECT_FALSE(report["checks"].empty());
  EXPECT_EQ(report["error"]["code"], "not_found");
}

TEST(Command, lists_devices) {
  const CommandResult table = stoker_command({"devices"});
  EXPECT_EQ(table.exit_code, 0);
  EXPECT_TRUE(contains(table.out, "cpu"));
  const json list = parsed(stoker_command({"devices", "--json"}))["devices"];
  const auto cpu = std::ranges::find_if(list, [](const json& one) { return one["name"] == "cpu"; });
  ASSERT_NE(cpu, list.end());
  EXPECT_TRUE((*cpu)["dtypes"].is_array());
}

TEST(Command, doctor_gives_reasons_and_tries_each_device) {
  const CommandResult text = stoker_command({"doctor"});
  EXPECT_EQ(text.exit_code, 0) << text.out;
  EXPECT_TRUE(contains(text.out, "taken"));
  EXPECT_TRUE(contains(text.out, "works     cpu"));
  const json report = parsed(stoker_command({"doctor", "--json"}));
  EXPECT_FALSE(report["findings"].empty());
  for (const json& finding : report["findings"])
    EXPECT_FALSE(finding["reason"].get<std::string>().empty());
  EXPECT_TRUE(report.contains("default_device"));
}

TEST(Command, lists_and_describes_kernels) {
  const CommandResult list = stoker_command({"kernels"});
  EXPECT_EQ(list.exit_code, 0);
  EXPECT_TRUE(contains(list.out, "gaussian_blur"));
  const json kernels = parsed(stoker_command({"kernels", "--json"}))["kernels"];
  EXPECT_GT(kernels.size(), 20U);
  for (const json& kernel : kernels) EXPECT_FALSE(kernel["dtypes"].empty()) << kernel;
  const json blur = parsed(stoker_command({"kernels", "gaussian_blur", "--json"}));
  EXPECT_EQ(blur["name"], "gaussian_blur");
  EXPECT_FALSE(blur["params"].empty());
  EXPECT_TRUE(contains(stoker_command({"kernels", "gaussian_blur"}).out, "radius"));
}

TEST(Command, an_unknown_kernel_is_not_found_and_the_nearest_is_named) {
  const CommandResult result = stoker_command({"kernels", "gausian_blur"});
  EXPECT_EQ(result.exit_code, 3);
  EXPECT_TRUE(contains(result.err, "gaussian_blur")) << result.err;
}

TEST(Command, an_unknown_device_is_not_found) {
  const CommandResult result = stoker_command({"run", "-e", "x = 1", "--device", "abacus"});
  EXPECT_EQ(result.exit_code, 3);
  EXPECT_TRUE(contains(result.err, "abacus"));
  const CommandResult as_json =
      stoker_command({"run", "-e", "x = 1", "--device", "abacus", "--json"});
  EXPECT_EQ(as_json.exit_code, 3);
  EXPECT_EQ(parsed(as_json)["error"]["code"], "not_found");
}

TEST_F(RunCommand, runs_a_line_of_code) {
  const CommandResult result =
      stoker_command(on_cpu({"-e", "print(relu(buffer{-1, 2}))", "--quiet"}));
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_EQ(result.out, "f32[2]\n[0 2]\n");
  EXPECT_EQ(result.err, "");
}

TEST_F(RunCommand, passes_arguments) {
  const CommandResult result =
      stoker_command(on_cpu({"-e", "print(args.a + 1, args.b)", "a=41", "b=x=y", "--quiet"}));
  EXPECT_EQ(result.out, "42\tx=y\n");
}

TEST_F(RunCommand, reads_a_script_from_standard_input) {
  EXPECT_EQ(stoker_command(on_cpu({"-", "--quiet"}), {}, "print(device().name)").out, "cpu\n");
}

TEST_F(RunCommand, reports_device_commands_and_files) {
  write("job.lua",
        "local p = fill{shape = {8, 8, 3}, value = 100, dtype = 'u8'}\nimage.save(grayscale(p), "
        "'grey.png')\n");
  const CommandResult result = stoker_command(on_cpu({"job.lua"}), directory);
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_TRUE(contains(result.out, "ran on cpu"));
  EXPECT_TRUE(contains(result.out, "grayscale"));
  EXPECT_TRUE(contains(result.out, "µs")) << result.out;
  EXPECT_TRUE(contains(result.out, (fs::canonical(directory) / "grey.png").string()));
  EXPECT_TRUE(fs::exists(directory / "grey.png"));
}

TEST_F(RunCommand, reports_as_json) {
  const json report =
      parsed(stoker_command(on_cpu({"-e", "print('hi \\xff') wait(relu(buffer{1}))", "--json"})));
  EXPECT_EQ(report["device"]["name"], "cpu");
  EXPECT_TRUE(contains(report["printed"].get<std::string>(), "hi "));
  ASSERT_EQ(report["commands"].size(), 1U);
  EXPECT_EQ(report["commands"][0]["kernel"], "relu");
  EXPECT_GT(report["used"]["instructions"].get<int>(), 0);
}

TEST_F(RunCommand, shows_the_line_of_an_error) {
  write("bad.lua", "local a = buffer{{1, 2}}\nlocal b = matmul(a, a)\n");
  const CommandResult result = stoker_command(on_cpu({"bad.lua"}), directory);
  EXPECT_EQ(result.exit_code, 1);
  EXPECT_TRUE(contains(result.err, "bad.lua:2: matmul: shape mismatch")) << result.err;
  EXPECT_TRUE(contains(result.err, "2 | local b = matmul(a, a)"));
  EXPECT_TRUE(contains(result.err, "f32[1,2], f32[1,2]"));
}

TEST_F(RunCommand, a_missing_script_is_not_found) {
  EXPECT_EQ(stoker_command(on_cpu({"nothing.lua"}), directory).exit_code, 3);
}

TEST_F(RunCommand, a_limit_ends_a_script_with_its_own_code) {
  EXPECT_EQ(
      stoker_command(on_cpu({"-e", "while true do end", "--instructions", "100000"})).exit_code, 4);
  EXPECT_EQ(
      stoker_command(on_cpu({"-e", "local s = 'x' while true do s = s .. s end", "--memory", "8"}))
          .exit_code,
      4);
  EXPECT_EQ(
      stoker_command(on_cpu({"-e", "wait(fill{shape = {1 << 20}})", "--buffers", "1"})).exit_code,
      4);
  EXPECT_EQ(stoker_command(
                on_cpu({"-e", "while true do end", "--instructions", "0", "--time-limit", "0.05"}))
                .exit_code,
            4);
}

TEST_F(RunCommand, files_outside_are_out_of_reach_unless_allowed) {
  fs::create_directories(directory / "work");
  fs::create_directories(directory / "pictures");
  const std::string save = "image.save(fill{shape = {2, 2, 1}, dtype = 'u8'}, '../pictures/a.png')";
  const std::string work = directory / "work";
  const CommandResult refused = stoker_command(on_cpu({"-e", save}), work);
  EXPECT_EQ(refused.exit_code, 1);
  EXPECT_TRUE(contains(refused.err, "--allow DIR"));
  EXPECT_EQ(stoker_command(on_cpu({"-e", save, "--allow", "../pictures"}), work).exit_code, 0);
}

TEST_F(RunCommand, a_script_finds_what_lies_beside_it_and_writes_where_it_was_started) {
  fs::create_directories(directory / "scripts");
  fs::create_directories(directory / "work");
  write("scripts/grey.lua",
        "image.save(image.load('grey.png'), 'copy.png')\nprint(args.input and "
        "image.load(args.input).size)");
  const std::string save = "image.save(fill{shape = {2, 2, 1}, dtype = 'u8'}, 'grey.png')";
  ASSERT_EQ(stoker_command(on_cpu({"-e", save}), directory / "scripts").exit_code, 0);
  ASSERT_EQ(stoker_command(on_cpu({"-e",
                                   "image.save(fill{shape = {3, 1, 1}, dtype = 'u8'}, "
                                   "'given.png')"}),
                           directory / "work")
                .exit_code,
            0);
  const CommandResult result = stoker_command(
      on_cpu({"../scripts/grey.lua", "input=given.png", "--quiet"}), directory / "work");
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_EQ(result.out, "3\n");
  EXPECT_TRUE(fs::exists(directory / "work" / "copy.png"));
}

TEST_F(RunCommand, a_script_has_the_functions_of_tensors) {
  const CommandResult result = stoker_command(on_cpu(
      {"-e", "print(read(variance(stack(zeros{shape = {2}}, ones{shape = {2}})))[1])", "--quiet"}));
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_EQ(result.out, "0.25\n");
}

TEST_F(RunCommand, a_script_defines_kernels_unless_that_is_refused) {
  const std::string define =
      "local f = kernel{name = 'next', glsl = 'void main() {}', cpu = function(x) return x + 1 "
      "end} "
      "print(read(f(buffer{1}))[1])";
  const CommandResult allowed = stoker_command(on_cpu({"-e", define, "--quiet"}));
  EXPECT_EQ(allowed.exit_code, 0) << allowed.err;
  EXPECT_EQ(allowed.out, "2.0\n");
  const CommandResult refused = stoker_command(on_cpu({"-e", define, "--no-kernels"}));
  EXPECT_EQ(refused.exit_code, 1);
  EXPECT_TRUE(contains(refused.err, "define no kernels"));
  EXPECT_TRUE(contains(refused.err, "because of --no-kernels"));
  EXPECT_FALSE(contains(refused.err, "--allow DIR"));
}

TEST_F(RunCommand, writes_a_trace) {
  EXPECT_EQ(stoker_command(on_cpu({"-e", "wait(softmax(relu(buffer{1})))", "--trace", "t.json"}),
                           directory)
                .exit_code,
            0);
  std::ifstream file{directory / "t.json"};
  const json trace = json::parse(file, nullptr, false);
  ASSERT_TRUE(trace.contains("traceEvents"));
  for (const char* lane : {"fused", "softmax", "queues", "actors"})
    EXPECT_TRUE(contains(trace.dump(), lane));
}

TEST_F(RunCommand, a_trace_that_cannot_be_written_is_part_of_the_one_report) {
  const CommandResult result =
      stoker_command(on_cpu({"-e", "print(1)", "--json", "--trace", "nowhere/t.json"}), directory);
  EXPECT_EQ(result.exit_code, 1);
  EXPECT_EQ(parsed(result)["error"]["code"], "io_error");
}

TEST_F(RunCommand, ctrl_c_cancels_the_script) {
  CommandProcess process{on_cpu({"-e", "print('go') while true do end", "--instructions", "0"})};
  ASSERT_TRUE(process.wait_for_output("go\n"));
  process.signal(SIGINT);
  const CommandResult result = process.finish();
  EXPECT_EQ(result.exit_code, 130) << result.err;
}

TEST_F(RunCommand, sigterm_does_so_too) {
  CommandProcess process{on_cpu({"-e", "print('go') while true do end", "--instructions", "0"})};
  ASSERT_TRUE(process.wait_for_output("go\n"));
  process.signal(SIGTERM);
  EXPECT_EQ(process.finish().exit_code, 143);
}

TEST_F(RunCommand, shows_no_progress_without_a_terminal) {
  const CommandResult result =
      stoker_command(on_cpu({"-e", "for i = 1, 300 do wait(relu(buffer{i})) end"}));
  EXPECT_EQ(result.exit_code, 0);
  EXPECT_EQ(result.err, "");
}

TEST_F(RunCommand, the_example_scripts_run) {
  const fs::path examples = checkout_folder() / "examples";
  for (const auto& script : fs::directory_iterator{examples / "scripts"}) {
    if (script.path().extension() != ".lua") continue;
    if (script.path().filename().string().starts_with("train_")) continue;  // see train_test.cpp
    if (script.path().filename() == "faces.lua") continue;  // see guides/model_examples_test.cpp
    const CommandResult result =
        stoker_command(on_cpu({script.path().string(), "--allow", (examples / "data").string(),
                               "input=" + (examples / "data" / "china.jpg").string(),
                               "output=out.png", "data=" + (examples / "data").string()}),
                       directory);
    EXPECT_EQ(result.exit_code, 0) << script.path() << "\n" << result.err;
  }
}

}  // namespace
}  // namespace stoker
