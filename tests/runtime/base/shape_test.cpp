#include "stoker/runtime/base/shape.hpp"

#include <gtest/gtest.h>

#include <vector>

#include "error_of.hpp"

namespace stoker {
namespace {

TEST(Shape, knows_its_elements_and_strides) {
  const Shape shape{2, 3, 4};
  EXPECT_EQ(shape.rank(), 3U);
  EXPECT_EQ(shape.elements(), 24);
  EXPECT_EQ(shape.strides()[0], 12);
  EXPECT_EQ(shape.strides()[2], 1);
  EXPECT_EQ(shape.to_string(), "[2,3,4]");
  EXPECT_EQ(Shape{}.elements(), 1);
  EXPECT_EQ(Shape{}.to_string(), "[]");
  EXPECT_TRUE((Shape{3, 0}).empty());
}

TEST(Shape, refuses_what_is_no_shape) {
  EXPECT_THROW((Shape{-1}), Error);
  const std::vector<std::int64_t> many(9, 1);
  EXPECT_EQ(Shape::try_make(many, "here").error().op(), "here");
  EXPECT_EQ(error_of([&] { return Shape::make(many, "here"); }).op(), "here");
  const std::vector<std::int64_t> huge{std::int64_t{1} << 40, std::int64_t{1} << 40};
  EXPECT_TRUE(Shape::try_make(huge).has_error());
  EXPECT_THROW((Shape{std::int64_t{1} << 61}), Error) << "its bytes are not a number any more";
  EXPECT_TRUE(Shape::try_make(std::vector{std::int64_t{1} << 58}).has_value());
}

TEST(Shape, can_be_changed_axis_by_axis) {
  const Shape shape{2, 3};
  EXPECT_EQ(shape.with(1, 7), (Shape{2, 7}));
  EXPECT_EQ(shape.without(0), (Shape{3}));
  EXPECT_EQ(shape.appended(5), (Shape{2, 3, 5}));
  EXPECT_NE(shape, (Shape{3, 2}));
  EXPECT_NE(shape, (Shape{2, 3, 1}));
}

TEST(Shape, changed_is_still_a_shape) {
  const std::int64_t wide = std::int64_t{1} << 31;
  const Shape none{wide, 0};
  EXPECT_THROW(static_cast<void>(none.with(1, wide)), Error) << "2^62 elements";
  EXPECT_THROW(static_cast<void>(none.appended(wide)), Error) << "however many are none";
  EXPECT_THROW(static_cast<void>(none.with(0, -1)), Error);
  EXPECT_THROW(static_cast<void>((Shape{1, 1, 1, 1, 1, 1, 1, 1}).appended(1)), Error);
  EXPECT_EQ(none.with(0, 3), (Shape{3, 0}));
}

TEST(Shape, broadcasts_as_numpy_does) {
  EXPECT_EQ(broadcast({4, 1}, {3}), (Shape{4, 3}));
  EXPECT_EQ(broadcast({}, {2, 2}), (Shape{2, 2}));
  EXPECT_EQ(broadcast({0}, {1}), (Shape{0}));
  EXPECT_FALSE(broadcast({2}, {3}));
  EXPECT_FALSE(broadcast({std::int64_t{1} << 40, 1}, {std::int64_t{1} << 40})) << "too many";
}

TEST(TensorSpec, knows_its_bytes) {
  const TensorSpec spec{DType::f16, {3, 5}};
  EXPECT_EQ(spec.elements(), 15U);
  EXPECT_EQ(spec.bytes(), 30U);
  EXPECT_EQ(spec.to_string(), "f16[3,5]");
}

}  // namespace
}  // namespace stoker
