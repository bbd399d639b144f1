#include <gtest/gtest.h>

#include "stoker/pipeline/kernel_graph/text_form.hpp"

namespace stoker {
namespace {

TEST(StageText, names_kernel_inputs_and_outputs) {
  const StageText stage = parse_stage("overlay : photo, mark : out ").value();
  EXPECT_EQ(stage.kernel, "overlay");
  EXPECT_EQ(stage.inputs, (std::vector<std::string>{"photo", "mark"}));
  EXPECT_EQ(stage.outputs, (std::vector<std::string>{"out"}));
  EXPECT_TRUE(stage.params.empty());
}

TEST(StageText, may_have_no_inputs) { EXPECT_TRUE(parse_stage("fill::x").value().inputs.empty()); }

TEST(StageText, carries_parameters_of_every_type) {
  const StageText stage = parse_stage("k:a:b?n=3&s=1.5&on=true&axes=[0, -1]&mode=bicubic").value();
  EXPECT_EQ(std::get<std::int64_t>(*stage.params.find("n")), 3);
  EXPECT_EQ(std::get<double>(*stage.params.find("s")), 1.5);
  EXPECT_EQ(std::get<bool>(*stage.params.find("on")), true);
  EXPECT_EQ(std::get<std::vector<std::int64_t>>(*stage.params.find("axes")),
            (std::vector<std::int64_t>{0, -1}));
  EXPECT_EQ(std::get<std::string>(*stage.params.find("mode")), "bicubic");
}

TEST(StageText, is_refused_with_the_expected_form) {
  for (const char* text : {"", "relu", "relu:a", "relu:a:b:c", ":a:b", "relu:a,,b:c",
                           "relu:a:", "relu:a:b?x", "relu:a:b?=1"}) {
    const auto stage = parse_stage(text);
    ASSERT_FALSE(stage) << text;
    EXPECT_EQ(stage.error().code(), ErrorCode::invalid_argument);
    EXPECT_EQ(stage.error().detail("got"), text);
  }
}

}  // namespace
}  // namespace stoker
