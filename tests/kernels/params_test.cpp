#include "stoker/kernels/params.hpp"

#include <gtest/gtest.h>

#include <clocale>
#include <limits>

namespace stoker {
namespace {

const std::vector<ParamSpec> schema{
    {.name = "radius",
     .type = ParamType::integer,
     .fallback = std::int64_t{1},
     .doc = "",
     .min = 0,
     .max = 64},
    {.name = "sigma", .type = ParamType::real, .fallback = -1.0, .doc = "", .min = 0},
    {.name = "border",
     .type = ParamType::text,
     .fallback = std::string{"replicate"},
     .doc = "",
     .choices = {"replicate", "reflect"}},
    {.name = "axes",
     .type = ParamType::integers,
     .fallback = std::vector<std::int64_t>{},
     .doc = "",
     .min = -8,
     .max = 7},
    {.name = "keep", .type = ParamType::boolean, .fallback = false, .doc = ""},
};

Result<ParamSet> resolve(const Params& given) { return ParamSet::resolve("blur", schema, given); }

Error failure(const Params& given) {
  const auto set = resolve(given);
  EXPECT_TRUE(set.has_error());
  return set.has_error() ? set.error() : Error{};
}

TEST(Params, what_is_not_given_has_its_default) {
  const ParamSet set = resolve({}).value();
  EXPECT_EQ(set.integer("radius"), 1);
  EXPECT_EQ(set.text("border"), "replicate");
  EXPECT_TRUE(set.integers("axes").empty());
  EXPECT_FALSE(set.flag("keep"));
}

TEST(Params, a_default_may_lie_outside_the_range_to_mean_not_given) {
  EXPECT_EQ(resolve({}).value().real("sigma"), -1.0);
  EXPECT_TRUE(resolve({{"sigma", -1.0}}).has_value());
  EXPECT_EQ(failure({{"sigma", -2.0}}).code(), ErrorCode::invalid_parameter);
}

TEST(Params, an_integer_stands_for_a_real_and_for_a_list_of_one) {
  const ParamSet set = resolve({{"sigma", 2}, {"axes", 1}}).value();
  EXPECT_EQ(set.real("sigma"), 2.0);
  EXPECT_EQ(set.integers("axes"), std::vector<std::int64_t>{1});
}

TEST(Params, a_real_stands_for_an_integer_only_if_it_is_whole) {
  EXPECT_EQ(resolve({{"radius", 3.0}}).value().integer("radius"), 3);
  EXPECT_EQ(failure({{"radius", 2.5}}).code(), ErrorCode::invalid_parameter);
  EXPECT_EQ(failure({{"radius", 1e300}}).code(), ErrorCode::invalid_parameter);
}

TEST(Params, a_value_out_of_range_is_named_with_what_was_expected) {
  const Error error = failure({{"radius", 65}});
  EXPECT_EQ(error.code(), ErrorCode::invalid_parameter);
  EXPECT_EQ(error.op(), "blur");
  EXPECT_EQ(error.detail("parameter"), "radius");
  EXPECT_EQ(error.detail("expected"), "integer from 0 to 64");
  EXPECT_EQ(error.detail("got"), "65");
}

TEST(Params, every_element_of_a_list_must_lie_in_the_range) {
  EXPECT_TRUE(resolve({{"axes", {0, -8}}}).has_value());
  EXPECT_EQ(failure({{"axes", {0, 8}}}).detail("got"), "[0,8]");
}

TEST(Params, a_nan_lies_in_no_range) {
  EXPECT_TRUE(resolve({{"sigma", std::numeric_limits<double>::quiet_NaN()}}).has_error());
}

TEST(Params, text_must_be_one_of_the_choices) {
  EXPECT_EQ(failure({{"border", "mirror"}}).detail("expected"), "one of replicate, reflect");
}

TEST(Params, another_type_is_refused) {
  EXPECT_TRUE(resolve({{"keep", 1}}).has_error());
  EXPECT_TRUE(resolve({{"radius", true}}).has_error());
  EXPECT_TRUE(resolve({{"border", 1}}).has_error());
}

TEST(Params, an_unknown_name_suggests_the_nearest) {
  const Error error = failure({{"raduis", 1}});
  EXPECT_EQ(error.detail("nearest"), "radius");
  EXPECT_EQ(error.detail("known"), "radius, sigma, border, axes, keep");
}

TEST(Params, a_name_given_twice_is_refused) {
  EXPECT_TRUE(resolve({{"radius", 1}, {"radius", 2}}).has_error());
}

TEST(Params, a_parameter_without_default_must_be_given) {
  const std::vector<ParamSpec> strict{
      {.name = "shape", .type = ParamType::integers, .fallback = {}, .doc = ""}};
  EXPECT_EQ(ParamSet::resolve("fill", strict, {}).error().detail("parameter"), "shape");
}

TEST(Params, equal_sets_have_equal_hashes) {
  const ParamSet a = resolve({{"radius", 2}, {"axes", {1, 2}}}).value();
  const ParamSet b = resolve({{"axes", {1, 2}}, {"radius", 2.0}}).value();
  EXPECT_EQ(a, b);
  EXPECT_EQ(a.hash(), b.hash());
  EXPECT_FALSE(a == resolve({{"radius", 3}}).value());
}

TEST(Params, zero_and_negative_zero_differ_and_a_nan_equals_itself) {
  const std::vector<ParamSpec> one{
      {.name = "value", .type = ParamType::real, .fallback = 0.0, .doc = ""}};
  const auto set = [&](double value) {
    return ParamSet::resolve("fill", one, {{"value", value}}).value();
  };
  EXPECT_FALSE(set(0.0) == set(-0.0));
  EXPECT_EQ(set(std::numeric_limits<double>::quiet_NaN()),
            set(std::numeric_limits<double>::quiet_NaN()));
}

TEST(Params, reading_what_is_not_declared_throws) {
  const ParamSet set = resolve({}).value();
  EXPECT_THROW((void)set.integer("nothing"), Error);
  EXPECT_THROW((void)set.integer("border"), Error);
  EXPECT_THROW((void)ParamSet{}.flag("keep"), Error);
}

TEST(Params, values_print_as_people_write_them) {
  EXPECT_EQ(to_string(ParamValue{0.1}), "0.1");
  EXPECT_EQ(to_string(ParamValue{0.1 + 0.2}), "0.30000000000000004");
  EXPECT_EQ(to_string(ParamValue{std::string{"a"}}), "\"a\"");
  EXPECT_EQ(to_string(ParamValue{std::vector<std::int64_t>{1, -2}}), "[1,-2]");
  EXPECT_EQ(to_string(ParamValue{true}), "true");
}

TEST(Params, values_print_the_same_in_every_locale) {
  if (std::setlocale(LC_NUMERIC, "de_DE.UTF-8") == nullptr)
    GTEST_SKIP() << "this machine has no locale with a decimal comma";
  const std::string text = to_string(ParamValue{0.5});
  std::setlocale(LC_NUMERIC, "C");
  EXPECT_EQ(text, "0.5");
}

}  // namespace
}  // namespace stoker
