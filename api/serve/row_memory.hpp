// Rows of tensors, copied on their device.
//
//     RowMemory batch{device, spec, axis};           // room for all rows
//     batch.put(0, tensor, 2, 3);                    // rows 2 to 4 of the tensor become rows 0 to 2
//     batch.repeat_last(3);                          // the third row is copied to the end
//     const Tensor joined = batch.tensor();          // ordered behind the copies
//
// Threads: one at a time. No call blocks. Errors are thrown: those of Buffer::copy_to().
#pragma once

#include <cstdint>

#include "stoker/api/tensor/core/tensor.hpp"

namespace stoker::serve {

class RowMemory {
 public:
  /// Rows lie along `axis`.
  RowMemory(const Device& device, const TensorSpec& spec, std::size_t axis);

  /// Copies `rows` rows of `from`, starting at `first`, to the rows from `at` on. `from` may be on another device.
  void put(std::int64_t at, const Tensor& from, std::int64_t first, std::int64_t rows);
  /// Fills the rows from `at` on with copies of the row before them.
  void repeat_last(std::int64_t at);
  [[nodiscard]] Tensor tensor() const { return Tensor{buffer_}; }

 private:
  Buffer buffer_;
  std::size_t axis_;
  std::int64_t rows_;      ///< of the memory
  std::int64_t blocks_;    ///< elements before the axis, each of which has its rows
  std::size_t row_bytes_;  ///< of a row in a block
};

/// These rows of the tensor in memory of their own.
[[nodiscard]] Tensor copied_rows(const Tensor& from, std::size_t axis, std::int64_t first,
                                 std::int64_t rows);

}  // namespace stoker::serve
