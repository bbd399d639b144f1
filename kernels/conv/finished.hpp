// Convolutions on the CPU of which something is made while they are in the cache (kernels/fused).
//
// Compiled once per instruction set.
#pragma once

#include "stoker/kernels/conv/problem.hpp"
#include "stoker/kernels/matmul/finish.hpp"

namespace stoker::kernels::conv::STOKER_ISA {

namespace mm = stoker::kernels::matmul::STOKER_ISA;

/// Of the output in the order of its memory: channels if they are neighbours, or the pixels of one
/// channel; 1 for other orders of axes.
[[nodiscard]] std::int64_t row_of(const Problem& problem) noexcept;

/// The plan of a convolution with at least one output, of which `finish`, if it is not null, makes the
/// outputs. Where the kernel is blocked there is no bias. A bias, and s32, have the outputs of NCHW images
/// only, and no `finish`.
[[nodiscard]] CpuPlan plan_finished(DType dtype, const Problem& problem,
                                    std::shared_ptr<const mm::Finish> finish);

}  // namespace stoker::kernels::conv::STOKER_ISA
