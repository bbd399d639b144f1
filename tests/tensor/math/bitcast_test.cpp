// Bits read as those of another dtype.
#include <algorithm>
#include <bit>
#include <cstring>

#include "stoker/tests/tensor/fixture.hpp"

namespace stoker {
namespace {

const std::vector<std::vector<DType>> of_one_size = {
    {DType::s8, DType::u8},
    {DType::f16, DType::bf16, DType::s16, DType::u16},
    {DType::f32, DType::s32, DType::u32},
    {DType::f64, DType::s64, DType::u64}};

/// Every pattern of up to 16 bits; of wider ones those around zeros, infinities and NaNs that are quiet
/// and signalling and carry numbers, in both signs, and patterns without an order.
std::vector<std::byte> patterns(DType dtype) {
  const std::size_t bytes = size_of(dtype);
  std::vector<std::uint64_t> numbers;
  if (bytes <= 2) {
    for (std::uint64_t bits = 0; bits < std::uint64_t{1} << (8 * bytes); ++bits)
      numbers.push_back(bits);
  } else {
    const int mantissa = bytes == 4 ? 23 : 52;
    const std::uint64_t sign = std::uint64_t{1} << (8 * bytes - 1);
    const std::uint64_t infinity = sign - (std::uint64_t{1} << mantissa);
    const std::uint64_t quiet = std::uint64_t{1} << (mantissa - 1);
    for (const std::uint64_t one : {std::uint64_t{0}, infinity, infinity | quiet})
      for (const std::uint64_t near : {0, 1, 2, 0x2a5a5})
        for (const std::uint64_t negative : {std::uint64_t{0}, sign})
          numbers.push_back(negative | (one + near));
    for (std::uint64_t i = 1; i < 1000; ++i)
      numbers.push_back(i * 0x9e3779b97f4a7c15U >> (64 - 8 * bytes));
  }
  std::vector<std::byte> all(numbers.size() * bytes);
  for (std::size_t i = 0; i < numbers.size(); ++i) std::memcpy(&all[i * bytes], &numbers[i], bytes);
  return all;
}

class Bitcast : public TensorsOnDevices {};

TEST_P(Bitcast, keeps_every_bit_between_all_dtypes_of_one_size) {
  for (const auto& dtypes : of_one_size)
    for (const DType from : dtypes)
      for (const DType to : dtypes) {
        SCOPED_TRACE(testing::Message() << to_string(from) << " as " << to_string(to));
        const std::vector<std::byte> bits = patterns(from);
        const Tensor x = from_bytes(bits, from);
        const Tensor y = bitcast(x, to);
        EXPECT_EQ(y.dtype(), to);
        EXPECT_EQ(y.shape(), x.shape());
        EXPECT_EQ(y.to_bytes(), bits);
        EXPECT_EQ(bitcast(y, from).to_bytes(), bits);
        EXPECT_EQ(bitcast(bitcast(x, to), from).to_bytes(), bits) << "as one program";
        EXPECT_EQ(x.to_bytes(), bits) << "the operand stays";
      }
}

TEST_P(Bitcast, reads_a_bool_as_a_byte) {
  const Tensor x = as_type(tensor({0, 1, 5}), DType::boolean);
  expect_values<int>(bitcast(x, DType::u8), {3}, {0, 1, 1});
  expect_values<int>(bitcast(x, DType::s8), {3}, {0, 1, 1});
  EXPECT_EQ(bitcast(x, DType::boolean).dtype(), DType::boolean);
}

TEST_P(Bitcast, keeps_shapes_and_names) {
  const Tensor x = full({2, 3}, 1.0, DType::f32).named({"rows", "columns"});
  const Tensor bits = bitcast(x, DType::u32);
  EXPECT_EQ(bits.shape(), (Shape{2, 3}));
  EXPECT_EQ(bits.names(), x.names());
  EXPECT_EQ(bits.to_vector<std::uint32_t>(), std::vector<std::uint32_t>(6, 0x3f800000));
  EXPECT_EQ(bitcast(tensor(-2.0F), DType::s32).item<std::int32_t>(),
            std::bit_cast<std::int32_t>(-2.0F));
  EXPECT_EQ(bitcast(tensor(-2.0F), DType::s32).shape(), Shape{});
  const Tensor none = bitcast(zeros({3, 0, 2}, DType::f64), DType::s64);
  EXPECT_EQ(none.spec(), (TensorSpec{DType::s64, Shape{3, 0, 2}}));
  EXPECT_TRUE(none.to_vector<std::int64_t>().empty());
}

TEST_P(Bitcast, reads_views_in_their_order) {
  const Tensor x = tensor({{1.0, 2.0, 4.0}, {0.5, -1.0, 0.0}});
  const auto bits_of = [](const std::vector<float>& numbers) {
    std::vector<std::uint32_t> bits(numbers.size());
    std::ranges::transform(numbers, bits.begin(),
                           [](float number) { return std::bit_cast<std::uint32_t>(number); });
    return bits;
  };
  EXPECT_EQ(bitcast(transpose(x), DType::u32).to_vector<std::uint32_t>(),
            bits_of({1, 0.5F, 2, -1, 4, 0}));
  EXPECT_EQ(bitcast(reverse(slice(x, {0, 1}, {2, 2})), DType::u32).to_vector<std::uint32_t>(),
            bits_of({0, -1, 4, 2}));
  EXPECT_EQ(transpose(bitcast(x, DType::u32)).to_vector<std::uint32_t>(),
            bits_of({1, 0.5F, 2, -1, 4, 0}));
}

/// -|x| by its sign bit, between functions of single elements.
Tensor negative_size(const Tensor& x) {
  const Tensor bits = bitcast(x * 2 + 1, DType::u32) | 0x80000000U;
  return bitcast(bits, DType::f32) - 1;
}

TEST_P(Bitcast, stands_among_functions_of_elements) {
  const Tensor x = tensor({-3.0, -0.25, 0.0, 1.5});
  const std::vector<float> want = {-6, -1.5F, -2, -5};
  EXPECT_EQ(negative_size(x).to_vector<float>(), want);
  const auto traced = jit(&negative_size);
  EXPECT_EQ(traced(x).to_vector<float>(), want);
  EXPECT_EQ(traced(x).to_vector<float>(), want) << "again";
  // Two bytes: the exponent of a half, of a sum that is rounded to one.
  const Tensor halves = as_type(tensor({1.0, 2.0, 3.0, 5.0}), DType::f16);
  expect_values<int>((bitcast(halves + halves, DType::u16) >> 10) - 15, {4}, {1, 2, 2, 3});
  EXPECT_EQ(sum(bitcast(x, DType::s32) < 0).item<int>(), 2);
}

TEST_P(Bitcast, keeps_nans_inside_of_a_program) {
  const std::vector<std::uint32_t> payloads = {0x7fc12345, 0x7f812345, 0xffc00001, 0xff800001};
  const auto turned = jit([](const Tensor& bits) {
    return bitcast(bitcast(bits ^ 0x80000000U, DType::f32), DType::u32) ^ 0x80000000U;
  });
  EXPECT_EQ(turned(tensor(payloads)).to_vector<std::uint32_t>(), payloads);
}

TEST_P(Bitcast, of_all_elements_is_that_of_each) {
  const Tensor rows = tensor({{-3.0, -0.25}, {0.0, 1.5}});
  const Tensor all = vmap(&negative_size)(rows);
  expect_values<float>(all, {2, 2}, {-6, -1.5F, -2, -5});
  const Tensor columns =
      vmap([](const Tensor& v) { return bitcast(v, DType::s32); }, {.in_axes = {1}})(rows);
  expect_values<std::int32_t>(columns, {2, 2},
                              bitcast(transpose(rows), DType::s32).to_vector<std::int32_t>());
}

TEST_P(Bitcast, refuses_what_has_other_sizes_or_parts) {
  struct Refused {
    DType from;
    DType to;
  };
  for (const Refused& one : std::vector<Refused>{{DType::f32, DType::f64},
                                                 {DType::f32, DType::u8},
                                                 {DType::s64, DType::f32},
                                                 {DType::u8, DType::boolean},
                                                 {DType::s8, DType::boolean},
                                                 {DType::boolean, DType::u16},
                                                 {DType::c64, DType::f64},
                                                 {DType::c64, DType::c64},
                                                 {DType::f64, DType::c64},
                                                 {DType::c64, DType::c128}}) {
    const std::string from{to_string(one.from)};
    const std::string to{to_string(one.to)};
    SCOPED_TRACE(testing::Message() << from << " as " << to);
    const Error error = error_of([&] { return bitcast(zeros({3}, one.from), one.to); });
    EXPECT_EQ(error.code(), ErrorCode::dtype_mismatch);
    EXPECT_EQ(error.op(), "bitcast");
    const std::string text{error.reason()};
    EXPECT_NE(text.find(from), std::string::npos) << text;
    EXPECT_NE(text.find(to), std::string::npos) << text;
    EXPECT_EQ(text.find("view_as_real") != std::string::npos,
              is_complex(one.from) || is_complex(one.to))
        << text;
  }
}

TEST_P(Bitcast, has_no_gradient) {
  const Error error = error_of([] {
    return grad([](const Tensor& x) { return sum(negative_size(x)); })(tensor({1.0, 2.0}));
  });
  EXPECT_EQ(error.code(), ErrorCode::unsupported);
  EXPECT_EQ(error.op(), "bitcast");
}

INSTANTIATE_TEST_SUITE_P(Devices, Bitcast, every_device(), device_name);

}  // namespace
}  // namespace stoker
