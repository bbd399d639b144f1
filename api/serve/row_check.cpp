#include "stoker/api/serve/row_check.hpp"

#include <algorithm>
#include <cmath>

#include "stoker/api/tensor/core/creation.hpp"
#include "stoker/api/tensor/core/transfer.hpp"
#include "stoker/api/tensor/math/elementwise.hpp"
#include "stoker/api/tensor/views/manipulation.hpp"

namespace stoker::serve {
namespace {

/// The inputs of some rows.
using Rows = std::vector<onnx::Value>;

struct Samples {
  Rows one, other;
};

/// A number from 0 to 1, as if by chance.
float mixed(std::uint32_t place) {
  place = (place ^ (place >> 16U)) * 0x7feb352dU;
  place = (place ^ (place >> 15U)) * 0x846ca68bU;
  return static_cast<float>((place ^ (place >> 16U)) >> 8U) / static_cast<float>(1U << 24U);
}

/// Numbers that any model takes: from 0 to 1, and unlike in rows 1 and 2.
onnx::Value made_up(const onnx::ValueInfo& input, std::size_t axis, std::size_t row) {
  std::vector<std::int64_t> extents;
  for (const onnx::Dimension& dimension : *input.type.dims)
    extents.push_back(extents.size() == axis ? 1 : dimension.extent.value());
  const Shape shape = Shape::make(extents, "serving");
  const DType dtype = onnx::carrier_of(input.type.element).value();
  std::vector<float> numbers;
  for (std::int64_t i = 0; i < shape.elements(); ++i)
    numbers.push_back(mixed(2 * static_cast<std::uint32_t>(i) + static_cast<std::uint32_t>(row)));
  if (!is_float(dtype)) {
    for (float& number : numbers) number = std::round(number);
    if (!numbers.empty()) numbers.front() = static_cast<float>(row - 1);  // so that they differ
  }
  return {as_type(tensor(numbers, shape), dtype).eval(), input.type.element};
}

/// Whether all dimensions but the rows' are known.
const onnx::ValueInfo* with_free_dimension(const AnyModel& model, const RowLayout& layout) {
  for (std::size_t i = 0; i < model.inputs().size(); ++i) {
    const onnx::ValueInfo& input = model.inputs()[i];
    for (std::size_t axis = 0; axis < input.type.dims->size(); ++axis)
      if (axis != layout.input_axis(i) && !(*input.type.dims)[axis].extent) return &input;
  }
  return nullptr;
}

Samples made_up(const AnyModel& model, const RowLayout& layout) {
  Samples samples;
  for (std::size_t i = 0; i < model.inputs().size(); ++i) {
    const std::size_t axis = layout.input_axis(i);
    samples.one.push_back(made_up(model.inputs()[i], axis, 1));
    samples.other.push_back(made_up(model.inputs()[i], axis, 2));
  }
  return samples;
}

/// Whether both rows are the same: then runs with both show nothing.
bool rows_are_equal(const Samples& samples) {
  for (std::size_t i = 0; i < samples.one.size(); ++i)
    if (samples.one[i].is_given() && samples.one[i].tensor().to_vector<double>() !=
                                         samples.other[i].tensor().to_vector<double>())
      return false;
  return true;
}

/// Another row with numbers like these: in reverse order, and floats moved towards 1/2.
Rows unlike(const Rows& rows) {
  Rows other;
  for (const onnx::Value& value : rows) {
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

/// The first and the last row of the sample.
Samples taken(const AnyModel& model, const RowLayout& layout, const NamedValues& sample) {
  const CheckedRequest request = layout.check(model, sample);
  Samples samples;
  for (std::size_t i = 0; i < request.values.size(); ++i) {
    const onnx::Value& value = request.values[i];
    const auto row = [&](std::int64_t number) -> onnx::Value {
      if (!value.is_given()) return {};
      const Tensor one = slice_along_axis(value.tensor().to(model.device()), number, 1,
                                          static_cast<std::int64_t>(layout.input_axis(i)));
      return {one.eval(), value.type()};
    };
    samples.one.push_back(row(0));
    samples.other.push_back(row(request.rows - 1));
  }
  return samples;
}

NamedValues run(const AnyModel& model, const RowLayout& layout,
                const std::vector<const Rows*>& rows) {
  NamedValues inputs;
  for (std::size_t i = 0; i < model.inputs().size(); ++i) {
    const onnx::Value& first = (*rows.front())[i];
    if (!first.is_given()) continue;
    std::vector<Tensor> tensors;
    for (const Rows* one : rows) tensors.push_back((*one)[i].tensor());
    const auto axis = static_cast<std::int64_t>(layout.input_axis(i));
    const Tensor joined = tensors.size() == 1 ? tensors.front() : concatenate(tensors, axis).eval();
    inputs.emplace(model.inputs()[i].name, onnx::Value{joined, first.type()});
  }
  NamedValues outputs = model.predict(inputs).get();
  std::vector<Tensor> tensors;
  for (const auto& [name, value] : outputs)
    value.visit_cells([&](const auto& cell) { tensors.push_back(cell->tensor); });
  if (!tensors.empty()) computed(tensors).get();
  return outputs;
}

/// The axis that is as long as there are rows, of an output of one row, of two and of three.
std::optional<std::size_t> rows_axis(const Shape& one, const Shape& two, const Shape& three) {
  if (one.rank() != two.rank() || one.rank() != three.rank()) return {};
  for (std::size_t axis = 0; axis < one.rank(); ++axis)
    if (one[axis] == 1 && two == one.with(axis, 2) && three == one.with(axis, 3)) return axis;
  return {};
}

/// Whether the numbers are the same but for what another order of additions changes.
bool alike(const Tensor& a, const Tensor& b) {
  const std::vector<double> x = a.to_vector<double>();
  const std::vector<double> y = b.to_vector<double>();
  double bound = 0;
  if (is_float(a.dtype()) || is_complex(a.dtype())) {
    for (const double number : x)
      if (std::isfinite(number)) bound = std::max(bound, std::abs(number));
    bound *= size_of(a.dtype()) < 4 ? 0.02 : 0.001;
  }
  return std::ranges::equal(x, y, [bound](double one, double other) {
    return one == other || (std::isnan(one) && std::isnan(other)) || std::abs(one - other) <= bound;
  });
}

/// Finds the axes of the outputs, or says why rows do not join.
std::string compare(RowLayout& layout, const NamedValues& one, const NamedValues& other,
                    const NamedValues& two, const NamedValues& three) {
  for (const auto& [name, value] : one) {
    const auto tensor_in = [&name](const NamedValues& outputs) {
      return outputs.at(name).tensor();
    };
    if (!value.is_tensor()) return "output '" + name + "' is no tensor";
    const std::optional<std::size_t> axis =
        rows_axis(value.shape(), tensor_in(two).shape(), tensor_in(three).shape());
    if (!axis) return "output '" + name + "' does not have as many rows as the inputs";
    const auto row = [&](const NamedValues& outputs, std::int64_t number) {
      return slice_along_axis(tensor_in(outputs), number, 1, static_cast<std::int64_t>(*axis));
    };
    if (!alike(value.tensor(), row(two, 0)) || !alike(tensor_in(other), row(two, 1)) ||
        !alike(value.tensor(), row(three, 0)) || !alike(tensor_in(other), row(three, 1)) ||
        !alike(value.tensor(), row(three, 2)))
      return "rows of output '" + name + "' depend on the rows beside them, or on chance";
    layout.set_output_axis(name, *axis);
  }
  return {};
}

}  // namespace

RowLayout checked_layout(const AnyModel& model, const NamedValues& sample) {
  RowLayout layout = RowLayout::of(model.inputs());
  const DeviceScope scope{model.device()};
  if (!layout.joins()) {
    if (!sample.empty()) model.warm_up(sample);
    return layout;
  }
  if (sample.empty())
    if (const onnx::ValueInfo* const input = with_free_dimension(model, layout)) {
      layout.keep_apart("input '" + input->name +
                        "' has another free dimension, and the options have no sample");
      return layout;
    }
  Samples samples = sample.empty() ? made_up(model, layout) : taken(model, layout, sample);
  if (!sample.empty())
    static_cast<void>(run(model, layout, {&samples.one}));  // throws what is wrong with it
  const std::uint64_t cuts = model.cuts();
  try {
    if (rows_are_equal(samples)) samples.other = unlike(samples.one);
    if (rows_are_equal(samples)) {
      layout.keep_apart("the sample has no two rows that differ");
      return layout;
    }
    const NamedValues one = run(model, layout, {&samples.one});
    const NamedValues other = run(model, layout, {&samples.other});
    const NamedValues two = run(model, layout, {&samples.one, &samples.other});
    const NamedValues three = run(model, layout, {&samples.one, &samples.other, &samples.one});
    layout.keep_apart(model.cuts() != cuts ? "its plan is cut where shapes depend on values"
                                           : compare(layout, one, other, two, three));
  } catch (const Error& error) {
    layout.keep_apart("a run with several rows failed: " + std::string{error.what()});
  }
  return layout;
}

}  // namespace stoker::serve
