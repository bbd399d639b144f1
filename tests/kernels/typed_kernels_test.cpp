// The built-in kernels as types (kernels/typed_kernel.hpp), and the tables that follow from them.
#include <gtest/gtest.h>

#include <set>

#include "stoker/kernels/builtin_kernels.hpp"
#include "stoker/kernels/dtype_words.hpp"
#include "stoker/kernels/kernel.hpp"

namespace stoker {
namespace {

using kernels::BuiltinKernels;

std::string text_of(const ParamSpec& spec) {
  std::string text = spec.name + ": " + std::string{to_string(spec.type)};
  text += spec.fallback ? ", " + to_string(*spec.fallback) : ", required";
  for (const std::optional<double>& bound : {spec.min, spec.max})
    text += bound ? ", " + to_string(ParamValue{*bound}) : ", open";
  for (const std::string& choice : spec.choices) text += ", " + choice;
  return text + "; " + spec.doc;
}

std::vector<std::string> texts_of(std::span<const ParamSpec> table) {
  std::vector<std::string> texts;
  for (const ParamSpec& spec : table) texts.push_back(text_of(spec));
  return texts;
}

TEST(TypedKernels, every_builtin_kernel_is_a_type_and_every_type_a_kernel) {
  std::multiset<std::string> types;
  BuiltinKernels::for_each([&]<class K>() { types.emplace(K::kind); });
  std::multiset<std::string> kernels;
  for (const auto& kernel : KernelRegistry::builtin().list()) kernels.insert(kernel->name);
  EXPECT_EQ(types, kernels) << "each kernel is listed in the options.hpp of its folder";
}

TEST(TypedKernels, the_table_of_the_text_form_is_that_of_the_struct) {
  BuiltinKernels::for_each([]<class K>() {
    const auto kernel = KernelRegistry::builtin().find(K::kind).value();
    EXPECT_EQ(texts_of(options::specs<K>()), texts_of(kernel->params)) << kernel->name;
  });
}

/// The required options of K, all with the value that is allowed for all of them.
template <class K> Params required_of() {
  Params params;
  for (const ParamSpec& spec : options::specs<K>()) {
    if (spec.fallback) continue;
    if (spec.type == ParamType::text) params.set(spec.name, spec.choices.front());
    if (spec.type == ParamType::integer) params.set(spec.name, std::int64_t{1});
    if (spec.type == ParamType::integers) params.set(spec.name, std::vector<std::int64_t>{1});
    if (spec.type == ParamType::real) params.set(spec.name, 1.0);
  }
  return params;
}

TEST(TypedKernels, options_come_back_from_what_a_call_was_given) {
  BuiltinKernels::for_each([]<class K>() {
    const std::vector<ParamSpec> table = options::specs<K>();
    const Params given = required_of<K>();
    const ParamSet set = ParamSet::resolve(K::kind, table, given).value();
    const Params again = options::given(options::from<K>(set));
    EXPECT_EQ(again.entries().size(), given.entries().size()) << "defaults are not given";
    EXPECT_EQ(ParamSet::resolve(K::kind, table, again).value(), set) << table.size();
  });
}

TEST(TypedKernels, only_what_differs_from_its_default_is_given) {
  EXPECT_TRUE(options::given(kernels::GaussianBlur{}).empty());
  EXPECT_TRUE(options::given(kernels::Relu{}).empty());
  const Params blur =
      options::given(kernels::GaussianBlur{.radius = 2, .border = kernels::Border::wrap});
  ASSERT_EQ(blur.entries().size(), 2U);
  EXPECT_EQ(*blur.find("radius"), ParamValue{std::int64_t{2}});
  EXPECT_EQ(*blur.find("border"), ParamValue{std::string{"wrap"}});
}

TEST(TypedKernels, a_default_that_another_kernel_of_the_family_has_is_given) {
  using kernels::Filter;
  EXPECT_TRUE(options::given(kernels::BicubicScale{.mode = Filter::bicubic}).empty());
  EXPECT_FALSE(options::given(kernels::Resize{.mode = Filter::bicubic}).empty());
}

TEST(TypedKernels, no_dtype_is_written_as_the_word_for_it) {
  const auto table = options::specs<kernels::Fill>();
  EXPECT_EQ(table[3].fallback, ParamValue{std::string{"same"}});
  const Params given = options::given(kernels::Fill{.value = 1, .dtype = DType::f16});
  EXPECT_EQ(*given.find("dtype"), ParamValue{std::string{"f16"}});
  const ParamSet set = ParamSet::resolve("fill", table, {}).value();
  EXPECT_FALSE(options::from<kernels::Fill>(set).dtype);
}

TEST(TypedKernels, a_required_option_that_was_left_out_is_missing) {
  const auto table = options::specs<kernels::Crop>();
  const auto set = ParamSet::resolve("crop", table, options::given(kernels::Crop{.width = 2}));
  ASSERT_TRUE(set.has_error());
  EXPECT_EQ(set.error().detail("parameter"), "height");
}

/// The Error of a call that is made with it.
Error error_of(const auto& make) {
  try {
    static_cast<void>(make());
  } catch (const Error& error) {
    return error;
  }
  ADD_FAILURE() << "no Error was thrown";
  return Error{};
}

TEST(TypedKernels, a_value_without_a_word_is_refused_as_that_word_is) {
  const Error typed =
      error_of([] { return options::given(kernels::RandomBits{.dtype = DType::f32}); });
  const Error text =
      ParamSet::resolve("random_bits", options::specs<kernels::RandomBits>(), {{"dtype", "f32"}})
          .error();
  EXPECT_EQ(typed.op(), text.op());
  EXPECT_EQ(typed.code(), ErrorCode::invalid_parameter);
  EXPECT_EQ(typed.reason(), text.reason());
  for (const char* detail : {"parameter", "expected", "got"})
    EXPECT_EQ(typed.detail(detail), text.detail(detail)) << detail;
}

TEST(TypedKernels, integers_beyond_64_bits_with_a_sign_are_refused) {
  constexpr std::uint64_t huge = std::uint64_t{1} << 63;
  EXPECT_EQ(error_of([] { return kernels::Reshape{.shape = huge}; }).detail("got"),
            "9223372036854775808");
  EXPECT_EQ(error_of([] { return kernels::Crop{.width = huge, .height = 1}; }).code(),
            ErrorCode::invalid_parameter);
  EXPECT_EQ(kernels::Reshape{.shape = huge - 1}.shape.list(),
            std::vector{std::numeric_limits<std::int64_t>::max()});
}

TEST(TypedKernels, words_of_dtypes_are_their_names) {
  for (std::size_t i = 0; i < dtype_words.size(); ++i) {
    EXPECT_EQ(dtype_words[i].second, static_cast<DType>(i));
    EXPECT_EQ(dtype_words[i].first, to_string(dtype_words[i].second));
  }
}

// What the compiler refuses.
struct Layer {
  static constexpr const char* kind = "gaussian_blur";
};
static_assert(TypedKernel<kernels::GaussianBlur>);
static_assert(!TypedKernel<Layer>, "other kinds of options are not kernels");
static_assert(!TypedKernel<KernelName>);

template <class K>
concept has_radius = requires {
  K{.radius = 2};
};
template <class K>
concept has_sigma_text = requires {
  K{.sigma = "2"};
};
template <class K>
concept has_broken_radius = requires {
  K{.radius = 2.5};
};
static_assert(has_radius<kernels::GaussianBlur> && !has_radius<kernels::Sobel>);
static_assert(!has_sigma_text<kernels::GaussianBlur>);
static_assert(!has_broken_radius<kernels::GaussianBlur>);
static_assert(std::constructible_from<Required<double>, int>);
static_assert(!std::constructible_from<Required<double>, bool>, "true is no number");
static_assert(options::OptionType<DType, std::remove_const_t<decltype(dtype_words)>>);
static_assert(!options::OptionType<int, Anything> && !options::OptionType<float, Anything>);

// A namespace of a program that has functions with the names of those that options are read by.
namespace program {

struct Paint {
  static constexpr KernelName kind{"paint"};
  std::int64_t coats = 1;
};
template <class V> void visit_options(Paint& o, V&& visit) {
  visit("coats", o.coats, within(1, 9), "how many");
}
template <class O, class V> void visit(O&, V&&) = delete;

}  // namespace program

TEST(TypedKernels, functions_of_the_program_are_not_taken_for_those_of_options) {
  const auto table = options::specs<program::Paint>();
  ASSERT_EQ(table.size(), 1U);
  const Params given = options::given(program::Paint{.coats = 2});
  const ParamSet set = ParamSet::resolve("paint", table, given).value();
  EXPECT_EQ(options::from<program::Paint>(set).coats, 2);
}

}  // namespace
}  // namespace stoker
