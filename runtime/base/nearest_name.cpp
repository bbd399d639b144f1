#include "stoker/runtime/base/nearest_name.hpp"

#include <algorithm>
#include <numeric>
#include <vector>

namespace stoker {
namespace {

/// Of optimal string alignment: an exchange of neighbours is one edit.
std::size_t edit_distance(std::string_view a, std::string_view b) {
  // now[j]: edits that turn the part of `a` read so far into the first j characters of `b`.
  std::vector<std::size_t> now(b.size() + 1);
  std::vector<std::size_t> before(b.size() + 1);
  std::vector<std::size_t> earlier(b.size() + 1);
  std::iota(now.begin(), now.end(), std::size_t{0});
  for (std::size_t i = 1; i <= a.size(); ++i) {
    earlier.swap(before);
    before.swap(now);
    now[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t replaced = before[j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1);
      now[j] = std::min({replaced, before[j] + 1, now[j - 1] + 1});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
        now[j] = std::min(now[j], earlier[j - 2] + 1);
    }
  }
  return now.back();
}

std::size_t common_beginning(std::string_view a, std::string_view b) {
  return static_cast<std::size_t>(std::ranges::mismatch(a, b).in1 - a.begin());
}

}  // namespace

std::optional<std::string_view> nearest_name(std::string_view wanted,
                                             std::span<const std::string_view> known) {
  // Longer names come from no typing mistake, and would cost quadratic time.
  constexpr std::size_t longest = 64;
  if (wanted.size() > longest) return {};
  std::optional<std::string_view> best;
  std::size_t fewest = longest;
  std::size_t alike = 0;
  for (const std::string_view name : known) {
    const std::size_t allowed = std::max(wanted.size(), name.size()) / 3;
    // At least the difference of the lengths is edits; and known names may be of any length.
    if (std::max(wanted.size(), name.size()) - std::min(wanted.size(), name.size()) > allowed)
      continue;
    const std::size_t distance = edit_distance(wanted, name);
    const std::size_t beginning = common_beginning(wanted, name);
    const bool nearer = distance < fewest || (distance == fewest && beginning > alike);
    if (distance > allowed || !nearer) continue;
    best = name;
    fewest = distance;
    alike = beginning;
  }
  return best;
}

std::string did_you_mean(std::string_view wanted, std::span<const std::string_view> known) {
  const auto nearest = nearest_name(wanted, known);
  return nearest ? "; did you mean '" + std::string{*nearest} + "'?" : std::string{};
}

}  // namespace stoker
