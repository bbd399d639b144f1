// How failures spread between the steps of a submission: along data, not along order.
//
// Threads: any; no state.
#pragma once

#include "stoker/device/backend.hpp"

namespace stoker {

/// Whether `later` reads something that `earlier` writes. If not, it comes after it only because it
/// overwrites what that one touches, and has nothing to do with its failure.
[[nodiscard]] bool reads_output_of(const Step& later, const Step& earlier) noexcept;

}  // namespace stoker
