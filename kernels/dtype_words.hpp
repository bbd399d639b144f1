// The names of dtypes, for options. Constant; any thread.
#pragma once

#include "stoker/kernels/options.hpp"
#include "stoker/runtime/base/dtype.hpp"

namespace stoker {

/// The words of the dtypes that kernels compute with, in the order of DType.
inline constexpr auto dtype_words = one_of<DType>({{"f32", DType::f32},
                                                   {"f64", DType::f64},
                                                   {"f16", DType::f16},
                                                   {"bf16", DType::bf16},
                                                   {"s8", DType::s8},
                                                   {"s16", DType::s16},
                                                   {"s32", DType::s32},
                                                   {"s64", DType::s64},
                                                   {"u8", DType::u8},
                                                   {"u16", DType::u16},
                                                   {"u32", DType::u32},
                                                   {"u64", DType::u64},
                                                   {"bool", DType::boolean}});
static_assert(dtype_words.size() == dtype_count);

}  // namespace stoker
