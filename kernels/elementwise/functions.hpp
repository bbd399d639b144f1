// The scalar functions that are kernels: the table's own ones of one or two operands.
//
// Threads: any; what it gives lives as long as the process.
#pragma once

#include <vector>

#include "stoker/kernels/scalar/function.hpp"

namespace stoker::kernels::elementwise {

/// Those that share shaders: of one family, with as many operands and one kind of result. A function that
/// is a series is a group of its own: a driver that wants one would read the long texts of all.
using Group = std::vector<const ScalarFunction*>;
/// All of them but conversions, which have kernels of their own (kernels/cast, kernels/copy).
[[nodiscard]] std::vector<Group> groups();

/// A kernel: one function or, for elementwise_div, one of floats and another of integers.
struct Elementwise {
  std::string_view name;
  const ScalarFunction* floats;
  const ScalarFunction* others;

  [[nodiscard]] const ScalarFunction& function(DType dtype) const noexcept {
    return is_float(dtype) ? *floats : *others;
  }
  [[nodiscard]] std::vector<DType> dtypes() const;
};
/// One for each function of `group`, and elementwise_div where it has the functions for it.
[[nodiscard]] std::vector<Elementwise> kernels_of(const Group& group);

/// The dtype of the result for operands of `dtype`, which the function takes.
[[nodiscard]] inline DType result_of(const ScalarFunction& function, DType dtype) noexcept {
  return function.result == ScalarResult::truth ? DType::u8 : dtype;
}

}  // namespace stoker::kernels::elementwise
