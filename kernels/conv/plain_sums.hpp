// The sums of a convolution straight from its definition: what suites compare with. cases.cpp has the body, so it is
// there in tests and benchmarks only.
#pragma once

#include <span>
#include <vector>

#include "stoker/kernels/conv/options.hpp"
#include "stoker/runtime/base/shape.hpp"

namespace stoker::kernels::conv {

/// Arrays as doubles, with their shapes; y is the result's.
struct PlainOperands {
  const Shape &x_shape, &k_shape, &y_shape;
  std::span<const double> x, k;
};

/// y's elements. Precondition: infer() takes the shapes for these options.
[[nodiscard]] std::vector<double> plain_sums(const Conv& given, const PlainOperands& operands);

}  // namespace stoker::kernels::conv
