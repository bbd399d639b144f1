// The instruction sets do not leak: a processor without AVX runs everything but the objects that are
// entered only after it was asked. See cmake/cpu_kernels.cmake.
//
// What is looked at is what the build made. A build of all sets (packages, --all-isas) looks at the objects of v3
// and v4 and chooses between three sets. A build for one's own machine looks at the objects that it has: v3
// on a machine with AVX2, both on one with AVX-512, none on an older one or under sanitizers, where nothing
// is separated. How a set is chosen, also where none fits, is tested everywhere with sets that are made up.
#include <gtest/gtest.h>

#include <array>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>
#include <sstream>
#include <string>
#include <vector>

#include "stoker/kernels/instruction_set.hpp"
#include "stoker/kernels/kernel.hpp"
#include "stoker/tests/checkout/checkout.hpp"

namespace stoker {
namespace {

std::vector<std::string> words(const std::string& text) {
  std::istringstream stream{text};
  return {std::istream_iterator<std::string>{stream}, {}};
}
/// The sets that this build serves, ascending, and those whose objects are separated.
const std::vector<std::string> served = words(STOKER_SERVED_ISAS);
const std::vector<std::string> separated = words(STOKER_SEPARATED_ISAS);

/// Calls `use` with every line that a command prints; false if it failed.
template <class Use> bool for_each_line(const std::string& command, Use&& use) {
  FILE* const pipe = ::popen(command.c_str(), "r");
  if (!pipe) return false;
  std::array<char, 4096> line{};
  while (std::fgets(line.data(), line.size(), pipe)) use(std::string_view{line.data()});
  return ::pclose(pipe) == 0;
}

/// An instruction that x86-64's baseline lacks: VEX or EVEX encoded, or one of BMI's and FMA's.
bool is_newer(std::string_view line) {
  // "  401000:\tvaddps %ymm0,%ymm1,%ymm2": the mnemonic stands between the first tab and a space.
  const std::size_t tab = line.find('\t');
  if (tab == line.npos) return false;
  const std::string_view code = line.substr(tab + 1);
  const std::string_view mnemonic = code.substr(0, code.find_first_of(" \n"));
  if (code.find("%ymm") != code.npos || code.find("%zmm") != code.npos) return true;
  if (mnemonic.starts_with('v') && code.find("%xmm") != code.npos) return true;
  for (const char* newer : {"andn", "bextr", "blsr", "blsi", "blsmsk", "bzhi", "mulx", "pdep",
                            "pext", "rorx", "sarx", "shlx", "shrx", "lzcnt"})
    if (mnemonic == newer) return true;
  return false;
}

TEST(InstructionSets, baseline_objects_hold_no_newer_instruction) {
  const auto list = build_folder() / "baseline_objects.txt";
  if (separated.empty()) return;  // all of the program is compiled alike
  ASSERT_TRUE(std::filesystem::exists(list));
  std::string file;
  std::string function;
  std::size_t lines = 0;
  std::size_t found = 0;
  const bool ran = for_each_line("xargs objdump -d --no-show-raw-insn < " + list.string(),
                                 [&](std::string_view line) {
                                   ++lines;
                                   if (line.find("file format") != line.npos) file = line;
                                   if (line.ends_with(">:\n")) function = line;
                                   if (is_newer(line) && ++found < 10)
                                     ADD_FAILURE() << file << function << line;
                                 });
  EXPECT_TRUE(ran);
  EXPECT_GT(lines, 10000U);
  EXPECT_EQ(found, 0U);
}

TEST(InstructionSets, newer_objects_show_the_linker_their_entry_only) {
  for (const std::string& isa : separated) {
    const auto object = build_folder() / ("cpu_" + isa + ".o");
    std::vector<std::string> visible;
    ASSERT_TRUE(for_each_line(
        "nm --defined-only --extern-only -j " + object.string(),
        [&](std::string_view line) { visible.emplace_back(line.substr(0, line.size() - 1)); }));
    EXPECT_EQ(visible, std::vector<std::string>{"stoker_cpu_table_" + isa});
  }
}

TEST(InstructionSets, newer_objects_do_hold_newer_instructions) {
  for (const std::string& isa : separated) {
    std::size_t found = 0;
    ASSERT_TRUE(for_each_line("objdump -d --no-show-raw-insn " +
                                  (build_folder() / ("cpu_" + isa + ".o")).string() +
                                  " | head -n 50000",
                              [&](std::string_view line) { found += is_newer(line); }));
    EXPECT_GT(found, 100U) << "or the search above finds nothing at all in " << isa;
  }
}

constexpr auto absent = []() noexcept { return false; };
constexpr auto present = []() noexcept { return true; };

TEST(InstructionSets, the_best_that_the_processor_has_is_chosen) {
  const std::array sets{InstructionSet{"v1", "x86-64-v1", nullptr, present, true},
                        InstructionSet{"v3", "x86-64-v3", nullptr, present, true},
                        InstructionSet{"v4", "x86-64-v4", nullptr, absent, true}};
  EXPECT_EQ(choose_instruction_set(sets, ""), &sets[1]);
  EXPECT_EQ(choose_instruction_set(sets, "v1"), &sets[0]);
  EXPECT_EQ(choose_instruction_set(sets, "x86-64-v1"), &sets[0]);
  EXPECT_EQ(choose_instruction_set(sets, "v4"), &sets[1]);
  EXPECT_EQ(choose_instruction_set(sets, "nonsense"), &sets[1]);
}

TEST(InstructionSets, one_that_lacks_kernels_is_never_chosen) {
  std::array sets{InstructionSet{"v3", "x86-64-v3", nullptr, present, false},
                  InstructionSet{"v4", "x86-64-v4", nullptr, present, true}};
  EXPECT_EQ(choose_instruction_set(sets, "v3"), &sets[1]);
  sets[1].present = absent;
  EXPECT_EQ(choose_instruction_set(sets, "v3"), nullptr);
}

TEST(InstructionSets, a_program_for_newer_processors_says_what_it_needs) {
  const std::array sets{InstructionSet{"v3", "x86-64-v3", nullptr, present, false},
                        InstructionSet{"v4", "x86-64-v4", nullptr, absent, true}};
  EXPECT_EQ(choose_instruction_set(sets, ""), nullptr);
  const Error error = no_instruction_set("sobel", sets);
  EXPECT_EQ(error.code(), ErrorCode::unsupported);
  EXPECT_EQ(error.op(), "sobel");
  EXPECT_EQ(error.detail("needs"), "x86-64-v4");
  EXPECT_NE(error.reason().find("STOKER_CPU_VARIANTS=all"), std::string_view::npos);
}

/// The test below also runs this one in processes of its own: the choice is made once.
TEST(InstructionSets, one_is_chosen) {
  std::printf("chosen %s\n", std::string{cpu_isa()}.c_str());
  EXPECT_NE(cpu_isa(), "none");
}

std::string choice_with(const std::string& environment) {
  const auto self = std::filesystem::read_symlink("/proc/self/exe").string();
  std::string chosen;
  for_each_line(environment + " " + self + " --gtest_filter=InstructionSets.one_is_chosen",
                [&](std::string_view line) {
                  if (line.starts_with("chosen ")) chosen = line.substr(7, line.size() - 8);
                });
  return chosen;
}

TEST(InstructionSets, the_environment_may_choose_a_lower_one) {
  // In a build of one set that is the one that would be taken anyway.
  EXPECT_TRUE(choice_with("STOKER_ISA=" + served[0]).ends_with("-" + served[0]));
  EXPECT_EQ(choice_with("STOKER_ISA=nonsense"), choice_with("env -u STOKER_ISA"));
}

}  // namespace
}  // namespace stoker
