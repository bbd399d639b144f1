// Rows with random access, the source of batches: inputs and targets, any number of each.
//
//     Dataset data{x, y};                       // or {{x1, x2}, {y}}; copies the bytes once
//     Dataset part = data.subset({4, 0, 7});    // a view
//     HostRows rows = part.rows(indices);
//     Dataset squares = dataset_from_function(100, {{{DType::f32, {}}}, {{DType::f32, {}}}},
//                                             [](std::int64_t row, const RowsInto& into) { … });
// Other sources: csv.hpp, idx.hpp, npy_rows.hpp, image_folder.hpp, or any RowSource.
//
// Threads: a Dataset is a shared handle to something immutable; rows() may run on many threads at
// once. rows() reads memory or files and may block on them. Throws invalid_argument (indices out of
// range), shape_mismatch (different numbers of rows), and what the source throws.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "stoker/api/tensor/core/tensor.hpp"

namespace stoker::nn {

/// The specs of one row, without the row axis.
struct RowSpecs {
  std::vector<TensorSpec> inputs;
  std::vector<TensorSpec> targets;
};

/// Memory to fill: for each input and target, as many rows as were requested. The caller owns it.
struct RowsInto {
  std::vector<std::span<std::byte>> inputs;
  std::vector<std::span<std::byte>> targets;
};

/// An array in the host's memory, row-major.
struct HostArray {
  TensorSpec spec;  ///< with the axis of rows
  std::vector<std::byte> bytes;
};
struct HostRows {
  std::int64_t rows = 0;
  std::vector<HostArray> inputs;
  std::vector<HostArray> targets;
};

/// A source of rows.
class RowSource {
 public:
  virtual ~RowSource() = default;
  [[nodiscard]] virtual std::int64_t size() const noexcept = 0;
  [[nodiscard]] virtual const RowSpecs& specs() const noexcept = 0;
  /// Fills `into` with the rows at these indices, in that order. The indices are in range. Called
  /// on any thread, on several at once.
  virtual void rows(std::span<const std::int64_t> indices, const RowsInto& into) const = 0;
};

class Dataset {
 public:
  /// Throws shape_mismatch if the source has rows, but no array of a row has elements.
  explicit Dataset(std::shared_ptr<const RowSource> source);
  /// The first axis of each tensor is the row axis. Blocks until the tensors are computed; copies
  /// them.
  Dataset(const Tensor& inputs, const Tensor& targets);
  Dataset(const std::vector<Tensor>& inputs, const std::vector<Tensor>& targets);

  [[nodiscard]] std::int64_t size() const noexcept;
  [[nodiscard]] const RowSpecs& specs() const noexcept { return source_->specs(); }

  /// Fills memory that must have exactly the size of these rows.
  void rows(std::span<const std::int64_t> indices, const RowsInto& into) const;
  [[nodiscard]] HostRows rows(std::span<const std::int64_t> indices) const;
  /// A view of the rows at these indices, in this order, without a copy.
  [[nodiscard]] Dataset subset(std::vector<std::int64_t> indices) const;

 private:
  std::shared_ptr<const RowSource> source_;
  std::shared_ptr<const std::vector<std::int64_t>> chosen_;  // null: all rows of the source
};

/// Fills one row; called on any thread, on several at once.
using RowFunction = std::function<void(std::int64_t row, const RowsInto& into)>;
[[nodiscard]] Dataset dataset_from_function(std::int64_t size, RowSpecs specs, RowFunction fill);
/// A dataset of rows in host memory.
[[nodiscard]] Dataset dataset_from_memory(HostRows rows);

/// The number of rows, and the specs of the arrays including the row axis.
struct DatasetStats {
  std::int64_t num_samples = 0;
  std::vector<TensorSpec> inputs;
  std::vector<TensorSpec> targets;
};
[[nodiscard]] DatasetStats stats(const Dataset& data);

namespace detail {
/// The spec of `rows` rows. Throws invalid_argument if the rank has no room for the row axis.
[[nodiscard]] TensorSpec with_rows(const TensorSpec& row, std::int64_t rows);
/// The bytes of row `row` in an array of rows of this spec.
[[nodiscard]] std::span<std::byte> row_of(std::span<std::byte> rows, const TensorSpec& spec,
                                          std::size_t row);
}  // namespace detail

}  // namespace stoker::nn
