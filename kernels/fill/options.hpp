// fill as a type (kernels/typed_kernel.hpp).
#pragma once

#include "stoker/kernels/dtype_words.hpp"
#include "stoker/kernels/typed_kernel.hpp"

namespace stoker::kernels {

struct Fill {
  static constexpr KernelName kind{"fill"};
  double value = 0;
  std::int64_t value_int = 0;
  Extents shape = {};
  std::optional<DType> dtype = {};  ///< none: the input's, or f32 without an input
};
template <class V> void visit_options(Fill& o, V&& visit) {
  static constexpr auto dtypes = [] {
    OptionWords<std::optional<DType>, dtype_words.size() + 1> words{};
    words[0] = {"same", std::nullopt};
    for (std::size_t i = 0; i < dtype_words.size(); ++i)
      words[i + 1] = {dtype_words[i].first, dtype_words[i].second};
    return words;
  }();
  visit("value", o.value, anything,
        "the number to write; for integer dtypes a whole number within their range");
  visit("value_int", o.value_int, anything,
        "the number to write where a real would lose digits (s64, u64); value must then be 0");
  visit("shape", o.shape, at_least(0),
        "extents of the output, outermost first; empty: a scalar, or the input's shape");
  visit("dtype", o.dtype, dtypes,
        "dtype of the output; same: the input's, or f32 without an input");
}

using FillKernels = KernelTypes<Fill>;

}  // namespace stoker::kernels
