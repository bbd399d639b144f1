// Vectorizes functions: a function of one element becomes a function of many.
//
//     auto norms = vmap([](const Tensor& row) { return sqrt(sum(row * row)); });
//     Tensor y = norms(matrix);                                    // one for each row
//     auto per_example = vmap(grad(loss), {.in_axes = {std::nullopt, 0, 0}});
//     Model gradients = per_example(model, inputs, targets);       // one for each example
//
// The function is called once, with placeholders for one element; its operations are rewritten to
// compute all elements together: a product of vectors becomes one of matrices, a sum moves to
// another axis. Where a condition differs between elements, both branches are computed; a loop
// continues while any element does. Operations without a rule (host calls, random bits) run once
// for each element. Arguments and results are structures of tensors (structure.hpp).
//
// vmap can be nested with jit, grad and vmap in any order. Inside the function, reading a value
// throws invalid_argument.
//
// Threads: any. Errors are thrown: those of the function; arity_mismatch unless in_axes has one
// entry for each argument; invalid_parameter for axes out of range; shape_mismatch if the
// arguments' numbers of elements differ, or if a result would exceed the maximum rank.
#pragma once

#include <array>
#include <optional>
#include <tuple>

#include "stoker/api/tensor/core/structure.hpp"

namespace stoker {

/// The axis of each argument along which its elements lie, for all tensors in it; std::nullopt: the
/// argument is shared by all elements. Default: the first axis of all arguments. Results have the
/// elements along `out_axis`.
struct VmapAxes {
  std::vector<std::optional<std::int64_t>> in_axes = {};
  std::int64_t out_axis = 0;
};

namespace detail {
/// A call for one element.
struct ElementCall {
  std::vector<Tensor> arguments;   ///< arguments for the function
  std::vector<Tensor> parameters;  ///< placeholders among them
  std::vector<Tensor> mapped;      ///< the mapped tensors, elements along the first axis
  std::int64_t size = 0;
  std::uint64_t mark = 0;
};
/// `counts`: the number of tensors in each argument.
[[nodiscard]] ElementCall element_call(std::span<const Tensor> tensors,
                                       std::span<const std::size_t> counts, const VmapAxes& axes);
[[nodiscard]] std::vector<Tensor> all_elements(const ElementCall& call,
                                               std::span<const Tensor> results,
                                               std::int64_t out_axis);
}  // namespace detail

/// A function that returns the results of `function` for all elements.
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
