#include "stoker/api/data/dataset.hpp"

#include <algorithm>
#include <cstring>
#include <string>
#include <utility>

namespace stoker::nn {
namespace {

/// Arrays in memory: what a tensor's bytes, a table or an IDX file become.
class MemoryRows final : public RowSource {
 public:
  MemoryRows(HostRows rows, RowSpecs specs) : rows_{std::move(rows)}, specs_{std::move(specs)} {}
  [[nodiscard]] std::int64_t size() const noexcept override { return rows_.rows; }
  [[nodiscard]] const RowSpecs& specs() const noexcept override { return specs_; }
  void rows(std::span<const std::int64_t> indices, const RowsInto& into) const override {
    gather(rows_.inputs, specs_.inputs, indices, into.inputs);
    gather(rows_.targets, specs_.targets, indices, into.targets);
  }

 private:
  static void gather(const std::vector<HostArray>& arrays, const std::vector<TensorSpec>& specs,
                     std::span<const std::int64_t> indices,
                     const std::vector<std::span<std::byte>>& into) {
    for (std::size_t a = 0; a < arrays.size(); ++a) {
      const std::size_t bytes = specs[a].bytes();
      if (bytes == 0) continue;
      for (std::size_t i = 0; i < indices.size(); ++i)
        std::memcpy(into[a].data() + i * bytes,
                    arrays[a].bytes.data() + static_cast<std::size_t>(indices[i]) * bytes, bytes);
    }
  }

  const HostRows rows_;
  const RowSpecs specs_;
};

class FunctionRows final : public RowSource {
 public:
  FunctionRows(std::int64_t size, RowSpecs specs, RowFunction fill)
      : size_{size}, specs_{std::move(specs)}, fill_{std::move(fill)} {}
  [[nodiscard]] std::int64_t size() const noexcept override { return size_; }
  [[nodiscard]] const RowSpecs& specs() const noexcept override { return specs_; }
  void rows(std::span<const std::int64_t> indices, const RowsInto& into) const override {
    for (std::size_t i = 0; i < indices.size(); ++i) {
      RowsInto one;
      for (std::size_t a = 0; a < specs_.inputs.size(); ++a)
        one.inputs.push_back(detail::row_of(into.inputs[a], specs_.inputs[a], i));
      for (std::size_t a = 0; a < specs_.targets.size(); ++a)
        one.targets.push_back(detail::row_of(into.targets[a], specs_.targets[a], i));
      fill_(indices[i], one);
    }
  }

 private:
  const std::int64_t size_;
  const RowSpecs specs_;
  const RowFunction fill_;
};

void check_index(std::int64_t index, std::int64_t size) {
  if (index >= 0 && index < size) return;
  throw Error{"dataset",
              ErrorCode::invalid_argument,
              "row " + std::to_string(index) + " of " + std::to_string(size) + " rows",
              {{"row", std::to_string(index)}, {"rows", std::to_string(size)}}};
}

void check_memory(const char* what, const std::vector<TensorSpec>& specs, std::size_t rows,
                  const std::vector<std::span<std::byte>>& into) {
  if (into.size() != specs.size())
    throw Error{"dataset",
                ErrorCode::invalid_argument,
                "expected memory for " + std::to_string(specs.size()) + " " + what + ", got " +
                    std::to_string(into.size()),
                {{"expected", std::to_string(specs.size())}, {"got", std::to_string(into.size())}}};
  for (std::size_t a = 0; a < specs.size(); ++a)
    if (into[a].size() != specs[a].bytes() * rows)
      throw Error{"dataset",
                  ErrorCode::invalid_argument,
                  "expected " + std::to_string(specs[a].bytes() * rows) + " bytes for " +
                      std::to_string(rows) + " rows of " + specs[a].to_string() + ", got " +
                      std::to_string(into[a].size()),
                  {{"spec", specs[a].to_string()}, {"got", std::to_string(into[a].size())}}};
}

void append(std::vector<HostArray>& arrays, const std::vector<Tensor>& tensors) {
  for (const Tensor& tensor : tensors) arrays.push_back({tensor.spec(), tensor.to_bytes()});
}

/// Specs of single rows; every array must have the same number of them.
void add_row_specs(std::vector<TensorSpec>& specs, const char* what,
                   const std::vector<HostArray>& arrays, std::int64_t rows) {
  for (const HostArray& array : arrays) {
    if (array.spec.shape.rank() == 0)
      throw Error{"dataset",
                  ErrorCode::shape_mismatch,
                  std::string{what} + " " + array.spec.to_string() + " has no axis of rows",
                  {{"got", array.spec.to_string()}}};
    if (array.spec.shape[0] != rows)
      throw Error{"dataset",
                  ErrorCode::shape_mismatch,
                  std::string{what} + " " + array.spec.to_string() + " has " +
                      std::to_string(array.spec.shape[0]) + " rows, the first input has " +
                      std::to_string(rows),
                  {{"got", array.spec.to_string()}, {"rows", std::to_string(rows)}}};
    specs.push_back({array.spec.dtype, array.spec.shape.without(0)});
  }
}

HostRows host_rows(const std::vector<Tensor>& inputs, const std::vector<Tensor>& targets) {
  HostRows rows;
  eval(inputs);
  eval(targets);
  append(rows.inputs, inputs);
  append(rows.targets, targets);
  return rows;
}

void allocate(std::vector<HostArray>& arrays, std::vector<std::span<std::byte>>& into,
              const std::vector<TensorSpec>& specs, std::int64_t rows) {
  for (const TensorSpec& spec : specs) {
    const TensorSpec whole = detail::with_rows(spec, rows);
    arrays.push_back({whole, std::vector<std::byte>(whole.bytes())});
    into.emplace_back(arrays.back().bytes);
  }
}

}  // namespace

namespace detail {

TensorSpec with_rows(const TensorSpec& row, std::int64_t rows) {
  std::vector<std::int64_t> extents{rows};
  extents.insert(extents.end(), row.shape.begin(), row.shape.end());
  return {row.dtype, Shape::make(extents, "dataset")};
}

std::span<std::byte> row_of(std::span<std::byte> rows, const TensorSpec& spec, std::size_t row) {
  return rows.subspan(row * spec.bytes(), spec.bytes());
}

}  // namespace detail

Dataset::Dataset(std::shared_ptr<const RowSource> source) : source_{std::move(source)} {
  if (!source_) throw Error{"dataset", ErrorCode::invalid_argument, "there is no source of rows"};
  // Rows of nothing would cost a file nothing, so it could claim any number of them.
  const auto empty = [](const TensorSpec& row) { return row.elements() == 0; };
  const RowSpecs& specs = source_->specs();
  if (source_->size() > 0 && !specs.inputs.empty() && std::ranges::all_of(specs.inputs, empty) &&
      std::ranges::all_of(specs.targets, empty))
    throw Error{"dataset",
                ErrorCode::shape_mismatch,
                std::to_string(source_->size()) + " rows of " + specs.inputs[0].to_string() +
                    " have no elements",
                {{"got", specs.inputs[0].to_string()}}};
}

Dataset::Dataset(const Tensor& inputs, const Tensor& targets)
    : Dataset{std::vector<Tensor>{inputs}, std::vector<Tensor>{targets}} {}

Dataset::Dataset(const std::vector<Tensor>& inputs, const std::vector<Tensor>& targets)
    : Dataset{dataset_from_memory(host_rows(inputs, targets))} {}

std::int64_t Dataset::size() const noexcept {
  return chosen_ ? static_cast<std::int64_t>(chosen_->size()) : source_->size();
}

void Dataset::rows(std::span<const std::int64_t> indices, const RowsInto& into) const {
  check_memory("inputs", specs().inputs, indices.size(), into.inputs);
  check_memory("targets", specs().targets, indices.size(), into.targets);
  for (const std::int64_t index : indices) check_index(index, size());
  if (!chosen_) return source_->rows(indices, into);
  std::vector<std::int64_t> places;
  places.reserve(indices.size());
  for (const std::int64_t index : indices)
    places.push_back((*chosen_)[static_cast<std::size_t>(index)]);
  source_->rows(places, into);
}

HostRows Dataset::rows(std::span<const std::int64_t> indices) const {
  HostRows made;
  made.rows = static_cast<std::int64_t>(indices.size());
  RowsInto into;
  allocate(made.inputs, into.inputs, specs().inputs, made.rows);
  allocate(made.targets, into.targets, specs().targets, made.rows);
  rows(indices, into);
  return made;
}

Dataset Dataset::subset(std::vector<std::int64_t> indices) const {
  for (std::int64_t& index : indices) {
    check_index(index, size());
    if (chosen_) index = (*chosen_)[static_cast<std::size_t>(index)];
  }
  Dataset part{source_};
  part.chosen_ = std::make_shared<const std::vector<std::int64_t>>(std::move(indices));
  return part;
}

Dataset dataset_from_function(std::int64_t size, RowSpecs specs, RowFunction fill) {
  if (size < 0 || !fill)
    throw Error{"dataset_from_function",
                ErrorCode::invalid_argument,
                fill ? "a set of " + std::to_string(size) + " rows" : "there is no function",
                {{"size", std::to_string(size)}}};
  return Dataset{std::make_shared<FunctionRows>(size, std::move(specs), std::move(fill))};
}

Dataset dataset_from_memory(HostRows rows) {
  if (rows.inputs.empty())
    throw Error{"dataset", ErrorCode::invalid_argument, "there are no inputs"};
  const TensorSpec& first = rows.inputs[0].spec;
  rows.rows = first.shape.rank() > 0 ? first.shape[0] : 0;
  RowSpecs specs;
  add_row_specs(specs.inputs, "input", rows.inputs, rows.rows);
  add_row_specs(specs.targets, "target", rows.targets, rows.rows);
  for (const auto* arrays : {&rows.inputs, &rows.targets})
    for (const HostArray& array : *arrays)
      if (array.bytes.size() != array.spec.bytes())
        throw Error{"dataset",
                    ErrorCode::invalid_argument,
                    "expected " + std::to_string(array.spec.bytes()) + " bytes for " +
                        array.spec.to_string() + ", got " + std::to_string(array.bytes.size()),
                    {{"spec", array.spec.to_string()}}};
  return Dataset{std::make_shared<MemoryRows>(std::move(rows), std::move(specs))};
}

DatasetStats stats(const Dataset& data) {
  DatasetStats found{data.size(), {}, {}};
  for (const TensorSpec& spec : data.specs().inputs)
    found.inputs.push_back(detail::with_rows(spec, data.size()));
  for (const TensorSpec& spec : data.specs().targets)
    found.targets.push_back(detail::with_rows(spec, data.size()));
  return found;
}

}  // namespace stoker::nn
