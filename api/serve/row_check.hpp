// Runs of a model that show whether its rows may be joined, and where the rows of its outputs lie.
//
// The model runs with one row, with another one, with both and with both and the first again. Rows join if each output
// has one axis that is as long as there are rows, and if each row gives the same numbers alone and beside others, but
// for rounding. These runs also make the first plans, also of a model that makes none for its callers. Two rows that
// are the same would show nothing: they do not join. If there are inputs that requests may omit, the same is tried
// without all of them.
//
// Threads: any. Blocks. Errors are thrown: those of AnyModel::predict() for a sample that the program gave.
#pragma once

#include "stoker/api/serve/row_layout.hpp"
#include "stoker/api/serve/serving_options.hpp"

namespace stoker::serve {

/// The layout of a model's rows. `sample`: inputs as requests have them; empty: numbers are made up.
[[nodiscard]] RowLayout checked_layout(const AnyModel& model, const NamedValues& sample);
/// Makes the plans that ServingOptions::warm_up asks for, with copies of the sample's first row.
void warm_up(const AnyModel& model, const RowLayout& layout, const ServingOptions& options);
/// Runs the model for a row of made-up numbers, and waits. Does nothing if no numbers can be made up. Throws why the
/// run failed.
void try_one_row(const AnyModel& model);

}  // namespace stoker::serve
