#include "stoker/runtime/base/error.hpp"

#include <gtest/gtest.h>

#include <new>
#include <stdexcept>
#include <string>

namespace stoker {
namespace {

template <class Thrown> Error caught(const Thrown& thrown) {
  try {
    throw thrown;
  } catch (...) {
    return error_from_current_exception("op");
  }
}

TEST(Error, says_operation_reason_and_details) {
  const Error error{
      "add", ErrorCode::shape_mismatch, "shapes differ", {{"lhs", "[3]"}, {"rhs", "[4]"}}};
  EXPECT_STREQ(error.what(), "add: shapes differ (lhs=[3], rhs=[4])");
  EXPECT_EQ(error.detail("rhs"), "[4]");
  EXPECT_EQ(error.detail("none"), "");
  EXPECT_EQ(to_string(error.code()), "shape_mismatch");
}

TEST(Error, a_fact_can_be_added_on_the_way_up) {
  const Error error{"add", ErrorCode::cycle, "round"};
  EXPECT_EQ(error.with("line", "7").detail("line"), "7");
  EXPECT_TRUE(error.details().empty());
}

TEST(Error, knows_whether_a_retry_can_help) {
  EXPECT_TRUE((Error{"op", ErrorCode::overloaded, ""}).retryable());
  EXPECT_TRUE((Error{"op", ErrorCode::device_lost, ""}).retryable());
  EXPECT_FALSE((Error{"op", ErrorCode::cancelled, ""}).retryable());
}

TEST(Error, is_made_from_any_exception) {
  EXPECT_EQ(caught(Error{"inner", ErrorCode::cycle, "x"}).op(), "inner");
  EXPECT_EQ(caught(std::bad_alloc{}).code(), ErrorCode::out_of_memory);
  EXPECT_EQ(caught(std::runtime_error{"why"}).reason(), "why");
  EXPECT_EQ(caught(5).code(), ErrorCode::handler_failed);
}

TEST(Result, throws_its_error_when_asked_for_a_value) {
  const Result<int> bad = Error{"op", ErrorCode::io_error, "no"};
  EXPECT_THROW(static_cast<void>(bad.value()), Error);
  EXPECT_EQ(Result<int>{3}.value(), 3);
}

TEST(Result, the_macros_return_the_first_failure) {
  const auto half = [](int n) -> Result<int> {
    if (n % 2 != 0) return Error{"half", ErrorCode::invalid_argument, "odd"};
    return n / 2;
  };
  const auto quarter = [&](int n) -> Result<int> {
    STOKER_TRY(half(n));
    STOKER_ASSIGN(const int once, half(n));
    return half(once);
  };
  EXPECT_EQ(quarter(8).value(), 2);
  EXPECT_TRUE(quarter(6).has_error());
  EXPECT_TRUE(quarter(3).has_error());
}

}  // namespace
}  // namespace stoker
