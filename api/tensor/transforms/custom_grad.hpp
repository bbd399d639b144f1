// Functions with a user-defined gradient, and functions that are recomputed for their gradient
// instead of keeping intermediate values.
//
//     auto clipped = custom_grad(
//         [](const Tensor& x) { return x; },
//         [](const Tensor& x, const Tensor& y, const Tensor& g) { return clip(g, -1, 1); });
//     auto block = checkpoint([&](const Tensor& x) { return layers(weights, x); });
//
// Both return functions that can be used wherever the original could: inside grad, jit, vmap and
// each other.
//
// Threads: any. Errors are thrown: those of the functions; while differentiating, arity_mismatch
// and shape_mismatch if a rule does not return one gradient for each tensor in the arguments.
#pragma once

#include <functional>
#include <tuple>

#include "stoker/api/tensor/core/structure.hpp"

namespace stoker {

namespace detail {
using TensorRule = std::function<std::vector<Tensor>(std::span<const Tensor> inputs,
                                                     std::span<const Tensor> outputs,
                                                     std::span<const Tensor> seeds)>;
[[nodiscard]] std::vector<Tensor> with_rule(std::span<const Tensor> inputs,
                                            std::span<const Tensor> outputs, TensorRule rule);
/// Placeholders for tensors, and a serial number taken before they were made.
struct Traced {
  std::uint64_t mark = 0;
  std::vector<Tensor> parameters;
};
[[nodiscard]] Traced trace_of(std::span<const Tensor> tensors);
[[nodiscard]] std::vector<Tensor> checkpointed(const Traced& traced,
                                               std::span<const Tensor> results,
                                               std::span<const Tensor> arguments);

/// The type of a rule's x: the argument itself, or a tuple of several.
template <class... Args> struct Arguments { using Type = std::tuple<Args...>; };
template <class Arg> struct Arguments<Arg> { using Type = Arg; };

/// The structure with empty tensors, so that it keeps no computation alive.
template <class T> [[nodiscard]] T emptied(T value) {
  const std::size_t count = tensors_of(value).size();
  return with_tensors(std::move(value), std::vector<Tensor>(count));
}
}  // namespace detail

/// `function` with its own gradient. `backward(x, y, g)` returns the gradients with respect to x,
/// in x's structure: x is the argument (a tuple if there are several), y the result and g the
/// gradient with respect to y, in y's structure. Gradients for integers are ignored. Captured
/// tensors count as constants.
template <class F, class B> [[nodiscard]] auto custom_grad(F function, B backward) {
  return [function = std::move(function),
          backward = std::move(backward)]<class... Args>(const Args&... args) {
    using X = typename detail::Arguments<Args...>::Type;
    const X x{args...};
    auto y = function(args...);
    using Y = decltype(y);
    auto rule = [backward, x_form = detail::emptied(x), y_form = detail::emptied(y)](
                    std::span<const Tensor> inputs, std::span<const Tensor> outputs,
                    std::span<const Tensor> seeds) {
      const X given = detail::with_tensors(x_form, inputs);
      const Y result = detail::with_tensors(y_form, outputs);
      const Y gradient = detail::with_tensors(y_form, seeds);
      return detail::tensors_of(backward(given, result, gradient));
    };
    return Y{detail::with_tensors(
        y, detail::with_rule(detail::tensors_of(x), detail::tensors_of(y), std::move(rule)))};
  };
}

/// `function` with gradient checkpointing: its gradient computes it again from its arguments
/// instead of keeping intermediate values. This saves memory and costs one more evaluation.
/// Captured tensors get gradients too.
template <class F> [[nodiscard]] auto checkpoint(F function) {
  return [function = std::move(function)]<class... Args>(const Args&... args) {
    const std::tuple<Args...> given{args...};
    const std::vector<Tensor> tensors = detail::tensors_of(given);
    const detail::Traced traced = detail::trace_of(tensors);
    auto y = std::apply(function, detail::with_tensors(given, traced.parameters));
    using Y = decltype(y);
    return Y{detail::with_tensors(y, detail::checkpointed(traced, detail::tensors_of(y), tensors))};
  };
}
[[nodiscard]] inline auto checkpoint(ElementFunction function) {
  return checkpoint<ElementFunction>(function);
}

}  // namespace stoker
