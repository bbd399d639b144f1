#include "stoker/runtime/base/nearest_name.hpp"

#include <algorithm>
#include <numeric>
#include <vector>

namespace stoker {
namespace {

std::size_t edit_distance(std::string_view a, std::string_view b) {
  // row[j]: edits that turn the part of `a` read so far into the first j characters of `b`.
  std::vector<std::size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), std::size_t{0});
  for (std::size_t i = 0; i < a.size(); ++i) {
    std::size_t diagonal = row[0];
    row[0] = i + 1;
    for (std::size_t j = 0; j < b.size(); ++j) {
      const std::size_t replaced = diagonal + (a[i] == b[j] ? 0 : 1);
      diagonal = row[j + 1];
      row[j + 1] = std::min({replaced, row[j] + 1, row[j + 1] + 1});
    }
  }
  return row.back();
}

}  // namespace

std::optional<std::string_view> nearest_name(std::string_view wanted,
                                             std::span<const std::string_view> known) {
  // Longer names come from no typing mistake, and would cost quadratic time.
  constexpr std::size_t longest = 64;
  if (wanted.size() > longest) return {};
  std::optional<std::string_view> best;
  std::size_t allowed = (wanted.size() + 2) / 3;
  for (const std::string_view name : known) {
    const std::size_t distance = edit_distance(wanted, name);
    if (distance > allowed || (best && distance == allowed)) continue;
    best = name;
    allowed = distance;
  }
  return best;
}

}  // namespace stoker
