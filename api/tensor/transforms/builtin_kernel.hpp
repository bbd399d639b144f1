// Built-in kernels that no operation names, in lazy programs: for the sources of the API.
//
//     Tensor grey = detail::run_kernel(kernels::Grayscale{}, {photo});
//
// Threads: any; nothing runs. Errors: a bad call throws at once, with the kernel's name. There is no gradient.
#pragma once

#include <initializer_list>
#include <span>
#include <vector>

#include "stoker/api/tensor/core/values.hpp"
#include "stoker/kernels/typed_kernel.hpp"
#include "stoker/pipeline/tensor/graph/kernel_call.hpp"

namespace stoker::detail {

/// All outputs.
template <TypedKernel K>
[[nodiscard]] std::vector<Tensor> run_kernel_all(const K& given,
                                                 std::initializer_list<Tensor> inputs) {
  return tensors_of_values(expr::call_kernel(KernelRegistry::builtin().find(K::kind).value(),
                                             options::given(given),
                                             values_of(std::span{inputs.begin(), inputs.size()})));
}
/// The first output.
template <TypedKernel K>
[[nodiscard]] Tensor run_kernel(const K& given, std::initializer_list<Tensor> inputs) {
  return run_kernel_all(given, inputs)[0];
}

}  // namespace stoker::detail
