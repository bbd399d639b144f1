// When something is computed: after something else that it does not need.
//
//     Tensor later = computed_after(x, {gradient});   // x, read when the gradient is there
//
// What is computed of the result waits for the others, so that the memory that these needed on the
// way is free by then.
//
// Pure functions; any thread.
#pragma once

#include <span>

#include "stoker/api/tensor/core/tensor.hpp"

namespace stoker {

/// The same elements. Gradients pass to `x` only.
[[nodiscard]] Tensor computed_after(const Tensor& x, std::span<const Tensor> others);

}  // namespace stoker
