// What is made from the definitions: the reference pages, the manual page, bash's completion.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <sstream>

#include "process.hpp"
#include "stoker/tests/checkout/checkout.hpp"

namespace stoker {
namespace {

std::string page(const std::string& name) {
  std::ifstream file{checkout_folder() / "docs" / "reference" / name};
  return {std::istreambuf_iterator<char>{file}, {}};
}

/// The verbs that --help lists, each of them.
std::vector<std::string> listed_verbs() {
  std::vector<std::string> verbs;
  std::istringstream lines{stoker_command({"--help"}).out};
  bool is_list = false;
  for (std::string line; std::getline(lines, line);) {
    if (line == "Subcommands:" || line == "SUBCOMMANDS:") is_list = true;
    if (is_list && line.empty()) break;
    if (!is_list || !line.starts_with("  ") || line.starts_with("   ")) continue;
    verbs.push_back(line.substr(2, line.find(' ', 2) - 2));
  }
  return verbs;
}

/// The long options that the help of a verb lists.
std::vector<std::string> options_of(const std::string& verb) {
  std::vector<std::string> options;
  std::istringstream words{stoker_command({verb, "--help"}).out};
  bool is_list = false;
  for (std::string line; std::getline(words, line);) {
    if (line == "Options:" || line == "OPTIONS:") is_list = true;
    if (is_list && line.empty()) break;
    const std::size_t at = line.find("--");
    if (!is_list || !line.starts_with("  -") || at == std::string::npos) continue;
    options.push_back(line.substr(at, line.find_first_of(" ,=", at) - at));
  }
  return options;
}

TEST(Reference, pages_are_what_the_definitions_say) {
  const std::string advice = "docs/reference is out of date: run ./dev docs and commit it";
  EXPECT_EQ(stoker_command({"kernels", "--markdown"}).out, page("kernels.md")) << advice;
  EXPECT_EQ(stoker_command({"ops", "--markdown"}).out, page("ops.md")) << advice;
  EXPECT_EQ(stoker_command({"layers", "--markdown"}).out, page("layers.md")) << advice;
}

TEST(Reference, the_manual_page_has_every_verb_and_option) {
  const std::string manual = stoker_command({"man"}).out;
  EXPECT_TRUE(manual.starts_with(".TH STOKER 1"));
  const auto escaped = [](const std::string& text) {
    std::string roff;
    for (const char c : text) roff += c == '-' ? "\\-" : std::string(1, c);
    return roff;
  };
  ASSERT_EQ(listed_verbs().size(), 12U);
  for (const std::string& verb : listed_verbs()) {
    EXPECT_TRUE(contains(manual, ".SS \"stoker " + verb + "\"")) << verb;
    EXPECT_FALSE(options_of(verb).empty()) << verb;
    for (const std::string& option : options_of(verb))
      EXPECT_TRUE(contains(manual, "\\fB" + escaped(option) + "\\fR")) << verb << ' ' << option;
  }
  EXPECT_TRUE(contains(manual, ".SS \"stoker onnx info\"")) << "a verb below a verb";
  EXPECT_TRUE(contains(manual, "\\fB\\-\\-plan\\fR"));
  for (const char* hidden : {"man", "completion"})
    EXPECT_FALSE(contains(manual, ".SS \"stoker " + std::string{hidden} + "\"")) << hidden;
}

/// What bash would offer after these words, the last of which is being written.
std::string offered(const std::string& words) {
  const std::string ask = "source /dev/stdin; COMP_WORDS=(" + words +
                          "); COMP_CWORD=$((${#COMP_WORDS[@]} - 1)); _stoker; "
                          "echo \"${COMPREPLY[*]}\"";
  return stoker_command_in(
             {.directory = {}, .input = {}, .shell = "\"$@\" | bash -c '" + ask + "'"},
             {"completion"})
      .out;
}

TEST(Reference, bash_completes_verbs_and_options) {
  const std::string script = stoker_command({"completion"}).out;
  for (const std::string& verb : listed_verbs()) {
    EXPECT_TRUE(contains(script, "    " + verb + ")\n")) << verb;
    for (const std::string& option : options_of(verb))
      EXPECT_TRUE(contains(script, option)) << verb << ' ' << option;
  }
  EXPECT_EQ(offered("stoker dev"), "devices\n");
  EXPECT_EQ(offered("stoker run --tra"), "--trace\n");
  EXPECT_EQ(offered("stoker bench --q"), "--quick\n");
  EXPECT_EQ(offered("stoker onnx in"), "info\n");
  EXPECT_EQ(offered("stoker onnx info --pl"), "--plan\n");
  EXPECT_EQ(offered("stoker onnx info --device --pl"), "\n");
  EXPECT_EQ(offered("stoker run --trace --tra"), "\n");  // a file's name, which bash itself offers
}

}  // namespace
}  // namespace stoker
