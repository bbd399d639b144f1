#include "stoker/api/serve/row_memory.hpp"

#include <algorithm>

namespace stoker::serve {
namespace {

std::int64_t product(std::span<const std::int64_t> extents) {
  std::int64_t all = 1;
  for (const std::int64_t extent : extents) all *= extent;
  return all;
}

}  // namespace

RowMemory::RowMemory(const Device& device, const TensorSpec& spec, std::size_t axis)
    : buffer_{device.buffer(spec)},
      axis_{axis},
      rows_{spec.shape[axis]},
      blocks_{product(spec.shape.extents().first(axis))},
      row_bytes_{static_cast<std::size_t>(product(spec.shape.extents().subspan(axis + 1))) *
                 size_of(spec.dtype)} {}

void RowMemory::put(std::int64_t at, const Tensor& from, std::int64_t first, std::int64_t rows) {
  const std::size_t bytes = static_cast<std::size_t>(rows) * row_bytes_;
  if (bytes == 0) return;
  const Buffer source = from.buffer();
  const std::int64_t rows_there = from.shape()[axis_];
  for (std::int64_t block = 0; block < blocks_; ++block)
    source.copy_to(buffer_, static_cast<std::size_t>(block * rows_there + first) * row_bytes_,
                   static_cast<std::size_t>(block * rows_ + at) * row_bytes_, bytes);
}

void RowMemory::repeat_last(std::int64_t at) {
  if (row_bytes_ == 0) return;
  // Twice as many each time: the rows that are there already lie side by side.
  const std::int64_t first = at - 1;
  for (std::int64_t have = 1; first + have < rows_;) {
    const std::int64_t more = std::min(have, rows_ - first - have);
    for (std::int64_t block = 0; block < blocks_; ++block)
      buffer_.copy_to(buffer_, static_cast<std::size_t>(block * rows_ + first) * row_bytes_,
                      static_cast<std::size_t>(block * rows_ + first + have) * row_bytes_,
                      static_cast<std::size_t>(more) * row_bytes_);
    have += more;
  }
}

Tensor copied_rows(const Tensor& from, std::size_t axis, std::int64_t first, std::int64_t rows) {
  RowMemory memory{from.buffer().device(), {from.dtype(), from.shape().with(axis, rows)}, axis};
  memory.put(0, from, first, rows);
  return memory.tensor();
}

}  // namespace stoker::serve
