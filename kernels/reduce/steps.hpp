// A reduction over any axes as a sequence of reductions over one, and the dtypes on its way.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "stoker/kernels/call.hpp"
#include "stoker/kernels/reduce/operation.hpp"
#include "stoker/kernels/reduce/options.hpp"

namespace stoker::kernels::reduce {

inline constexpr OperationName operations[] = {
    {Operation::sum, ReduceSum::kind,
     "sum over axes; 0 if there are no elements; s8 and s16 give s32; u8, u16 and bool give u32; "
     "integers wrap"},
    {Operation::max, ReduceMax::kind, "largest element over axes; NaN if there is one"},
    {Operation::min, ReduceMin::kind, "smallest element over axes; NaN if there is one"},
    {Operation::mean, ReduceMean::kind,
     "mean over axes; NaN if there are no elements; integers and bool give f32"},
    {Operation::product, ReduceProduct::kind,
     "product over axes; 1 if there are no elements; dtypes are those of reduce_sum; integers "
     "wrap"},
    {Operation::all, ReduceAll::kind,
     "u8: 1 where all elements over axes differ from 0, else 0; 1 if there are no elements"},
    {Operation::any, ReduceAny::kind,
     "u8: 1 where any element over axes differs from 0, else 0; 0 if there are no elements"},
};

/// The dtype of the result.
[[nodiscard]] DType result_dtype(Operation operation, DType dtype) noexcept;
/// The dtype that holds partial results without losing more than the arithmetic does.
[[nodiscard]] DType partial_dtype(Operation operation, DType dtype) noexcept;

/// Which axes of input 0 are reduced, by the parameter `axes` (empty: all). invalid_parameter on an
/// axis out of range or given twice.
[[nodiscard]] Result<std::vector<bool>> reduced_axes(std::string_view op, const KernelCall& call);

/// One reduction: from [outer, reduced, inner] to [outer, inner].
struct Step {
  std::int64_t outer = 1;
  std::int64_t reduced = 1;
  std::int64_t inner = 1;
};

struct Steps {
  std::vector<Step> steps;  ///< at least one; each reads what the one before it wrote
  std::int64_t count = 1;   ///< elements that meet in one result
};

/// Innermost axes first: the first step reads everything, the later ones what little is left.
[[nodiscard]] Steps steps(const Shape& shape, const std::vector<bool>& reduced);

}  // namespace stoker::kernels::reduce
