// `stoker onnx test` on cases of the ONNX standard and on networks, with outputs that others computed. The tree holds a
// selection (tests/onnx/cases/README.md). STOKER_ONNX_CASES names a folder with all cases, STOKER_BENCH_MODELS one with
// more networks.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <set>
#include <sstream>

#include "process.hpp"
#include "stoker/api/onnx/core/operator.hpp"
#include "stoker/tests/checkout/checkout.hpp"

namespace stoker {
namespace {

namespace fs = std::filesystem;

const fs::path selection = build_folder() / "onnx_cases";

CommandResult run_cases(const fs::path& folder, const std::string& device,
                        const std::vector<std::string>& more = {}) {
  std::vector<std::string> words{"onnx", "test", folder.string(), "--device", device};
  words.insert(words.end(), more.begin(), more.end());
  return stoker_command(words);
}

/// The cases that do not pass, and a part of the reason.
const std::map<std::string, std::string>& known_failures() {
  // These declare an operand of another shape than they give.
  const std::string one = "[3,4], came ";
  // These were written with an attribute of a later version, and stored without it.
  const std::string resized = "instead of";
  const std::string no_decoder = "uint8[0,0,0] instead of uint8[32,32,3]";
  static const std::map<std::string, std::string> known{
      {"test_castlike_BFLOAT16_to_FLOAT__v15", one},
      {"test_castlike_BFLOAT16_to_FLOAT__v19", one},
      {"test_castlike_FLOAT_to_BFLOAT16__v15", one},
      {"test_castlike_FLOAT_to_BFLOAT16__v19", one},
      {"test_gradient_of_add_and_mul", "there is no such operator"},
      {"test_image_decoder_decode_tiff_rgb", no_decoder},
      {"test_image_decoder_decode_webp_rgb", no_decoder},
      {"test_resize_upsample_sizes_nearest_floor_align_corners__v11", resized},
      {"test_resize_upsample_sizes_nearest_round_prefer_ceil_asymmetric__v11", resized},
  };
  return known;
}

/// Each case passes, or fails as it is known to; all those are there.
void expect_known(const fs::path& folder, const std::string& device, std::size_t least_cases) {
  const auto all = parsed(run_cases(folder, device, {"--json"}));
  std::set<std::string> failing;
  for (const auto& one : all["cases"]) {
    if (one["outcome"] == "pass") continue;
    const auto name = one["case"].get<std::string>();
    // GPUs divide less exactly, which is a step where a quotient is near a half.
    if (device != "cpu" && name.starts_with("test_dynamicquantizelinear") &&
        one["outcome"] == "fail")
      continue;
    const auto known = known_failures().find(name);
    ASSERT_TRUE(known != known_failures().end()) << one.dump();
    EXPECT_TRUE(contains(one["why"].get<std::string>(), known->second)) << one.dump();
    failing.insert(name);
  }
  EXPECT_EQ(failing.size(), known_failures().size()) << "some pass now: the list and the guide";
  EXPECT_GE(all["cases"].size(), least_cases);
}

/// Of one operator in models of one opset.
struct Count {
  int passed = 0;
  int all = 0;
};
using Table = std::map<std::string, std::map<int, Count>>;

/// The rows "| Abs | 6: 1/1 9: 1/1 |" of a table in Markdown.
Table table_in(const std::string& text) {
  Table table;
  std::istringstream lines{text.substr(text.find("| operator | opset"))};
  std::string line;
  std::getline(lines, line);
  std::getline(lines, line);
  while (std::getline(lines, line) && line.starts_with("| ")) {
    const std::size_t end = line.find(" | ", 2);
    std::istringstream counts{line.substr(end + 3)};
    int opset = 0;
    Count count;
    char sign = 0;
    while (counts >> opset >> sign >> count.passed >> sign >> count.all)
      table[line.substr(2, end - 2)][opset] = count;
  }
  return table;
}

std::string guide() {
  const std::ifstream file{checkout_folder() / "docs/onnx.md"};
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

const char* folder_in(const char* variable) {
  return std::getenv(variable);  // NOLINT(concurrency-mt-unsafe)
}

TEST(OnnxCases, of_each_operator_pass_on_the_cpu) { expect_known(selection / "cases", "cpu", 420); }
TEST(OnnxCases, of_each_operator_pass_on_vulkan) {
  expect_known(selection / "cases", "vulkan", 420);
}

TEST(OnnxCases, are_counted_in_the_guide) {
  const Table listed = table_in(guide());
  const CommandResult result = run_cases(selection / "cases", "cpu", {"--quiet", "--table"});
  const Table run = table_in(result.out);
  ASSERT_GT(run.size(), 190U) << result.out;
  // The guide counts all cases, the selection has some of each operator and all that do not pass.
  for (const auto& [name, opsets] : listed) EXPECT_TRUE(run.contains(name)) << name;
  for (const auto& [name, opsets] : run)
    for (const auto& [opset, count] : opsets) {
      ASSERT_TRUE(listed.contains(name) && listed.at(name).contains(opset)) << name << ' ' << opset;
      const Count& all = listed.at(name).at(opset);
      EXPECT_EQ(count.all - count.passed, all.all - all.passed) << name << ' ' << opset;
      EXPECT_LE(count.all, all.all) << name << ' ' << opset;
    }
}

TEST(OnnxCases, are_missing_for_the_operators_that_the_guide_names) {
  const Table listed = table_in(guide());
  std::string names;
  for (const auto& definition : onnx::OperatorTable::standard().list())
    if (definition->domain.empty() && !listed.contains(definition->name))
      names += (names.empty() ? "" : ", ") + definition->name;
  std::string text = guide();
  std::ranges::replace(text, '\n', ' ');
  EXPECT_TRUE(contains(text, "The suite has no case of " + names + ". ")) << names;
}

TEST(OnnxCases, all_of_them_give_the_table_of_the_guide) {
  const char* const folder = folder_in("STOKER_ONNX_CASES");
  if (folder == nullptr) GTEST_SKIP() << "STOKER_ONNX_CASES names no folder of cases";
  expect_known(folder, "cpu", 1000);
  const std::string text = guide();
  const std::string table = run_cases(folder, "cpu", {"--quiet", "--table"}).out;
  EXPECT_TRUE(contains(text, table.substr(table.find("| operator | opset")))) << table;
}

TEST(OnnxCases, models_give_their_outputs) {
  for (const char* const level : {"none", "basic", "all"})
    for (const char* const device : {"cpu", "vulkan"}) {
      const CommandResult result = run_cases(selection / "models", device, {"--optimize", level});
      EXPECT_TRUE(contains(result.out, "2 passed, 0 failed, 0 unsupported\n"))
          << level << device << result.out << result.err;
    }
}

TEST(OnnxCases, large_models_give_their_outputs) {
  const char* const folder = folder_in("STOKER_BENCH_MODELS");
  if (folder == nullptr) GTEST_SKIP() << "STOKER_BENCH_MODELS names no folder of models";
  const std::vector<std::string> bounds{"--atol", "1e-4", "--quiet"};
  for (const char* const level : {"none", "basic", "all"}) {
    std::vector<std::string> words = bounds;
    words.insert(words.end(), {"--optimize", level});
    const CommandResult result = run_cases(folder, "cpu", words);
    EXPECT_EQ(result.exit_code, 0) << level << result.out << result.err;
  }
  const CommandResult result = run_cases(folder, "vulkan", bounds);
  EXPECT_EQ(result.exit_code, 0) << result.out << result.err;
}

}  // namespace
}  // namespace stoker
