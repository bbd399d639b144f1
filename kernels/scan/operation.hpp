// The operations of this family, and how they run along an axis.
#pragma once

#include "stoker/kernels/reduce/operation.hpp"
#include "stoker/kernels/scan/options.hpp"

namespace stoker::kernels::scan {

using reduce::Operation;

inline constexpr reduce::OperationName operations[] = {
    {Operation::sum, CumulativeSum::kind,
     "y_i = x_0 + … + x_i along an axis; integers wrap, a NaN stays from there on"},
    {Operation::product, CumulativeProduct::kind,
     "y_i = x_0 · … · x_i along an axis; integers wrap, a NaN stays from there on"},
    {Operation::max, CumulativeMax::kind,
     "y_i = max(x_0, …, x_i) along an axis; a NaN stays from there on"},
    {Operation::min, CumulativeMin::kind,
     "y_i = min(x_0, …, x_i) along an axis; a NaN stays from there on"},
};

}  // namespace stoker::kernels::scan
