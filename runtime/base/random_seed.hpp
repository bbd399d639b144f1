// Seeds for those who have named none.
//
// Pure but for the machine's randomness; any thread.
#pragma once

#include <cstdint>

namespace stoker {

/// Another one each time, in each process. Throws std::exception if the machine has no randomness.
[[nodiscard]] std::uint64_t random_seed();

}  // namespace stoker
