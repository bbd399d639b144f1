// Convolutions of 8-bit integers by oneDNN, cut into jobs that our own threads share.
//
// What it computes is u8 times s8, without zero points, on a canvas that holds the padding; other signs are flipped on
// the way to it, and zero points come in afterwards. With zero points x' and k' of what is multiplied,
//     sum of (x - x')(k - k') = sum of x·k - x' · sum of k - k' · sum of x + terms · x'·k'.
#pragma once

#include <optional>

#include "stoker/kernels/cpu_plan.hpp"
#include "stoker/kernels/integer_conv/problem.hpp"

namespace stoker::kernels::integer_conv::STOKER_ISA {

/// Nothing where oneDNN has no fast way. Precondition: its sums are exact, and the problem has outputs and terms.
/// Running may throw Error{out_of_memory} or internal.
[[nodiscard]] std::optional<CpuPlan> onednn_plan(const Problem& problem);

}  // namespace stoker::kernels::integer_conv::STOKER_ISA
