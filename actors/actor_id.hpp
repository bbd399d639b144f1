// The number of an actor.
#pragma once

#include <cstdint>

namespace stoker {

/// Names an actor for ever; never used again within the process. 0 is no actor.
using ActorId = std::uint64_t;

}  // namespace stoker
