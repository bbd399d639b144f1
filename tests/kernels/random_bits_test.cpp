// Known answers: Random123's kat_vectors, and values that the documentation of Nx prints.
#include <gtest/gtest.h>

#include "cpu_run.hpp"

namespace stoker {
namespace {

using Words = std::vector<std::uint32_t>;

template <class T>
std::vector<T> run(std::string_view name, const std::vector<Words>& inputs,
                   const std::vector<Shape>& shapes, const Params& params = {}) {
  std::vector<TensorSpec> specs;
  std::vector<Bytes> bytes;
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    specs.push_back({DType::u32, shapes[i]});
    bytes.push_back(bytes_of(std::span{inputs[i]}));
  }
  const KernelOutputs made = run_kernel(name, specs, bytes, params);
  EXPECT_EQ(made.specs[0].dtype, dtype_of<T>);
  return values_in<T>(made.bytes[0]);
}

TEST(Threefry, gives_the_known_answers_of_random123) {
  const Words keys{0, 0, 0xffffffff, 0xffffffff, 0x13198a2e, 0x03707344};
  const Words counters{0, 0, 0xffffffff, 0xffffffff, 0x243f6a88, 0x85a308d3};
  const Words want{0x6b200159, 0x99ba4efe, 0x1cb996fc, 0xbb002be7, 0xc4923a9c, 0x483df7a0};
  EXPECT_EQ(run<std::uint32_t>("threefry2x32", {keys, counters}, {Shape{3, 2}, Shape{3, 2}}), want);
}

TEST(RandomBits, split_a_key_as_nx_does) {
  EXPECT_EQ(run<std::uint32_t>("random_bits", {{0, 1701}}, {Shape{2}}, {{"shape", {2, 2}}}),
            (Words{56197195, 1801093307, 961309823, 1704866707}));
  EXPECT_EQ(run<std::uint32_t>("random_bits", {{232, 3567587327}}, {Shape{2}}, {{"shape", {4, 2}}}),
            (Words{3959978897, 4079927650, 3769699049, 3585271160, 3182829676, 333122445,
                   3185556048, 1258545461}));
}

TEST(RandomBits, narrow_elements_are_the_low_bits_of_their_word) {
  const auto words = run<std::uint32_t>("random_bits", {{7, 9}}, {Shape{2}}, {{"shape", {1025}}});
  const auto bytes =
      run<std::uint8_t>("random_bits", {{7, 9}}, {Shape{2}}, {{"shape", {1025}}, {"dtype", "u8"}});
  const auto shorts = run<std::uint16_t>("random_bits", {{7, 9}}, {Shape{2}},
                                         {{"shape", {1025}}, {"dtype", "u16"}});
  for (std::size_t i = 0; i < words.size(); ++i) {
    ASSERT_EQ(bytes[i], static_cast<std::uint8_t>(words[i]));
    ASSERT_EQ(shorts[i], static_cast<std::uint16_t>(words[i]));
  }
}

TEST(RandomBits, elements_of_u64_join_both_halves_of_the_words) {
  const auto words = run<std::uint32_t>("random_bits", {{7, 9}}, {Shape{2}}, {{"shape", {26}}});
  const auto wide =
      run<std::uint64_t>("random_bits", {{7, 9}}, {Shape{2}}, {{"shape", {13}}, {"dtype", "u64"}});
  for (std::size_t i = 0; i < wide.size(); ++i)
    ASSERT_EQ(wide[i], std::uint64_t{words[i]} << 32 | words[13 + i]);
}

TEST(RandomBits, say_what_does_not_fit) {
  const TensorSpec key{DType::u32, Shape{2}};
  EXPECT_EQ(infer("random_bits", {{DType::u32, Shape{3}}}).error().detail("expected"), "u32[2]");
  EXPECT_EQ(infer("random_bits", {{DType::u64, Shape{2}}}).error().code(),
            ErrorCode::dtype_mismatch);
  EXPECT_EQ(infer("random_bits", {key}, {{"shape", {-1}}}).error().code(),
            ErrorCode::invalid_parameter);
  EXPECT_EQ(infer("random_bits", {key}, {{"dtype", "s32"}}).error().code(),
            ErrorCode::invalid_parameter);
  EXPECT_TRUE(infer("random_bits", {key}, {{"shape", {std::int64_t{1} << 32}}}).has_value());
  EXPECT_EQ(infer("random_bits", {key}, {{"shape", {std::int64_t{1} << 32, 2}}}).error().code(),
            ErrorCode::limit_exceeded);
  EXPECT_EQ(infer("threefry2x32", {key, {DType::u32, Shape{3}}}).error().code(),
            ErrorCode::shape_mismatch);
  EXPECT_EQ(infer("threefry2x32", {key, {DType::s32, Shape{2}}}).error().code(),
            ErrorCode::dtype_mismatch);
  EXPECT_EQ(
      infer("threefry2x32", {{DType::u32, Shape{3, 2}}, {DType::u32, Shape{4, 2}}}).error().code(),
      ErrorCode::shape_mismatch);
}

}  // namespace
}  // namespace stoker
