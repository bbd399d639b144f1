// Gradients against central differences: (f(x + h) − f(x − h)) / 2h for every element of every argument.
//
// The step h trades the error of the formula, h²·f'''/6, for rounding, about 1e-16·f / h: both are near
// 1e-10 for h = 1e-5 and functions of everyday size. So arguments are f64, and tolerances are far above.
//
// Threads: that of the test; the functions are called there, many times.
#pragma once

#include <functional>
#include <vector>

#include "fixture.hpp"

namespace stoker {

using Function = std::function<Tensor(const std::vector<Tensor>&)>;

/// Numbers within (low, high) without a pattern that an operation could follow, as f64. (A matrix of them
/// has rank 3 at most: one sine and a constant.)
[[nodiscard]] Tensor sample(const Shape& shape, double low = -1, double high = 1, double seed = 0);

/// A scalar in which different elements have different weights, so that a gradient in the wrong place
/// shows.
[[nodiscard]] Tensor weighed(const Tensor& y);

struct Nearness {
  double tolerance = 2e-6;  ///< of the difference, or absolute where that is below 1
  double step = 1e-5;
};

/// `got` holds the gradients of `loss`, which gives a scalar, by each of `at`.
void expect_differences(const Function& loss, const std::vector<Tensor>& at,
                        const std::vector<Tensor>& got, Nearness nearness = {});

/// grad() of `function`, weighed, is right by each of `at`.
void expect_gradient(const Function& function, const std::vector<Tensor>& at,
                     Nearness nearness = {});

}  // namespace stoker
