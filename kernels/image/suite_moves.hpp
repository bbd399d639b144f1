// For the suites of kernels that move pixels of any dtype without changing them.
#pragma once

#include <string>

#include "stoker/kernels/image/suite.hpp"
#include "stoker/kernels/rules.hpp"

namespace stoker::image {

/// One case for each of the 13 dtypes.
inline void add_move_cases(KernelSuite& suite, const std::string& label, const Shape& shape,
                           const Params& params, bool heavy = false) {
  for (const DType dtype : rules::all_dtypes()) {
    KernelCase sample;
    sample.label = label + " " + std::string{to_string(dtype)};
    sample.inputs = {{dtype, shape}};
    sample.params = params;
    sample.fills = {Fill{.low = 0, .high = 127}};
    sample.heavy = heavy;
    suite.cases.push_back(std::move(sample));
  }
}

/// Moved values are the same values.
[[nodiscard]] inline ErrorBound exact(const KernelCall&) { return {}; }

}  // namespace stoker::image
