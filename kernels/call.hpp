// One use of a kernel: the specs of its inputs and its checked parameters.
//
// A KernelCall refers to its caller's data and lives no longer than the function it is passed to.
#pragma once

#include <span>
#include <vector>

#include "stoker/kernels/params.hpp"
#include "stoker/runtime/base/shape.hpp"

namespace stoker {

struct KernelCall {
  std::span<const TensorSpec> inputs;
  const ParamSet& params;

  [[nodiscard]] const Shape& shape(std::size_t input = 0) const noexcept {
    return inputs[input].shape;
  }
  [[nodiscard]] DType dtype(std::size_t input = 0) const noexcept { return inputs[input].dtype; }
};

}  // namespace stoker
