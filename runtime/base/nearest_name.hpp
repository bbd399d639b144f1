// "Did you mean …": the known name closest to one that was not found. Every refusal of a name takes it from here.
//
// Pure functions; any thread.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace stoker {

/// The name with the fewest edits from `wanted`: a character more, less, another one, or two neighbours exchanged. None
/// if that is more than a third of the longer name, rounded down: such names have too little in common. Ties go to the
/// one that begins most like `wanted`, then to the earlier one.
[[nodiscard]] std::optional<std::string_view> nearest_name(std::string_view wanted,
                                                           std::span<const std::string_view> known);

/// "; did you mean 'dense'?", or "" if no name is near.
[[nodiscard]] std::string did_you_mean(std::string_view wanted,
                                       std::span<const std::string_view> known);

}  // namespace stoker
