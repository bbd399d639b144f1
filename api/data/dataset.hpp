// Rows with random access, from which batches are made: inputs and targets, any number of each.
//
//     Dataset data{x, y};                       // or {{x1, x2}, {y}}; copies the bytes once
//     Dataset part = data.subset({4, 0, 7});    // a view
//     HostRows rows = part.rows(indices);
//     Dataset squares = dataset_from_function(100, {{{DType::f32, {}}}, {{DType::f32, {}}}},
//                                             [](std::int64_t row, const RowsInto& into) { … });
// Other sources: csv.hpp, idx.hpp, npy_rows.hpp, image_folder.hpp, or any RowSource.
//
// Threads: a Dataset is a shared handle to something immutable; rows() may run on many threads at
// once. It reads memory or files and waits for them. Errors are thrown: invalid_argument (indices
// out of range), shape_mismatch (different numbers of rows), and what a source throws.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "stoker/api/tensor/core/tensor.hpp"

namespace stoker::nn {

/// What one row is made of, without the axis of rows.
struct RowSpecs {
  std::vector<TensorSpec> inputs;
  std::vector<TensorSpec> targets;
};

/// Memory to be filled: for each input and target as many rows as were asked for.
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

/// Where rows come from.
class RowSource {
 public:
  virtual ~RowSource() = default;
  [[nodiscard]] virtual std::int64_t size() const noexcept = 0;
  [[nodiscard]] virtual const RowSpecs& specs() const noexcept = 0;
  /// Fills `into` with the rows of these indices, which are in range, in their order. Called on any
  /// thread, on several at once.
  virtual void rows(std::span<const std::int64_t> indices, const RowsInto& into) const = 0;
};

class Dataset {
 public:
  /// Throws shape_mismatch if there are rows and none of their arrays has elements.
  explicit Dataset(std::shared_ptr<const RowSource> source);
  /// Tensors whose first axis is that of rows. Waits for them and copies their bytes.
  Dataset(const Tensor& inputs, const Tensor& targets);
  Dataset(const std::vector<Tensor>& inputs, const std::vector<Tensor>& targets);

  [[nodiscard]] std::int64_t size() const noexcept;
  [[nodiscard]] const RowSpecs& specs() const noexcept { return source_->specs(); }

  /// Fills memory of exactly the size that these rows need.
  void rows(std::span<const std::int64_t> indices, const RowsInto& into) const;
  [[nodiscard]] HostRows rows(std::span<const std::int64_t> indices) const;
  /// The rows of these indices in this order, without a copy.
  [[nodiscard]] Dataset subset(std::vector<std::int64_t> indices) const;

 private:
  std::shared_ptr<const RowSource> source_;
  std::shared_ptr<const std::vector<std::int64_t>> chosen_;  // none: all rows of the source
};

/// Fills one row; called on any thread, on several at once.
using RowFunction = std::function<void(std::int64_t row, const RowsInto& into)>;
[[nodiscard]] Dataset dataset_from_function(std::int64_t size, RowSpecs specs, RowFunction fill);
/// Rows that are in the host's memory.
[[nodiscard]] Dataset dataset_from_memory(HostRows rows);

/// What a set is: how many rows, and dtypes and shapes with the axis of rows.
struct DatasetStats {
  std::int64_t num_samples = 0;
  std::vector<TensorSpec> inputs;
  std::vector<TensorSpec> targets;
};
[[nodiscard]] DatasetStats stats(const Dataset& data);

namespace detail {
/// The spec of `rows` rows. Throws invalid_argument if there is no axis left for them.
[[nodiscard]] TensorSpec with_rows(const TensorSpec& row, std::int64_t rows);
/// The bytes of row `row` in an array of rows of this spec.
[[nodiscard]] std::span<std::byte> row_of(std::span<std::byte> rows, const TensorSpec& spec,
                                          std::size_t row);
}  // namespace detail

}  // namespace stoker::nn
