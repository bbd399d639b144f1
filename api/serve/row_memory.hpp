// Rows of values, joined into one tensor and cut apart again.
//
//     const Tensor all = joined_rows(device, spec, 0, parts);    // parts: values and their rows
//     const std::vector<Tensor> each = cut_rows(device, spec, 0, bytes, {2, 3});
//
// `axis` is that of the rows. Small rows that the host can read now are copied by the calling thread; all others are
// copied by the device, and the result is ordered behind these copies. No call waits.
//
// Threads: any. Errors are thrown: those of Device::buffer() and Buffer::copy_to().
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "stoker/api/onnx/core/value.hpp"

namespace stoker::serve {

/// Some rows of a tensor value.
struct RowsOf {
  const onnx::Value* value;
  std::int64_t first = 0;
  std::int64_t rows = 0;
};

/// A tensor of this spec: the rows of the parts, then copies of the last one until it is full.
[[nodiscard]] Tensor joined_rows(const Device& device, const TensorSpec& spec, std::size_t axis,
                                 std::span<const RowsOf> parts);

/// The elements `bytes` of a tensor of this spec as tensors of so many rows each, in memory of their own. Rows that are
/// left over are dropped.
[[nodiscard]] std::vector<Tensor> cut_rows(const Device& device, const TensorSpec& spec,
                                           std::size_t axis, std::span<const std::byte> bytes,
                                           std::span<const std::int64_t> rows);

}  // namespace stoker::serve
