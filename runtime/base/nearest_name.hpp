// "Did you mean …": the known name closest to one that was not found.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace stoker {

/// The name with the fewest single-character edits (Levenshtein) from `wanted`, if that is at most a
/// third of its length, rounded up; ties go to the earlier one.
[[nodiscard]] std::optional<std::string_view> nearest_name(std::string_view wanted,
                                                           std::span<const std::string_view> known);

}  // namespace stoker
