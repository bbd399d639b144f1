// What the command refuses, how it says so, and what its help and its manual tell.
#include <gtest/gtest.h>

#include <sstream>

#include "command_folder.hpp"
#include "stoker/runtime/settings.hpp"
#include "stoker/tests/checkout/checkout.hpp"

namespace stoker {
namespace {

const std::vector<std::string> verbs = {"devices", "doctor", "kernels", "ops",  "layers",
                                        "run",     "train",  "observe", "bench"};

std::string file_text(const std::string& name) {
  std::ifstream file{checkout_folder() / name};
  return {std::istreambuf_iterator<char>{file}, {}};
}

class Usage : public CommandFolder {};

TEST_F(Usage, a_number_out_of_its_range_is_refused_by_name) {
  const auto refuses = [&](const char* verb, const char* option,
                           std::initializer_list<const char*> values) {
    for (const char* value : values) {
      std::vector<std::string> words{verb, option, value};
      if (words[0] == "run") words.insert(words.end(), {"-e", "print('ran')"});
      if (words[0] == "train") words.emplace_back("t.lua");
      if (words[0] == "observe") words.emplace_back("--once");
      const CommandResult result = stoker_command(words, directory);
      EXPECT_EQ(result.exit_code, 2) << option << ' ' << value;
      EXPECT_TRUE(contains(result.err, option)) << result.err;
      EXPECT_TRUE(contains(result.err, "not '" + std::string{value} + "'")) << result.err;
      EXPECT_EQ(result.out, "");
    }
  };
  for (const char* verb : {"run", "train"}) {
    for (const char* option : {"--memory", "--buffers", "--instructions"})
      refuses(verb, option, {"-1", "", "1.5", "0x10", "many", "+1", "99999999999999999999"});
    // As many MiB as are no number of bytes.
    for (const char* option : {"--memory", "--buffers"}) refuses(verb, option, {"17592186044416"});
    refuses(verb, "--time-limit", {"-1", "", "nan", "inf", "1e999", "1e300", "1e-300", "soon"});
  }
  refuses("train", "--epochs", {"0", "-1", "1e3", "99999999999999999999"});
  refuses("observe", "--interval", {"-1", "nan", "inf", "1e999", "1e-9"});
}

TEST_F(Usage, the_largest_limits_and_those_in_usual_spelling_are_taken) {
  EXPECT_EQ(on_cpu({"run", "-e", "x = 1", "--memory", "17592186044415", "--buffers", "0",
                    "--instructions", "18446744073709551615", "--time-limit", "1e9"})
                .exit_code,
            0);
  EXPECT_EQ(on_cpu({"run", "-e", "x = 1", "--memory", "010", "--time-limit", "5"}).exit_code, 0);
}

TEST_F(Usage, a_page_of_all_is_not_one_of_them) {
  EXPECT_EQ(stoker_command({"kernels", "add", "--markdown"}).exit_code, 2);
  EXPECT_EQ(stoker_command({"layers", "dense", "--markdown"}).exit_code, 2);
}

TEST_F(Usage, a_misspelt_verb_is_told_with_the_one_that_was_meant) {
  EXPECT_TRUE(contains(stoker_command({"kernel"}).err, "did you mean 'kernels'?"));
  EXPECT_TRUE(contains(stoker_command({"trian", "x.lua"}).err, "did you mean 'train'?"));
}

TEST_F(Usage, a_misspelt_option_is_told_with_the_one_that_was_meant) {
  const auto refusal = [](const std::vector<std::string>& words) {
    const CommandResult result = stoker_command(words);
    EXPECT_EQ(result.exit_code, 2);
    return result.err;
  };
  EXPECT_TRUE(contains(refusal({"run", "--devise", "cpu", "-e", "print(1)"}),
                       "stoker run has no option '--devise'; did you mean '--device'?"));
  EXPECT_TRUE(contains(refusal({"train", "t.lua", "--epoch=3"}), "did you mean '--epochs'?"));
  EXPECT_TRUE(contains(refusal({"devices", "--jsn"}), "did you mean '--json'?"));
  // The value of an option is none.
  EXPECT_TRUE(contains(refusal({"run", "-e", "--x", "--devise", "cpu"}), "no option '--devise'"));
}

TEST_F(Usage, each_verb_has_help_of_its_own) {
  for (const std::string& verb : verbs) {
    const CommandResult help = stoker_command({verb, "--help"});
    EXPECT_EQ(help.exit_code, 0) << verb;
    EXPECT_FALSE(contains(help.out, "Exit codes:")) << verb << " shows the command's help";
  }
}

TEST_F(Usage, a_verb_whose_program_is_missing_says_where_it_should_be) {
  // The command alone, in a folder of its own.
  const char* const alone = R"(cp -f "$1" alone && shift && ./alone "$@")";
  for (const std::string verb : {"train", "ops", "layers"}) {
    const CommandResult text = stoker_command_in({directory, {}, alone}, {verb, "--quiet"});
    EXPECT_EQ(text.exit_code, 3) << verb;
    EXPECT_TRUE(contains(text.err, "there is no stoker-" + verb + " beside this program"));
    EXPECT_TRUE(contains(text.err, (directory / ("stoker-" + verb)).string())) << text.err;
    const CommandResult as_json = stoker_command_in({directory, {}, alone}, {verb, "--json"});
    EXPECT_EQ(parsed(as_json)["error"]["code"], "not_found");
    // The rest of the command does not need it.
    EXPECT_EQ(stoker_command_in({directory, {}, alone}, {"--help"}).exit_code, 0);
  }
}

TEST_F(Usage, a_script_runs_without_the_program_of_models_and_functions_until_it_wants_them) {
  const char* const alone = R"(cp -f "$1" alone && shift && ./alone "$@")";
  const auto run = [&](const std::string& code) {
    return stoker_command_in({directory, {}, alone},
                             {"run", "--device", "cpu", "--quiet", "-e", code});
  };
  EXPECT_EQ(run("local nn = 4 print(nn)").out, "4\n");
  const CommandResult refused = run("print(1) nn.load('m.safetensors')");
  EXPECT_EQ(refused.out, "1\n");
  EXPECT_EQ(refused.exit_code, 1);
  EXPECT_TRUE(contains(refused.err, "need the program stoker-run beside this one")) << refused.err;
  for (const char* const code : {"zeros{shape = {2}}", "print(buffer{1}:zeros_like())"}) {
    const CommandResult missing = run(code);
    EXPECT_TRUE(contains(missing.err, "need the program stoker-run"))
        << code << ": " << missing.err;
  }
  EXPECT_FALSE(contains(run("matmul(1)").err, "need the program stoker-run"));
}

TEST_F(Usage, a_verb_whose_program_is_in_libexec_is_found) {
  const char* const installed = R"(mkdir -p bin libexec/stoker && cp "$1" bin/stoker &&
      cp "$(dirname "$1")/stoker-ops" libexec/stoker/ && shift && bin/stoker "$@")";
  const CommandResult listed = stoker_command_in({directory, {}, installed}, {"ops", "--json"});
  EXPECT_EQ(listed.exit_code, 0) << listed.err;
  EXPECT_FALSE(parsed(listed)["ops"].empty());
}

TEST_F(Usage, help_and_manual_know_every_verb_and_every_setting) {
  const std::string help = stoker_command({"--help"}).out;
  const std::string manual = file_text("docs/command.md");
  for (const std::string& verb : verbs) {
    EXPECT_TRUE(contains(help, "\n  " + verb + " ")) << verb;
    EXPECT_TRUE(contains(manual, "\nstoker " + verb)) << verb;
  }
  for (const Setting& setting : settings()) {
    EXPECT_TRUE(contains(help, setting.name)) << setting.name;
    EXPECT_TRUE(contains(manual, "| `" + std::string{setting.name} + "` |")) << setting.name;
  }
}

TEST_F(Usage, a_misspelt_setting_is_told) {
  const CommandResult result =
      on_cpu({"run", "-e", "print(1)", "--quiet"}, R"(STOKER_THREAD=2 STOKER_LOG=loud exec "$@")");
  EXPECT_EQ(result.out, "1\n");
  EXPECT_TRUE(contains(result.err, "name=STOKER_THREAD did_you_mean=STOKER_THREADS"));
  EXPECT_TRUE(contains(result.err, "loud"));
}

TEST_F(Usage, output_that_does_not_arrive_is_a_failure) {
  const std::vector<std::vector<std::string>> commands = {
      {"--help"},
      {"--version"},
      {"devices"},
      {"kernels", "--json"},
      {"ops"},
      {"run", "--help"},
      {"observe", "--device", "cpu", "--interval", "0.01"}};  // which would go on for ever
  for (const char* shell : {R"(exec "$@" >/dev/full)", R"(exec "$@" >&-)"}) {
    for (const auto& words : commands) {
      const CommandResult result = stoker_command_in({directory, {}, shell}, words);
      EXPECT_EQ(result.exit_code, 1) << words[0] << ' ' << shell;
      EXPECT_TRUE(contains(result.err, "standard output could not be written")) << result.err;
    }
    for (const char* option : {"--quiet", "--json"})
      EXPECT_EQ(on_cpu({"run", "-e", "print(1)", option}, shell).exit_code, 1) << option;
    // What failed by itself answers as ever, and who printed nothing has lost nothing.
    EXPECT_EQ(on_cpu({"run", "-e", "while true do end", "--instructions", "1000"}, shell).exit_code,
              4);
    EXPECT_EQ(on_cpu({"run", "-e", "x = 1", "--quiet"}, shell).exit_code, 0);
  }
}

TEST_F(Usage, a_closed_stream_is_not_given_to_a_file) {
  const CommandResult result =
      on_cpu({"run", "-e", "print('mine')", "--trace", "t.json"}, R"(exec "$@" >&-)");
  EXPECT_EQ(result.exit_code, 1);
  std::ifstream file{directory / "t.json"};
  const std::string trace{std::istreambuf_iterator<char>{file}, {}};
  EXPECT_FALSE(contains(trace, "mine"));
  EXPECT_EQ(on_cpu({"run", "-", "--quiet"}, R"(exec "$@" <&-)").exit_code, 0);  // an empty script
}

TEST_F(Usage, a_failure_of_a_script_is_told_once) {
  const auto count = [](const std::string& text, const std::string& part) {
    std::size_t found = 0;
    for (std::size_t at = 0; (at = text.find(part, at)) != std::string::npos; ++at) ++found;
    return found;
  };
  for (const char* verb : {"run", "train"}) {
    write("bad.lua", "local x = nothing.here");
    const CommandResult plain = on_cpu({verb, "bad.lua"});
    EXPECT_EQ(count(plain.err, "attempt to index"), 1U) << plain.err;
    EXPECT_FALSE(contains(plain.err, "supervisor")) << plain.err;
    EXPECT_EQ(on_cpu({verb, "bad.lua", "--json"}).err, "");
    EXPECT_EQ(count(on_cpu({verb, "bad.lua", "--quiet"}).err, "attempt to index"), 1U);
  }
}

TEST_F(Usage, nothing_of_a_script_is_obeyed_by_a_terminal) {
  for (const char* code : {"error('\\27]0;owned\\7')", "local s = '\\27[2J' nothing.here(s)",
                           "image.load('\\27[2J.png')", "warn('\\27[2J')", "kernels['\\27[2J']()",
                           "buffer({1}, {dtype = '\\27[2J'})", "x = {'\\27[2J'} error(x)"}) {
    const CommandResult result = on_cpu({"run", "-e", code});
    EXPECT_EQ((result.out + result.err).find('\033'), std::string::npos) << code;
  }
  EXPECT_TRUE(contains(on_cpu({"run", "-e", "error('\\27[2J')"}).err, "\\x1b[2J"));
  // Bytes that a program reads are the script's own.
  EXPECT_EQ(on_cpu({"run", "-e", "print('\\27[1m')", "--quiet"}).out, "\033[1m\n");
}

TEST_F(Usage, each_family_of_kernels_is_one_group) {
  std::set<std::string> spelt;
  std::set<std::string> meant;
  const nlohmann::json answer = parsed(stoker_command({"kernels", "--json"}));
  for (const auto& kernel : answer["kernels"]) {
    auto family = kernel["family"].get<std::string>();
    spelt.insert(family);
    std::erase_if(family, [](char c) { return c == '_' || c == ' ' || c == '-'; });
    meant.insert(family);
  }
  EXPECT_EQ(spelt.size(), meant.size());
}

TEST_F(Usage, arguments_of_any_kind_end_with_an_answer) {
  const std::vector<std::string> strange = {
      "",    "-",    "\xff\xfe", std::string(100000, 'x'), "/", "/dev/null", "=",
      "a=b", "%s%n", "\033[2J"};
  for (const std::string& verb : verbs) {
    if (verb == "bench") continue;  // another program
    for (const std::string& argument : strange) {
      const CommandResult result = stoker_command({verb, argument, "--json"}, directory);
      EXPECT_LT(result.exit_code, 5) << verb << ' ' << argument.substr(0, 20);
      EXPECT_FALSE(nlohmann::json::parse(result.out, nullptr, false).is_discarded())
          << verb << ' ' << argument.substr(0, 20) << result.out << result.err;
    }
  }
}

TEST_F(Usage, a_home_that_cannot_be_written_is_no_obstacle) {
  for (const char* shell : {R"(env -u HOME -u XDG_CACHE_HOME -u STOKER_CACHE_DIR "$@")",
                            R"(HOME=/proc/nowhere XDG_CACHE_HOME= exec "$@")",
                            R"(STOKER_CACHE_DIR=/dev/null exec "$@")"})
    EXPECT_EQ(on_cpu({"run", "-e", "print(relu(buffer{1}))", "--quiet"}, shell).out,
              "f32[1]\n[1]\n");
}

}  // namespace
}  // namespace stoker
