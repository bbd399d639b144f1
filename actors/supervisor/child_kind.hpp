// The kind of a supervisor's child, and its state.
#pragma once

#include <cstdint>

namespace stoker {

enum class ChildKind : std::uint8_t { worker, supervisor };

enum class ChildState : std::uint8_t { running, restarting, stopped };

}  // namespace stoker
