// Which name is meant by one that does not exist, and when none is.
#include "stoker/runtime/base/nearest_name.hpp"

#include <gtest/gtest.h>

#include <array>
#include <string>
#include <vector>

namespace stoker {
namespace {

constexpr std::array<std::string_view, 6> names{"train", "tan",  "dense",
                                                "relu",  "conv", "gaussian_blur"};

TEST(NearestName, has_the_fewest_edits) {
  EXPECT_EQ(nearest_name("trani", names), "train") << "two neighbours exchanged are one edit";
  EXPECT_EQ(nearest_name("densse", names), "dense");
  EXPECT_EQ(nearest_name("gausian_blurr", names), "gaussian_blur");
  EXPECT_EQ(nearest_name("tn", names), "tan");
}

TEST(NearestName, is_none_where_more_than_a_third_differs) {
  for (const std::string_view far :
       {"", "x", "foo", "node", "rule", "transformer", "dropout", "gauss", "sense_of"})
    EXPECT_EQ(nearest_name(far, names), std::nullopt) << far;
  EXPECT_EQ(nearest_name(std::string(65, 'a'), std::array<std::string_view, 1>{"a"}), std::nullopt);
}

/// Without a look at the lengths first this takes hours.
TEST(NearestName, is_not_looked_for_in_names_that_are_too_long) {
  const std::string book(std::size_t{1} << 24, 'a');
  const std::vector<std::string_view> library(10'000, book);
  EXPECT_EQ(nearest_name(std::string(64, 'a'), library), std::nullopt);
}

TEST(NearestName, of_equal_ones_begins_most_alike_or_is_the_first) {
  const std::array<std::string_view, 2> alike{"cat", "cut"};
  EXPECT_EQ(nearest_name("cot", alike), "cat");
  const std::array<std::string_view, 2> both{"cond", "conv"};
  EXPECT_EQ(nearest_name("conv2d", both), "conv");
}

TEST(DidYouMean, is_a_part_of_a_sentence_or_nothing) {
  EXPECT_EQ(did_you_mean("rellu", names), "; did you mean 'relu'?");
  EXPECT_EQ(did_you_mean("transformer", names), "");
}

}  // namespace
}  // namespace stoker
