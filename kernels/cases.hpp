// What the conformance suite knows about a kernel: sample cases, error bounds, and a plain
// double-precision reference. Linked into tests and benchmarks only.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "stoker/kernels/call.hpp"

namespace stoker {

/// How input values are drawn (from a fixed seed). Integer dtypes get rounded values within their
/// range; bool gets 0 or 1.
struct Fill {
  double low = -2.0;
  double high = 2.0;
  bool avoid_zero = false;  ///< |value| ≥ 0.25, for divisors
  bool specials =
      false;  ///< half of a float's values are NaN, an infinity or a zero, of both signs
};

struct KernelCase {
  std::string label;  ///< unique within the kernel: "prime", "rank8", "empty" …
  std::vector<TensorSpec> inputs;
  Params params = {};
  std::vector<Fill> fills = {};  ///< one per input; fewer: the last (or the default) repeats
  bool heavy = false;            ///< skipped on software devices in the quick run
};

/// |got − want| ≤ absolute + relative · |want|; NaN matches NaN.
struct ErrorBound {
  double absolute = 0;
  double relative = 0;
};

struct KernelSuite {
  std::string kernel;
  std::vector<KernelCase> cases;  ///< already spread over dtypes
  /// Outputs as doubles, from inputs as doubles (as stored, after rounding to their dtype).
  std::function<std::vector<std::vector<double>>(const KernelCall&,
                                                 std::span<const TensorSpec> outputs,
                                                 const std::vector<std::vector<double>>& inputs)>
      reference;
  std::function<ErrorBound(const KernelCall&)> bound;
};

/// Every kernel's suite; generated from kernels/*/cases.cpp, each of which defines
///     void stoker::kernels::<folder>::suites(std::vector<KernelSuite>&)
[[nodiscard]] std::vector<KernelSuite> all_kernel_suites();

}  // namespace stoker
