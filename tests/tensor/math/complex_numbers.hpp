// Complex tensors in tests: their numbers, comparisons, and gradients against central differences.
//
// Threads: that of the test.
#pragma once

#include <complex>
#include <functional>
#include <vector>

#include "stoker/tests/tensor/fixture.hpp"

namespace stoker {

using C = std::complex<double>;
using Numbers = std::vector<C>;

/// Each element is as near as the tolerance, or that times its size where that is above 1.
void expect_numbers(const Tensor& got, const Numbers& want, double tolerance = 2e-6);

/// The gradient of a real scalar by complex numbers is dL/dre + i·dL/dim: each part against a central
/// difference.
void expect_complex_differences(const std::function<Tensor(const Tensor&)>& loss, const Numbers& at,
                                double tolerance = 1e-6);

}  // namespace stoker
