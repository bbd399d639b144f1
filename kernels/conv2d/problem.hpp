// What `conv2d` spells: the convolution of kernels/conv over the rows and columns of NCHW images.
#pragma once

#include "stoker/kernels/conv/problem.hpp"

namespace stoker::kernels::conv2d {

/// Both axes, down and across, or why the inputs do not fit.
[[nodiscard]] Result<conv::Problem> describe(const KernelCall& call);

}  // namespace stoker::kernels::conv2d
