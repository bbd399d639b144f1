// The number of an actor.
#pragma once

#include <cstdint>

namespace stoker {

/// Identifies an actor; never reused within the process. 0 means no actor.
using ActorId = std::uint64_t;

}  // namespace stoker
