#include "stoker/runtime/base/dtype.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <set>

#include "stoker/runtime/base/shape.hpp"

namespace stoker {
namespace {

TEST(DType, names_go_both_ways) {
  std::set<std::string_view> names;
  for (std::size_t i = 0; i < dtype_count; ++i) {
    const auto dtype = static_cast<DType>(i);
    names.insert(to_string(dtype));
    EXPECT_EQ(parse_dtype(to_string(dtype)), dtype);
    EXPECT_EQ(visit_dtype(dtype, []<class T>() { return dtype_of<T>; }), dtype);
    EXPECT_EQ(visit_dtype(dtype, []<class T>() { return sizeof(T); }), size_of(dtype));
  }
  EXPECT_EQ(names.size(), dtype_count);
  EXPECT_EQ(to_string(DType::boolean), "bool");
  EXPECT_EQ(parse_dtype("i32"), DType::s32);
  EXPECT_FALSE(parse_dtype("f31"));
}

TEST(DType, classes_are_disjoint) {
  EXPECT_TRUE(is_float(DType::bf16));
  EXPECT_FALSE(is_integer(DType::bf16));
  EXPECT_TRUE(is_integer(DType::u8));
  EXPECT_FALSE(is_integer(DType::boolean));
  EXPECT_FALSE(is_signed(DType::u64));
}

TEST(DType, complex_ones_are_stored_and_not_computed_with) {
  for (const DType dtype : {DType::c64, DType::c128}) {
    EXPECT_EQ(parse_dtype(to_string(dtype)), dtype);
    EXPECT_TRUE(is_complex(dtype) && is_inexact(dtype));
    EXPECT_FALSE(is_float(dtype) || is_integer(dtype));
    EXPECT_EQ(size_of(dtype), 2 * size_of(component_of(dtype)));
    EXPECT_THROW(visit_dtype(dtype, []<class T>() {}), Error);
  }
  EXPECT_EQ(dtype_of<std::complex<float>>, DType::c64);
  EXPECT_EQ(component_of(DType::s8), DType::s8);
  EXPECT_TRUE(same_memory({DType::c64, Shape{3}}, {DType::f32, Shape{3, 2}}));
  EXPECT_TRUE(same_memory({DType::f64, Shape{2}}, {DType::c128, Shape{}}));
  EXPECT_FALSE(same_memory({DType::c64, Shape{3}}, {DType::f32, Shape{2, 3}}));
  EXPECT_FALSE(same_memory({DType::c64, Shape{3}}, {DType::f64, Shape{3, 2}}));
}

TEST(Half, every_bit_pattern_survives_the_way_through_float) {
  for (std::uint32_t bits = 0; bits <= 0xffff; ++bits) {
    Half half;
    half.bits = static_cast<std::uint16_t>(bits);
    const auto value = static_cast<float>(half);
    if (std::isnan(value)) {
      EXPECT_TRUE(std::isnan(static_cast<float>(Half{value})));
    } else {
      ASSERT_EQ(Half{value}.bits, half.bits);
    }
  }
}

TEST(Half, rounds_to_nearest_even_and_overflows_to_infinity) {
  EXPECT_EQ(static_cast<float>(Half{1.0F + 0x1p-11F}), 1.0F);
  EXPECT_EQ(static_cast<float>(Half{1.0F + 0x3p-11F}), 1.0F + 0x1p-9F);
  EXPECT_EQ(static_cast<float>(Half{65504.0F}), 65504.0F);
  EXPECT_TRUE(std::isinf(static_cast<float>(Half{65520.0F})));
  EXPECT_EQ(static_cast<float>(Half{0x1p-24F}), 0x1p-24F);
  EXPECT_EQ(static_cast<float>(Half{0x1p-25F}), 0.0F);
}

TEST(BFloat16, rounds_to_nearest_even_and_keeps_nan) {
  EXPECT_EQ(static_cast<float>(BFloat16{1.0F + 0x1p-8F}), 1.0F);
  EXPECT_EQ(static_cast<float>(BFloat16{1.0F + 0x3p-8F}), 1.0F + 0x1p-6F);
  EXPECT_TRUE(std::isnan(static_cast<float>(BFloat16{std::numeric_limits<float>::quiet_NaN()})));
  EXPECT_TRUE(std::isinf(static_cast<float>(BFloat16{std::numeric_limits<float>::infinity()})));
}

}  // namespace
}  // namespace stoker
