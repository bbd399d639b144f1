#include "stoker/api/serve/row_samples.hpp"

#include <algorithm>
#include <cmath>

#include "stoker/api/tensor/core/creation.hpp"
#include "stoker/api/tensor/core/transfer.hpp"
#include "stoker/api/tensor/math/elementwise.hpp"
#include "stoker/api/tensor/views/manipulation.hpp"

namespace stoker::serve {
namespace {

/// A number from 0 to 1, as if by chance.
float mixed(std::uint32_t place) {
  place = (place ^ (place >> 16U)) * 0x7feb352dU;
  place = (place ^ (place >> 15U)) * 0x846ca68bU;
  return static_cast<float>((place ^ (place >> 16U)) >> 8U) / static_cast<float>(1U << 24U);
}

/// One row of an input.
onnx::Value row_of(const onnx::ValueInfo& input, std::size_t axis, std::size_t row) {
  std::vector<std::int64_t> extents;
  for (const onnx::Dimension& dimension : *input.type.dims)
    extents.push_back(extents.size() == axis ? 1 : dimension.extent.value());
  return made_up(input.type.element, Shape::make(extents, "serving"), row);
}

/// The same numbers in reverse order, and floats moved towards 1/2.
RowSamples::Row unlike(const RowSamples::Row& row) {
  RowSamples::Row other;
  other.reserve(row.size());
  for (const onnx::Value& value : row) {
    if (!value.is_given()) {
      other.emplace_back();
      continue;
    }
    Tensor turned = reverse(value.tensor());
    if (is_float(turned.dtype())) turned = as_type(turned * 0.5 + 0.25, turned.dtype());
    other.push_back({turned.eval(), value.type()});
  }
  return other;
}

}  // namespace

onnx::Value made_up(onnx::ElementType element, const Shape& shape, std::size_t row) {
  const DType dtype = onnx::carrier_of(element).value();
  std::vector<float> numbers;
  numbers.reserve(static_cast<std::size_t>(shape.elements()));
  for (std::int64_t i = 0; i < shape.elements(); ++i)
    numbers.push_back(mixed(2 * static_cast<std::uint32_t>(i) + static_cast<std::uint32_t>(row)));
  if (!is_float(dtype)) {
    for (float& number : numbers) number = std::round(number);
    if (!numbers.empty()) numbers.front() = static_cast<float>(row - 1);  // so that they differ
  }
  return {as_type(tensor(numbers, shape), dtype).eval(), element};
}

const onnx::ValueInfo* RowSamples::with_free_dimension(const AnyModel& model,
                                                       const RowLayout& layout) {
  for (std::size_t i = 0; i < model.inputs().size(); ++i) {
    const onnx::ValueInfo& input = model.inputs()[i];
    for (std::size_t axis = 0; axis < input.type.dims->size(); ++axis)
      if (axis != layout.input_axis(i) && !(*input.type.dims)[axis].extent) return &input;
  }
  return nullptr;
}

RowSamples RowSamples::of(const AnyModel& model, const RowLayout& layout,
                          const NamedValues& sample) {
  RowSamples samples;
  if (sample.empty()) {
    for (std::size_t i = 0; i < model.inputs().size(); ++i)
      for (std::size_t row = 0; row < 2; ++row)
        samples.rows_[row].push_back(row_of(model.inputs()[i], layout.input_axis(i), row + 1));
  } else {
    const CheckedRequest request = layout.check(model, sample);
    for (std::size_t i = 0; i < request.values.size(); ++i) {
      const onnx::Value& value = request.values[i];
      const auto row = [&](std::int64_t number) -> onnx::Value {
        if (!value.is_given()) return {};
        const Tensor one = slice_along_axis(value.tensor().to(model.device()), number, 1,
                                            static_cast<std::int64_t>(layout.input_axis(i)));
        return {one.eval(), value.type()};
      };
      samples.rows_[0].push_back(row(0));
      samples.rows_[1].push_back(row(request.rows - 1));
    }
  }
  return samples;
}

RowSamples RowSamples::made_to_differ() const {
  RowSamples samples = *this;
  if (!samples.differ()) samples.rows_[1] = unlike(samples.rows_[0]);
  return samples;
}

bool RowSamples::differ() const {
  for (std::size_t i = 0; i < rows_[0].size(); ++i)
    if (rows_[0][i].is_given() &&
        rows_[0][i].tensor().to_vector<double>() != rows_[1][i].tensor().to_vector<double>())
      return true;
  return false;
}

RowSamples RowSamples::without_optional(const AnyModel& model) const {
  RowSamples needed = *this;
  for (std::size_t i = 0; i < model.inputs().size(); ++i)
    if (model.may_lack(model.inputs()[i]))
      for (Row& row : needed.rows_) row[i] = {};
  return needed;
}

std::vector<bool> RowSamples::given() const {
  std::vector<bool> given;
  given.reserve(rows_[0].size());
  for (const onnx::Value& value : rows_[0]) given.push_back(value.is_given());
  return given;
}

NamedValues RowSamples::inputs(const AnyModel& model, const RowLayout& layout,
                               std::span<const std::size_t> rows) const {
  NamedValues inputs;
  for (std::size_t i = 0; i < model.inputs().size(); ++i) {
    const onnx::Value& first = rows_[0][i];
    if (!first.is_given()) continue;
    std::vector<Tensor> tensors;
    tensors.reserve(rows.size());
    for (const std::size_t row : rows) tensors.push_back(rows_.at(row)[i].tensor());
    const auto axis = static_cast<std::int64_t>(layout.input_axis(i));
    const Tensor joined = tensors.size() == 1 ? tensors.front() : concatenate(tensors, axis).eval();
    inputs.emplace(model.inputs()[i].name, onnx::Value{joined, first.type()});
  }
  return inputs;
}

}  // namespace stoker::serve
