// Convolutions of f32 by oneDNN, cut into jobs that our own threads share.
//
// oneDNN knows three ways, which are one formula with the roles of its operands exchanged:
//     forward          y from x and k
//     backward data    x from y and k: here, an input spread out by `spread` and strides of 1
//     backward weights k from x and y: here, kernels longer than the output, and batch groups
// How the jobs are cut depends on shapes only, so results do not depend on the number of threads.
#pragma once

#include <optional>

#include "stoker/kernels/conv/finished.hpp"

namespace stoker::kernels::conv::STOKER_ISA {

/// Nothing where oneDNN has no fast way, or where the jobs that it is cut into are no rows of the output
/// that `finish`, unless it is null, could take. Running may throw Error{out_of_memory} or internal.
[[nodiscard]] std::optional<CpuPlan> onednn_plan(const Problem& p,
                                                 std::shared_ptr<const mm::Finish> finish);

}  // namespace stoker::kernels::conv::STOKER_ISA
