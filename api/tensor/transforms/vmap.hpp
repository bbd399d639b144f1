// Functions of single elements as functions of many at once.
//
//     auto norms = vmap([](const Tensor& row) { return sqrt(sum(row * row)); });
//     Tensor y = norms(matrix);                                    // one for each row
//     auto per_example = vmap(grad(loss), {.in_axes = {std::nullopt, 0, 0}});
//     Model gradients = per_example(model, inputs, targets);       // one for each example
//
// The function is called once, with placeholders for one element; what it computes is rewritten so that
// all elements are computed together: a product of vectors becomes one of matrices, a sum one along
// another axis. Where a condition differs from element to element both branches are computed, and a loop
// goes on while one element does. What has no rule (calls of the program, random bits) is done for each
// element. Arguments and results are structures of tensors (structure.hpp).
//
// Works inside of jit, grad and vmap and around them. Within the function values are not known: asking
// for one throws invalid_argument.
//
// Threads: any. Errors are thrown: what the function throws; arity_mismatch if in_axes has not one entry
// for each argument, invalid_parameter for axes that are not there, shape_mismatch if the arguments differ
// in how many elements they have, or if a result would have more axes than there may be.
#pragma once

#include <array>
#include <optional>
#include <tuple>

#include "stoker/api/tensor/core/structure.hpp"

namespace stoker {

/// Which axis of each argument the elements are along, for all tensors in it; std::nullopt: the argument
/// is the same for all elements. None given: the first axis of all. Results have the elements along
/// `out_axis`.
struct VmapAxes {
  std::vector<std::optional<std::int64_t>> in_axes = {};
  std::int64_t out_axis = 0;
};

namespace detail {
/// A call for one element.
struct ElementCall {
  std::vector<Tensor> arguments;   ///< what the function is called with
  std::vector<Tensor> parameters;  ///< placeholders among them
  std::vector<Tensor> mapped;      ///< of which elements they are, along the first axis
  std::int64_t size = 0;
  std::uint64_t mark = 0;
};
/// `counts`: how many of the tensors are of each argument.
[[nodiscard]] ElementCall element_call(std::span<const Tensor> tensors,
                                       std::span<const std::size_t> counts, const VmapAxes& axes);
[[nodiscard]] std::vector<Tensor> all_elements(const ElementCall& call,
                                               std::span<const Tensor> results,
                                               std::int64_t out_axis);
}  // namespace detail

/// A function that gives the results of `function` for each element.
template <class F> [[nodiscard]] auto vmap(F function, VmapAxes axes = {}) {
  return [function = std::move(function),
          axes = std::move(axes)]<class... Args>(const Args&... args) {
    const std::tuple<Args...> given{args...};
    const std::array<std::size_t, sizeof...(Args)> counts{detail::tensors_of(args).size()...};
    const detail::ElementCall call = detail::element_call(detail::tensors_of(given), counts, axes);
    auto result = std::apply(function, detail::with_tensors(given, call.arguments));
    using Result = decltype(result);
    return Result{detail::with_tensors(
        result, detail::all_elements(call, detail::tensors_of(result), axes.out_axis))};
  };
}
[[nodiscard]] inline auto vmap(ElementFunction function, VmapAxes axes = {}) {
  return vmap<ElementFunction>(function, std::move(axes));
}

}  // namespace stoker
