// Names with options, as text and looked up in tables.
#include "stoker/api/nn/graph/named.hpp"

#include <gtest/gtest.h>

#include "stoker/api/nn/graph/named_table.hpp"
#include "stoker/tests/nn/refused.hpp"

namespace stoker::nn {
namespace {

TEST(NamedText, is_read_with_every_kind_of_value) {
  const Named named{
      "thing( a=true, b = false,c=-3, d=1.5e-3, e=word, f=\"two words\", g=[1, -2] )"};
  EXPECT_EQ(named.name, "thing");
  EXPECT_EQ(std::get<bool>(*named.options.find("a")), true);
  EXPECT_EQ(std::get<bool>(*named.options.find("b")), false);
  EXPECT_EQ(std::get<std::int64_t>(*named.options.find("c")), -3);
  EXPECT_EQ(std::get<double>(*named.options.find("d")), 1.5e-3);
  EXPECT_EQ(std::get<std::string>(*named.options.find("e")), "word");
  EXPECT_EQ(std::get<std::string>(*named.options.find("f")), "two words");
  EXPECT_EQ(std::get<std::vector<std::int64_t>>(*named.options.find("g")),
            (std::vector<std::int64_t>{1, -2}));
  EXPECT_EQ(Named{"relu"}.name, "relu");
  EXPECT_TRUE(Named{"f()"}.options.empty());
  EXPECT_TRUE(Named{""}.empty());
}

TEST(NamedText, read_again_is_the_same) {
  const Named named{"f",
                    {{"x", 2.0}, {"y", "say \"hi\" \\ bye"}, {"z", {3, 4}}, {"t", true}, {"n", 7}}};
  const Named again{named.text()};
  EXPECT_EQ(again.text(), named.text());
  EXPECT_EQ(std::get<double>(*again.options.find("x")), 2.0) << "a whole real stays real";
  EXPECT_EQ(std::get<std::string>(*again.options.find("y")), "say \"hi\" \\ bye");
  EXPECT_EQ(std::get<std::int64_t>(*again.options.find("n")), 7);
}

TEST(NamedText, of_another_form_is_refused_with_its_place) {
  for (const char* const text : {"1name", "f(", "f(a)", "f(a=)", "f(a=1", "f(a=1)b", "f(a=1,,b=2)",
                                 "f(a=[1,x])", "f(a=\"x)", "f(a=1 b=2)"}) {
    const Error error = error_of([&] { return Named{text}; });
    EXPECT_EQ(error.code(), ErrorCode::invalid_argument) << text;
    EXPECT_NE(std::string{error.reason()}.find("at character"), std::string::npos) << text;
  }
}

TEST(NamedText, with_an_option_twice_is_refused) {
  const Error error = error_of([] { return Named{"dense(units=4, units=8)"}; });
  EXPECT_EQ(error.code(), ErrorCode::invalid_parameter);
  EXPECT_EQ(error.reason(), "units is given twice in 'dense(units=4, units=8)'");
}

TEST(NamedTables, make_what_was_asked_for_and_say_what_is_near) {
  const NamedTable<double> table{
      "number",
      {{{"twice",
         "two times something",
         {{.name = "of", .type = ParamType::real, .fallback = 1.5, .doc = "what"}}},
        [](const ParamSet& options) { return 2 * options.real("of"); }}}};
  EXPECT_EQ(table.make("twice"), 3);
  EXPECT_EQ(table.make("twice(of=4)"), 8) << "an integer is a real";
  const Error unknown = error_of([&] { return table.make("twise"); });
  EXPECT_EQ(unknown.code(), ErrorCode::not_found);
  EXPECT_EQ(unknown.reason(), "there is no number 'twise'; did you mean 'twice'?");
  EXPECT_EQ(error_of([&] { return table.make("twice(off=4)"); }).code(),
            ErrorCode::invalid_parameter);
  EXPECT_EQ(error_of([&] { return table.make("twice(of=word)"); }).code(),
            ErrorCode::invalid_parameter);
}

}  // namespace
}  // namespace stoker::nn
