// Kernels of the program's own inside of lazy programs.
//
//     const UserKernel parabola = system.add_kernel({…});                   // api/kernel_spec.hpp
//     Tensor y = call(parabola, {x}, {{"a", 2.0}});                          // nothing has run
//     Tensor slope = grad([&](const Tensor& v) { return sum(call(parabola, {v})); })(x);
//
// A call takes its place among the other operations, inside of jit, grad, vmap and loops, too. It is one
// kernel: nothing is fused into it. Under vmap the kernel runs once for each element. On a device that
// lacks the kernel it runs on the CPU.
//
// Threads: any; a gradient rule is called by whoever differentiates, on any thread, also at the same time.
// Errors: what is wrong with the call is thrown at once, in the kernel's name. While differentiating:
// unsupported if there is no rule; arity_mismatch and shape_mismatch if a rule does not give one gradient
// for each input.
#pragma once

#include <initializer_list>
#include <span>
#include <vector>

#include "stoker/api/kernel_spec.hpp"
#include "stoker/api/tensor/core/tensor.hpp"

namespace stoker {

/// What a gradient rule sees. It makes its result of this and of constants.
struct KernelBackward {
  std::span<const Tensor> inputs;
  std::span<const Tensor> outputs;
  std::span<const Tensor> gradients;  ///< by each output; zeros if nothing depends on it
  const ParamSet& params;             ///< all of the kernel's
  [[nodiscard]] const Tensor& x(std::size_t i = 0) const noexcept { return inputs[i]; }
  [[nodiscard]] const Tensor& y(std::size_t i = 0) const noexcept { return outputs[i]; }
  [[nodiscard]] const Tensor& g(std::size_t i = 0) const noexcept { return gradients[i]; }
};

struct KernelCallOptions {
  /// In the place of the kernel's own.
  KernelGradient gradient = {};
};

/// The first output of a kernel.
[[nodiscard]] Tensor call(const UserKernel& kernel, std::span<const Tensor> inputs,
                          const Params& params = {}, const KernelCallOptions& options = {});
[[nodiscard]] Tensor call(const UserKernel& kernel, std::initializer_list<Tensor> inputs,
                          const Params& params = {}, const KernelCallOptions& options = {});
/// All of them.
[[nodiscard]] std::vector<Tensor> call_all(const UserKernel& kernel, std::span<const Tensor> inputs,
                                           const Params& params = {},
                                           const KernelCallOptions& options = {});

}  // namespace stoker
