// What has become of a command; command_state.hpp shows how one follows another.
#pragma once

#include <cstdint>
#include <string_view>

namespace stoker {

enum class CommandStatus : std::uint8_t { pending, running, completed, failed, cancelled };
[[nodiscard]] std::string_view to_string(CommandStatus status) noexcept;

}  // namespace stoker
