// `stoker layers`: what models are made of and trained with, with every option.
#include <gtest/gtest.h>

#include <set>

#include "process.hpp"

namespace stoker {
namespace {

TEST(LayersCommand, lists_every_family) {
  const CommandResult listed = stoker_command({"layers"});
  EXPECT_EQ(listed.exit_code, 0) << listed.err;
  for (const char* line : {"Layers\n", "  conv ", "Activations\n", "  relu ", "Initializers\n",
                           "  he_normal ", "Losses\n", "  huber ", "Metrics\n", "  accuracy ",
                           "Optimizers\n", "  adam ", "Schedules\n", "  cosine_decay "})
    EXPECT_TRUE(contains(listed.out, line)) << line;
}

TEST(LayersCommand, describes_one_with_its_options) {
  const CommandResult conv = stoker_command({"layers", "conv"});
  EXPECT_TRUE(conv.out.starts_with("conv, a layer\n")) << conv.out;
  EXPECT_TRUE(contains(conv.out, "Inputs: 1\n"));
  EXPECT_TRUE(contains(conv.out, "units           integer   required; 1 ≤ it\n")) << conv.out;
  EXPECT_TRUE(contains(conv.out, "default \"valid\"; valid | same\n")) << conv.out;
}

TEST(LayersCommand, describes_all_that_have_the_name) {
  const auto found = parsed(stoker_command({"layers", "mean_absolute_error", "--json"}));
  EXPECT_EQ(found["losses"][0]["name"], "mean_absolute_error");
  EXPECT_EQ(found["metrics"][0]["name"], "mean_absolute_error");
  EXPECT_EQ(found.size(), 2U);
}

TEST(LayersCommand, says_of_each_what_it_is_and_of_each_option_what_it_means) {
  const auto all = parsed(stoker_command({"layers", "--json"}));
  for (const char* family : {"layers", "activations", "initializers", "losses", "metrics",
                             "optimizers", "schedules", "loss_scales", "precisions"}) {
    EXPECT_FALSE(all[family].empty()) << family;
    for (const auto& kind : all[family]) {
      EXPECT_FALSE(kind["summary"].get<std::string>().empty()) << kind["name"];
      for (const auto& option : kind["options"]) {
        const auto text = option["doc"].get<std::string>();
        EXPECT_FALSE(text.empty() || text.starts_with("see ")) << kind["name"] << option["name"];
      }
    }
  }
}

TEST(LayersCommand, knows_the_nearest_name_or_none) {
  const CommandResult near = stoker_command({"layers", "adamm"});
  EXPECT_EQ(near.exit_code, 3);
  EXPECT_TRUE(contains(near.err, "'adamm'; did you mean 'adam'?")) << near.err;
  const CommandResult far = stoker_command({"layers", "transformer"});
  EXPECT_EQ(far.exit_code, 3);
  EXPECT_FALSE(contains(far.err, "did you mean")) << far.err;
}

}  // namespace
}  // namespace stoker
