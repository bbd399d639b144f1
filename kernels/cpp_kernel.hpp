// A user's kernel: a C++ function that runs on the CPU device's compute pool.
//
//     CppKernelSpec spec{.name = "twice"};
//     spec.run = [](const CppCall& call, std::size_t begin, std::size_t end) {
//       const auto x = call.in<float>(0);
//       const auto y = call.out<float>(0);
//       for (std::size_t i = begin; i < end; ++i) y[i] = 2 * x[i];
//     };
//     system.add_kernel(spec);
#pragma once

#include <cstddef>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "stoker/kernels/kernel.hpp"

namespace stoker {

/// The function's view of one run. It refers to the run's memory: do not keep any of it.
class CppCall {
 public:
  CppCall(std::span<const TensorSpec> inputs, std::span<const TensorSpec> outputs,
          const ParamSet& params, const CpuArgs& args) noexcept
      : inputs_{inputs}, outputs_{outputs}, params_{params}, args_{args} {}

  [[nodiscard]] std::span<const TensorSpec> inputs() const noexcept { return inputs_; }
  [[nodiscard]] std::span<const TensorSpec> outputs() const noexcept { return outputs_; }
  [[nodiscard]] const ParamSet& params() const noexcept { return params_; }

  /// The elements of a buffer, row-major. Throws Error{dtype_mismatch} if it does not hold T, and
  /// Error{arity_mismatch} if there is no such buffer.
  template <class T> [[nodiscard]] std::span<const T> in(std::size_t i = 0) const {
    check("input", inputs_, i, dtype_of<T>);
    return {args_.in<T>(i), inputs_[i].elements()};
  }
  template <class T> [[nodiscard]] std::span<T> out(std::size_t i = 0) const {
    check("output", outputs_, i, dtype_of<T>);
    return {args_.out<T>(i), outputs_[i].elements()};
  }

 private:
  static void check(const char* kind, std::span<const TensorSpec> specs, std::size_t i,
                    DType dtype);

  std::span<const TensorSpec> inputs_;
  std::span<const TensorSpec> outputs_;
  const ParamSet& params_;
  const CpuArgs& args_;
};

struct CppKernelSpec {
  std::string name;
  std::string summary = {};
  Arity inputs = {1, 1};
  std::vector<DType> dtypes = {DType::f32};  ///< accepted dtypes of input 0
  std::vector<ParamSpec> params = {};
  /// The outputs' specs. Empty: all inputs must have one shape; one output, like input 0.
  std::function<Result<std::vector<TensorSpec>>(const KernelCall&)> infer = {};

  /// Computes elements [begin, end) of the first output. Ranges run at the same time on several
  /// threads; an exception fails the command. It must not wait for Stoker's commands.
  std::function<void(const CppCall&, std::size_t begin, std::size_t end)> run;
  /// The minimum number of elements in a range. 0: one call for the whole output.
  std::size_t grain = 16384;
  /// Estimated time on one thread. If given, runs of a few microseconds may execute on a caller's thread, and runs of
  /// up to 0.2 ms on the thread of a caller that waits; 0: never.
  double ns_per_element = 0;
};

/// The kernel as System::add_kernel() adds it. Throws invalid_argument if the definition is incomplete.
[[nodiscard]] Kernel cpp_kernel(CppKernelSpec spec);
/// The same with the failure as a value.
[[nodiscard]] Result<Kernel> try_cpp_kernel(CppKernelSpec spec);

}  // namespace stoker
