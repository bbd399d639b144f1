#include "stoker/api/tensor/views/heatmap.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

namespace stoker {
namespace {

/// How many of `levels` lie below a value between the extremes.
std::size_t level_of(double value, double low, double high, std::size_t levels) {
  if (!(high > low)) return 0;
  const double share = (value - low) / (high - low);
  return std::min(static_cast<std::size_t>(share * static_cast<double>(levels)), levels - 1);
}

std::string cell(double value, double low, double high, bool ansi) {
  if (!std::isfinite(value)) return "??";
  if (ansi) {
    constexpr std::size_t first_grey = 232;  // of the palette of 256 colours
    constexpr std::size_t greys = 24;
    return "\x1b[48;5;" + std::to_string(first_grey + level_of(value, low, high, greys)) +
           "m  \x1b[0m";
  }
  static constexpr std::array<const char*, 5> shades{"  ", "░░", "▒▒", "▓▓", "██"};
  return shades[level_of(value, low, high, shades.size())];
}

}  // namespace

std::string to_heatmap(const Tensor& x, Heatmap how) {
  if (x.rank() == 0)
    throw Error{"to_heatmap", ErrorCode::shape_mismatch, "a scalar has no picture"};
  const std::vector<double> values = x.to_vector<double>();
  double low = std::numeric_limits<double>::infinity();
  double high = -low;
  for (const double value : values)
    if (std::isfinite(value)) {
      low = std::min(low, value);
      high = std::max(high, value);
    }
  const auto columns = static_cast<std::size_t>(x.shape()[x.rank() - 1]);
  const auto rows = static_cast<std::size_t>(x.rank() > 1 ? x.shape()[x.rank() - 2] : 1);
  std::string text;
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (i > 0 && i % (rows * columns) == 0) text += '\n';
    text += cell(values[i], low, high, how.ansi);
    if ((i + 1) % columns == 0) text += '\n';
  }
  return text;
}

}  // namespace stoker
