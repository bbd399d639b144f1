// Exact gradients of functions of tensors.
//
//     auto loss = [](const Tensor& w, const Tensor& x) { return sum(pow(matmul(x, w), 2)); };
//     Tensor g = grad(loss)(w, x);                       // d loss / d w
//     auto [value, gradient] = value_and_grad(loss)(w, x);
//
// The function is called once, with tensors, and differentiated in reverse mode. A gradient is a
// tensor like any other: it is computed when needed and can be differentiated again. Gradients are
// taken with respect to the first argument. It may be a structure of tensors (structure.hpp); the
// gradient has the same structure. Integers in it get float gradients of zero.
//
// Threads: any. Errors are thrown: invalid_argument if the result is not a scalar; unsupported,
// naming the operation, if it has no gradient; errors of the function.
#pragma once

#include <type_traits>

#include "stoker/api/tensor/core/structure.hpp"

namespace stoker {

namespace detail {
/// Variables that stand for these tensors.
[[nodiscard]] std::vector<Tensor> variables(std::span<const Tensor> tensors);
/// The gradients of a scalar.
[[nodiscard]] std::vector<Tensor> gradients_of(const Tensor& result,
                                               std::span<const Tensor> variables);
/// The gradients of Σ seeds[i]·results[i].
[[nodiscard]] std::vector<Tensor> pulled_back(std::span<const Tensor> results,
                                              std::span<const Tensor> seeds,
                                              std::span<const Tensor> variables);
[[nodiscard]] std::vector<Tensor> pushed_forward(std::span<const Tensor> results,
                                                 std::span<const Tensor> variables,
                                                 std::span<const Tensor> tangents);
void check_alike(const char* op, std::span<const Tensor> given, std::span<const Tensor> like);
}  // namespace detail

/// A function that returns {f(x, rest…), df/dx}.
template <class F> [[nodiscard]] auto value_and_grad(F function) {
  return [function = std::move(function)]<class X, class... Rest>(const X& x, const Rest&... rest) {
    const std::vector<Tensor> variables = detail::variables(detail::tensors_of(x));
    const Tensor result = function(detail::with_tensors(x, variables), rest...);
    return std::pair{result, detail::with_tensors(x, detail::gradients_of(result, variables))};
  };
}
[[nodiscard]] inline auto value_and_grad(ElementFunction function) {
  return value_and_grad<ElementFunction>(function);
}

/// The same for a function with several results, of which `pick` selects the scalar to
/// differentiate. Returns {f(x, rest…), d pick(f)/dx}.
template <class F, class Pick> [[nodiscard]] auto value_and_grad(F function, Pick pick) {
  return [function = std::move(function), pick = std::move(pick)]<class X, class... Rest>(
             const X& x, const Rest&... rest) {
    const std::vector<Tensor> variables = detail::variables(detail::tensors_of(x));
    auto result = function(detail::with_tensors(x, variables), rest...);
    const Tensor scalar = pick(result);
    auto gradient = detail::with_tensors(x, detail::gradients_of(scalar, variables));
    return std::pair{std::move(result), std::move(gradient)};
  };
}

/// A function that returns df/dx.
template <class F> [[nodiscard]] auto grad(F function) {
  return [both = value_and_grad(std::move(function))]<class X, class... Rest>(
             const X& x, const Rest&... rest) { return both(x, rest...).second; };
}
[[nodiscard]] inline auto grad(ElementFunction function) { return grad<ElementFunction>(function); }

/// f(x), and a function that maps a gradient with respect to f's result to the gradient with
/// respect to x.
template <class F, class X> [[nodiscard]] auto vjp(const F& function, const X& x) {
  const std::vector<Tensor> variables = detail::variables(detail::tensors_of(x));
  auto result = function(detail::with_tensors(x, variables));
  using Y = decltype(result);
  auto pull = [x, variables, result](const Y& seed) {
    const auto results = detail::tensors_of(result);
    const auto seeds = detail::tensors_of(seed);
    detail::check_alike("vjp", seeds, results);
    return detail::with_tensors(x, detail::pulled_back(results, seeds, variables));
  };
  return std::pair{std::move(result), std::move(pull)};
}
template <class X> [[nodiscard]] auto vjp(ElementFunction function, const X& x) {
  return vjp<ElementFunction, X>(function, x);
}

/// f(x), and its directional derivative along `tangent`. Costs two nested backward passes.
template <class F, class X>
[[nodiscard]] auto jvp(const F& function, const X& x, const X& tangent) {
  const std::vector<Tensor> variables = detail::variables(detail::tensors_of(x));
  auto result = function(detail::with_tensors(x, variables));
  const auto tangents = detail::tensors_of(tangent);
  detail::check_alike("jvp", tangents, variables);
  auto moved = detail::with_tensors(
      result, detail::pushed_forward(detail::tensors_of(result), variables, tangents));
  return std::pair{std::move(result), std::move(moved)};
}
template <class X> [[nodiscard]] auto jvp(ElementFunction function, const X& x, const X& tangent) {
  return jvp<ElementFunction, X>(function, x, tangent);
}

/// The same elements, but no gradient passes through.
[[nodiscard]] Tensor stop_gradient(const Tensor& x);

}  // namespace stoker
