#include "stoker/tests/script/script_runner.hpp"

namespace stoker {
namespace {

class Slices : public Scripts {
 protected:
  /// Shape and elements of a part of 0 … 11 in three rows.
  [[nodiscard]] std::string part(const std::string& entries) {
    return run("local b = iota{shape = {3, 4}, dtype = 's32'}\n"
               "local p = b:slice" +
               entries +
               "\nprint('[' .. table.concat(p.shape, ',') .. '] ' .. table.concat(read(p), ' '))")
        .text();
  }
  [[nodiscard]] Error refusal(const std::string& entries) {
    return run("local b = iota{shape = {3, 4}}\n\nslice(b, " + entries + ")").error();
  }
};

TEST_F(Slices, take_positions_and_ranges) {
  EXPECT_EQ(part("{1}"), "[4] 4 5 6 7\n");
  EXPECT_EQ(part("{-1, 0}"), "[] 8\n");
  EXPECT_EQ(part("{{}, {1, 3}}"), "[3,2] 1 2 5 6 9 10\n");
  EXPECT_EQ(part("{{1}}"), "[2,4] 4 5 6 7 8 9 10 11\n");
  EXPECT_EQ(part("{{nil, -1}, -1}"), "[2] 3 7\n");
  EXPECT_EQ(part("{{nil, nil, 2}, {nil, nil, 3}}"), "[2,2] 0 3 8 11\n");
  EXPECT_EQ(part("{{-2, 3}, {1, 4, 2}}"), "[2,2] 5 7 9 11\n");
  EXPECT_EQ(part("{}"), "[3,4] 0 1 2 3 4 5 6 7 8 9 10 11\n");
}

TEST_F(Slices, may_be_empty) {
  EXPECT_EQ(part("{{1, 1}}"), "[0,4] \n");
  EXPECT_EQ(run("print(slice(buffer{}, {{}}).size)").text(), "0\n");
  EXPECT_EQ(run("print(read(slice(buffer(7), {}))[1])").text(), "7.0\n");
}

TEST_F(Slices, that_begin_at_the_front_are_read_through) {
  const Outcome outcome = run("local b = buffer{1, 2, 3}\nprint(read(b:slice{{nil, 2}} * 2)[2])");
  EXPECT_EQ(outcome.text(), "4.0\n");
  EXPECT_EQ(outcome.result->commands, 1U);
}

TEST_F(Slices, out_of_range_are_refused_with_their_line) {
  const Error error = refusal("{3}");
  EXPECT_EQ(error.code(), ErrorCode::invalid_parameter);
  EXPECT_EQ(error.op(), "slice");
  EXPECT_EQ(error.reason(), "axis 0 of f32[3,4] has no position 3");
  EXPECT_EQ(error.detail("line"), "3");
  EXPECT_EQ(refusal("{{}, {2, 5}}").reason(), "axis 1 of f32[3,4] has no range {2, 5}");
  EXPECT_EQ(refusal("{{2, 1}}").code(), ErrorCode::invalid_parameter);
  EXPECT_EQ(refusal("{{0, 1, 0}}").code(), ErrorCode::invalid_parameter);
  EXPECT_EQ(refusal("{-4}").code(), ErrorCode::invalid_parameter);
  EXPECT_EQ(refusal("{1, 1, 1}").reason(), "3 entries for 2 axes of f32[3,4]");
}

TEST_F(Slices, that_are_no_list_are_refused) {
  EXPECT_EQ(refusal("{[2] = 1}").detail("got"), "2");
  EXPECT_EQ(refusal("{axes = {1}}").detail("got"), "\"axes\"");
  EXPECT_EQ(refusal("{1}, {2}").code(), ErrorCode::arity_mismatch);
}

TEST_F(Slices, with_steps_beyond_the_end_take_the_first) {
  EXPECT_EQ(part("{{0, nil, math.maxinteger}}"), "[1,4] 0 1 2 3\n");
  EXPECT_EQ(part("{{nil, nil, math.maxinteger}}"), "[1,4] 0 1 2 3\n");
}

TEST_F(Slices, of_what_is_no_position_say_what_it_was) {
  EXPECT_EQ(refusal("{0.5}").detail("got"), "0.5");
  EXPECT_EQ(refusal("{{first = 1}}").detail("got"), "{first = 1}");
  EXPECT_EQ(refusal("{{math.mininteger, math.maxinteger}}").code(), ErrorCode::invalid_parameter);
  EXPECT_EQ(refusal("{math.mininteger}").code(), ErrorCode::invalid_parameter);
  EXPECT_EQ(run("slice(buffer{1}, 0)").code(), ErrorCode::script_error);
  EXPECT_EQ(run("slice(1, {})").code(), ErrorCode::invalid_argument);
}

}  // namespace
}  // namespace stoker
