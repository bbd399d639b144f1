// Finds data that cannot be used for training, before the training starts.
//
//     check_rows(x, y, {.num_classes = 10});
//     check_rows(data);                        // reads every row once
//
// Found: inputs and targets with different numbers of rows, no rows, NaN and infinities, class
// indices outside [0, num_classes). The error names the array, the row and the value.
//
// Threads: any. Reads values and waits for them: neither in jit() nor on a host's event loop.
// Errors are thrown: shape_mismatch (rows), invalid_argument (values; details array, row,
// element, value), dtype_mismatch (class indices that are not integers).
#pragma once

#include <cstdint>
#include <optional>

#include "stoker/api/data/dataset.hpp"

namespace stoker::nn {

struct CheckOptions {
  bool finite = true;                            ///< refuse NaN and infinities
  std::optional<std::int64_t> num_classes = {};  ///< given: targets are class indices below it
};

void check_rows(const Tensor& x, const Tensor& y, const CheckOptions& options = {});
void check_rows(const Dataset& data, const CheckOptions& options = {});

}  // namespace stoker::nn
