#include "stoker/api/tensor/core/text.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>
#include <string>
#include <variant>
#include <vector>

#include "stoker/api/tensor/core/creation.hpp"

namespace stoker {
namespace {

using WrittenNumber = std::variant<std::int64_t, std::uint64_t, double>;

constexpr std::string_view separators = " \t\r,";

[[noreturn]] void refuse(std::string_view op, std::string_view word, std::string reason) {
  throw Error{std::string{op},
              ErrorCode::invalid_argument,
              std::move(reason),
              {{"got", std::string{word.substr(0, 64)}}}};
}

WrittenNumber parse(std::string_view word, std::string_view op) {
  const std::string_view digits =
      word.starts_with('+') && !word.starts_with("+-") ? word.substr(1) : word;
  const char* const end = digits.data() + digits.size();
  const auto take = [&]<class T>(T value) -> std::optional<WrittenNumber> {
    const auto [at, failure] = std::from_chars(digits.data(), end, value);
    if (at == end && failure == std::errc{}) return WrittenNumber{value};
    return std::nullopt;
  };
  if (auto number = take(std::int64_t{})) return *number;
  if (auto number = take(std::uint64_t{})) return *number;
  if (auto number = take(double{})) return *number;
  refuse(op, word, "not a number");
}

std::vector<WrittenNumber> numbers_of(std::string_view line, std::string_view op) {
  std::vector<WrittenNumber> numbers;
  for (;;) {
    line.remove_prefix(std::min(line.find_first_not_of(separators), line.size()));
    if (line.empty()) return numbers;
    const std::size_t length = std::min(line.find_first_of(separators), line.size());
    numbers.push_back(parse(line.substr(0, length), op));
    line.remove_prefix(length);
  }
}

template <class T> T element_of(const WrittenNumber& number, std::string_view op) {
  return std::visit(
      [&]<class N>(N value) -> T {
        if constexpr (std::is_same_v<T, Half> || std::is_same_v<T, BFloat16>) {
          return T{static_cast<float>(value)};
        } else if constexpr (std::is_floating_point_v<T>) {
          return static_cast<T>(value);
        } else if constexpr (std::is_same_v<T, bool>) {
          return value != 0;
        } else if constexpr (std::is_floating_point_v<N>) {
          refuse(op, std::to_string(value), "a number with a fraction is no integer");
        } else {
          if (!std::in_range<T>(value))
            refuse(op, std::to_string(value), "the dtype cannot hold the number");
          return static_cast<T>(value);
        }
      },
      number);
}

Tensor tensor_of(const std::vector<WrittenNumber>& numbers, const Shape& shape,
                 std::optional<DType> dtype, std::string_view op) {
  const bool whole = std::ranges::none_of(
      numbers, [](const WrittenNumber& one) { return std::holds_alternative<double>(one); });
  const DType chosen = dtype.value_or(whole ? DType::s32 : DType::f32);
  return visit_dtype(chosen, [&]<class T>() {
    std::vector<std::byte> bytes(numbers.size() * sizeof(T));
    auto* const elements = reinterpret_cast<T*>(bytes.data());
    for (std::size_t i = 0; i < numbers.size(); ++i) elements[i] = element_of<T>(numbers[i], op);
    return tensor(bytes, TensorSpec{chosen, shape});
  });
}

/// Calls `function` with each line.
template <class F> void for_each_line(std::string_view text, F&& function) {
  while (!text.empty()) {
    const std::size_t length = std::min(text.find('\n'), text.size());
    function(text.substr(0, length));
    text.remove_prefix(std::min(length + 1, text.size()));
  }
}

}  // namespace

Tensor vector_of(std::string_view text, std::optional<DType> dtype) {
  std::vector<WrittenNumber> all;
  for_each_line(text, [&](std::string_view line) {
    for (const WrittenNumber& one : numbers_of(line, "vector_of")) all.push_back(one);
  });
  return tensor_of(all, Shape{static_cast<std::int64_t>(all.size())}, dtype, "vector_of");
}

Tensor matrix_of(std::string_view text, std::optional<DType> dtype) {
  std::vector<WrittenNumber> all;
  std::size_t rows = 0;
  std::size_t columns = 0;
  for_each_line(text, [&](std::string_view line) {
    const std::vector<WrittenNumber> row = numbers_of(line, "matrix_of");
    if (row.empty()) return;
    if (rows++ == 0) columns = row.size();
    detail::check_row(row.size(), columns);
    all.insert(all.end(), row.begin(), row.end());
  });
  const Shape shape{static_cast<std::int64_t>(rows), static_cast<std::int64_t>(columns)};
  return tensor_of(all, shape, dtype, "matrix_of");
}

}  // namespace stoker
