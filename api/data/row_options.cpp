#include "stoker/api/data/row_options.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>

namespace stoker::nn {
namespace {

constexpr const char* op = "with_row_options";

class ChangedRows final : public RowSource {
 public:
  ChangedRows(Dataset data, RowSpecs specs, std::optional<double> scale)
      : data_{std::move(data)}, specs_{std::move(specs)}, scale_{scale} {}
  [[nodiscard]] std::int64_t size() const noexcept override { return data_.size(); }
  [[nodiscard]] const RowSpecs& specs() const noexcept override { return specs_; }
  void rows(std::span<const std::int64_t> indices, const RowsInto& into) const override {
    if (!scale_) return data_.rows(indices, into);
    const HostRows read = data_.rows(indices);
    for (std::size_t i = 0; i < into.inputs.size(); ++i)
      write_scaled(read.inputs[i], into.inputs[i]);
    for (std::size_t i = 0; i < into.targets.size(); ++i)
      std::ranges::copy(read.targets[i].bytes, into.targets[i].begin());
  }

 private:
  void write_scaled(const HostArray& read, std::span<std::byte> into) const {
    const auto values = stoker::detail::converted<double>(read.bytes, read.spec);
    for (std::size_t i = 0; i < values.size(); ++i) {
      const auto value = static_cast<float>(values[i] * *scale_);
      std::memcpy(into.data() + i * sizeof value, &value, sizeof value);
    }
  }

  const Dataset data_;
  const RowSpecs specs_;
  const std::optional<double> scale_;
};

TensorSpec reshaped(const RowSpecs& specs, const Extents& extents) {
  if (extents.list().empty())
    throw Error{op,
                ErrorCode::invalid_parameter,
                "a row's shape has at least one extent, got none",
                {{"parameter", "shape"}, {"expected", "at least one extent"}, {"got", "[]"}}};
  if (specs.inputs.size() != 1)
    throw Error{op,
                ErrorCode::arity_mismatch,
                "a shape is for one input, the rows have " + std::to_string(specs.inputs.size()),
                {{"expected", "1"}, {"got", std::to_string(specs.inputs.size())}}};
  const TensorSpec& row = specs.inputs[0];
  const Shape shape = Shape::make(extents.list(), op);
  if (shape.elements() != row.shape.elements())
    throw Error{op,
                ErrorCode::shape_mismatch,
                "rows of " + row.shape.to_string() + " do not fill " + shape.to_string(),
                {{"expected", std::to_string(shape.elements()) + " elements"},
                 {"got", std::to_string(row.shape.elements())}}};
  return {row.dtype, shape};
}

void check_scale(double scale, const RowSpecs& specs) {
  if (!std::isfinite(scale))
    throw Error{op,
                ErrorCode::invalid_parameter,
                "scale: expected a finite number, got " + std::to_string(scale),
                {{"parameter", "scale"}, {"got", std::to_string(scale)}}};
  for (const TensorSpec& row : specs.inputs)
    if (is_complex(row.dtype))
      throw Error{op,
                  ErrorCode::invalid_parameter,
                  "scale: expected real inputs, got rows of " + row.to_string(),
                  {{"parameter", "scale"}, {"got", row.to_string()}}};
}

}  // namespace

Dataset with_row_options(const Dataset& data, const RowOptions& options) {
  const bool reshapes = options.shape.is_given();
  if (!reshapes && !options.scale) return data;
  RowSpecs specs = data.specs();
  if (reshapes) specs.inputs[0] = reshaped(specs, options.shape);
  if (options.scale) {
    check_scale(*options.scale, specs);
    for (TensorSpec& row : specs.inputs) row.dtype = DType::f32;
  }
  return Dataset{std::make_shared<ChangedRows>(data, std::move(specs), options.scale)};
}

}  // namespace stoker::nn
