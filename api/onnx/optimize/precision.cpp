#include "stoker/api/onnx/optimize/precision.hpp"

#include <algorithm>
#include <array>
#include <utility>

namespace stoker::onnx {
namespace {

constexpr auto words = std::to_array<std::pair<Precision, std::string_view>>(
    {{Precision::full, "full"}, {Precision::f16, "f16"}, {Precision::bf16, "bf16"}});

}  // namespace

std::string_view to_string(Precision precision) noexcept {
  return std::ranges::find(words, precision, &decltype(words)::value_type::first)->second;
}

std::optional<Precision> parse_precision(std::string_view word) noexcept {
  const auto* const found = std::ranges::find(words, word, &decltype(words)::value_type::second);
  return found == words.end() ? std::nullopt : std::optional{found->first};
}

}  // namespace stoker::onnx
