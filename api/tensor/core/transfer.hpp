// Computes, reads or moves many tensors together.
//
//     const auto [a, b] = to_device(std::pair{x, y}, gpu);       // any structure; nothing waits
//     for (const std::vector<float>& row : read_all<float>(list).get()) …
//
// Threads: any; no call blocks. Errors are thrown: those of evaluation, and invalid_argument for an
// empty tensor. Failures while running are in the futures.
#pragma once

#include <initializer_list>
#include <span>
#include <string_view>
#include <vector>

#include "stoker/api/tensor/core/structure.hpp"
#include "stoker/api/tensor/core/tensor.hpp"
#include "stoker/runtime/futures/when.hpp"

namespace stoker {

namespace detail {
/// Starts all computations that are needed, as one program if all are on one device.
void eval_all(std::span<const Tensor> tensors, std::string_view op,
              const CommandOptions& options = {});
[[nodiscard]] std::vector<Tensor> all_to(std::vector<Tensor> tensors, const Device& device);
}  // namespace detail

/// Starts all computations that are needed. Ready when all are done; holds the Error of the first
/// tensor that failed. `options` as for Tensor::eval().
[[nodiscard]] Future<> computed(std::span<const Tensor> tensors,
                                const CommandOptions& options = {});
[[nodiscard]] Future<> computed(std::initializer_list<Tensor> tensors,
                                const CommandOptions& options = {});

/// Reads each tensor as Tensor::read() does. Throws dtype_mismatch unless all have dtype T.
template <class T>
[[nodiscard]] Future<std::vector<std::vector<T>>> read_all(std::span<const Tensor> tensors,
                                                           const CommandOptions& options = {}) {
  detail::eval_all(tensors, "read_all", options);
  std::vector<Future<std::vector<T>>> reads;
  for (const Tensor& tensor : tensors) reads.push_back(tensor.read<T>(options));
  return when_all(std::move(reads));
}
template <class T>
[[nodiscard]] Future<std::vector<std::vector<T>>> read_all(std::initializer_list<Tensor> tensors,
                                                           const CommandOptions& options = {}) {
  return read_all<T>(std::span<const Tensor>{tensors.begin(), tensors.size()}, options);
}

/// The same structure on another device; tensors already there are kept. Pending computations run
/// as one program, and all copies run concurrently.
template <class S> [[nodiscard]] S to_device(const S& structure, const Device& device) {
  return detail::with_tensors(structure, detail::all_to(detail::tensors_of(structure), device));
}

}  // namespace stoker
