// Runs of a model that show whether its rows may be joined, and where the rows of its outputs lie.
//
// The model runs with one row, with another one, with both and with both and the first again. Rows join if each output
// has one axis that is as long as there are rows, and if each row gives the same numbers alone and beside others, but
// for rounding. These runs also make the first plans. Two rows that are the same would show nothing: they do not join.
//
// Threads: any. Blocks. Errors are thrown: those of AnyModel::predict() for a sample that the program gave.
#pragma once

#include "stoker/api/serve/row_layout.hpp"

namespace stoker::serve {

/// The layout of a model's rows. `sample`: inputs as requests have them; empty: numbers are made up.
[[nodiscard]] RowLayout checked_layout(const AnyModel& model, const NamedValues& sample);

}  // namespace stoker::serve
