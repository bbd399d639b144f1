#include "stoker/api/serve/protocol/classification.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <numeric>

#include "stoker/api/serve/protocol/json_writer.hpp"

namespace stoker::serve::protocol {
namespace {

template <class T> T element(std::span<const std::byte> elements, std::size_t i) {
  T value;
  std::memcpy(&value, elements.data() + i * sizeof(T), sizeof value);
  return value;
}

/// 16-bit floats as the type in which they are compared and written.
template <class T> auto number(T value) {
  if constexpr (std::is_same_v<T, Half> || std::is_same_v<T, BFloat16>)
    return static_cast<float>(value);
  else
    return value;
}

template <class T> void append_value(std::string& text, T value) {
  if constexpr (std::is_floating_point_v<T>) {
    if (std::isnan(value)) {
      text += "nan";
      return;
    }
    if (std::isinf(value)) {
      text += value > 0 ? "inf" : "-inf";
      return;
    }
  }
  append_json_number(text, value);
}

template <class T>
void add_row(std::span<const std::byte> row, std::size_t length, std::size_t count,
             std::span<const std::string> labels, std::vector<std::string>& strings) {
  const auto at = [&](std::size_t i) { return number(element<T>(row, i)); };
  std::vector<std::size_t> order(length);
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::partial_sort(order, order.begin() + static_cast<std::ptrdiff_t>(count),
                            [&](std::size_t i, std::size_t j) {
                              const auto a = at(i);
                              const auto b = at(j);
                              const bool a_is_number = a == a;
                              if (a_is_number != (b == b)) return a_is_number;
                              return a_is_number && a != b ? a > b : i < j;
                            });
  for (std::size_t place = 0; place < count; ++place) {
    std::string& text = strings.emplace_back();
    append_value(text, at(order[place]));
    text += ':';
    append_json_number(text, order[place]);
    if (order[place] < labels.size()) text.append(":").append(labels[order[place]]);
  }
}

}  // namespace

Classes classes_of(const TensorSpec& spec, std::span<const std::byte> elements, std::uint32_t count,
                   std::span<const std::string> labels) {
  const bool has_rows = spec.shape.rank() > 1;
  const std::size_t rows = has_rows ? static_cast<std::size_t>(spec.shape[0]) : 1;
  const std::size_t length = rows == 0 ? 0 : spec.elements() / rows;
  const std::size_t shown = std::min<std::size_t>(length, count);
  const auto extent = static_cast<std::int64_t>(shown);
  Classes classes{has_rows ? Shape{spec.shape[0], extent} : Shape{extent}, {}};
  classes.strings.reserve(rows * shown);
  visit_dtype(spec.dtype, [&]<class T>() {
    if constexpr (!std::is_same_v<T, bool>)
      for (std::size_t row = 0; row < rows; ++row)
        add_row<T>(elements.subspan(row * length * sizeof(T)), length, shown, labels,
                   classes.strings);
  });
  return classes;
}

}  // namespace stoker::serve::protocol
