// Calls user-defined kernels in lazy programs.
//
//     const UserKernel parabola = system.add_kernel({…});                   // api/kernel_spec.hpp
//     Tensor y = call(parabola, {x}, {{"a", 2.0}});                          // nothing has run
//     Tensor slope = grad([&](const Tensor& v) { return sum(call(parabola, {v})); })(x);
//
// A call is an operation like any other, also inside jit, grad, vmap and loops. Nothing is fused
// into the kernel. Under vmap it runs once for each element. If the device lacks the kernel, it
// runs on the CPU.
//
// Threads: any; a gradient rule is called on the thread that differentiates, possibly on several at
// once. Errors: a bad call throws at once, with the kernel's name. While differentiating:
// unsupported if there is no rule; arity_mismatch and shape_mismatch if a rule does not return one
// gradient for each input.
#pragma once

#include <initializer_list>
#include <span>
#include <string_view>
#include <vector>

#include "stoker/api/kernel_spec.hpp"
#include "stoker/api/tensor/core/tensor.hpp"
#include "stoker/kernels/typed_kernel.hpp"

namespace stoker {

/// The arguments of a gradient rule, which must compute its result from these and constants only.
struct KernelBackward {
  std::span<const Tensor> inputs;
  std::span<const Tensor> outputs;
  std::span<const Tensor> gradients;  ///< for each output; zeros if nothing depends on it
  const ParamSet& params;             ///< all the kernel's parameters
  [[nodiscard]] const Tensor& x(std::size_t i = 0) const noexcept { return inputs[i]; }
  [[nodiscard]] const Tensor& y(std::size_t i = 0) const noexcept { return outputs[i]; }
  [[nodiscard]] const Tensor& g(std::size_t i = 0) const noexcept { return gradients[i]; }
};

struct KernelCallOptions {
  /// Replaces the kernel's own gradient.
  KernelGradient gradient = {};
};

namespace detail {
/// Refuses a struct of options that is not of `kernel`.
void check_options(const UserKernel& kernel, std::string_view kind);
}  // namespace detail

/// The first output of a kernel.
[[nodiscard]] Tensor call(const UserKernel& kernel, std::span<const Tensor> inputs,
                          const Params& params = {}, const KernelCallOptions& options = {});
[[nodiscard]] Tensor call(const UserKernel& kernel, std::initializer_list<Tensor> inputs,
                          const Params& params = {}, const KernelCallOptions& options = {});
/// All outputs of a kernel.
[[nodiscard]] std::vector<Tensor> call_all(const UserKernel& kernel, std::span<const Tensor> inputs,
                                           const Params& params = {},
                                           const KernelCallOptions& options = {});

/// The same with the kernel's struct of options: call(parabola, {x}, Parabola{.a = 2}). A struct of
/// another kernel throws invalid_parameter.
template <TypedKernel K>
[[nodiscard]] Tensor call(const UserKernel& kernel, std::initializer_list<Tensor> inputs,
                          const K& given, const KernelCallOptions& options = {}) {
  detail::check_options(kernel, K::kind);
  return call(kernel, inputs, options::given(given), options);
}
template <TypedKernel K>
[[nodiscard]] std::vector<Tensor> call_all(const UserKernel& kernel, std::span<const Tensor> inputs,
                                           const K& given, const KernelCallOptions& options = {}) {
  detail::check_options(kernel, K::kind);
  return call_all(kernel, inputs, options::given(given), options);
}

}  // namespace stoker
