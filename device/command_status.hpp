// The status of a command. It begins as pending and ends as completed, failed or cancelled.
#pragma once

#include <cstdint>
#include <string_view>

namespace stoker {

enum class CommandStatus : std::uint8_t { pending, running, completed, failed, cancelled };
[[nodiscard]] std::string_view to_string(CommandStatus status) noexcept;

}  // namespace stoker
