// What programs are found by.
#include <gtest/gtest.h>

#include <algorithm>
#include <optional>
#include <set>

#include "stoker/pipeline/tensor/program/program.hpp"

namespace stoker::expr {
namespace {

struct Text final : Payload {
  explicit Text(std::string given) : text{std::move(given)} {}
  [[nodiscard]] std::string key() const override { return text; }
  const std::string text;
};

// Keys of several instructions stand one behind the other, without anything between them.
TEST(ProgramKeys, are_not_the_beginning_of_one_another) {
  using List = std::vector<std::int64_t>;
  const std::vector<std::vector<Ref>> inputs{
      {}, {{0, 0}}, {{0, 1}}, {{1, 0}}, {{200, 0}}, {{0, 0}, {0, 0}}, {{0, 0}, {1, 0}, {0, 0}}};
  const std::vector<Attributes> attributes{
      {},
      {{"a", true}},
      {{"a", std::int64_t{1}}},
      {{"a", std::int64_t{300}}},
      {{"a", 1.0}},
      {{"a", std::string{}}},
      {{"a", std::string{"b"}}},
      {{"ab", std::string{}}},
      {{"a", List{}}},
      {{"a", List{1}}},
      {{"a", List{1, 1}}},
      {{"a", List{}}, {"b", List{1}}},
      {{"a", std::string{"b"}}, {"c", true}},
  };
  const std::vector<std::optional<Text>> payloads = [] {
    std::vector<std::optional<Text>> made(1);
    for (const char* text : {"", "a", "ab"}) made.emplace_back(std::in_place, text);
    return made;
  }();
  const std::vector<std::vector<TensorSpec>> specs{{},
                                                   {{DType::f32, {}}},
                                                   {{DType::f32, {2}}},
                                                   {{DType::f32, {2, 3}}},
                                                   {{DType::f32, {2}}, {DType::f32, {3}}},
                                                   {{DType::s32, {200}}}};
  std::vector<std::string> keys;
  const auto add = [&](const InstructionView& one) { append_key(keys.emplace_back(), one); };
  for (const char* name : {"sort", "cumulative_sum"})
    for (const auto& read : inputs)
      for (const auto& given : attributes)
        for (const auto& payload : payloads)
          add({find_op(name), read, {}, given, payload ? &*payload : nullptr});
  for (const auto& made : specs) add({find_op("parameter"), {}, made, attributes[0], nullptr});

  std::ranges::sort(keys);
  // Whatever lies between a key and one that begins with it begins with it, too.
  for (std::size_t i = 1; i < keys.size(); ++i)
    EXPECT_FALSE(keys[i].starts_with(keys[i - 1])) << "key " << i << " of " << keys.size();
}

}  // namespace
}  // namespace stoker::expr
