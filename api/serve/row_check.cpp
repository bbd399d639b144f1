#include "stoker/api/serve/row_check.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include "stoker/api/serve/row_samples.hpp"
#include "stoker/api/tensor/core/transfer.hpp"
#include "stoker/api/tensor/views/manipulation.hpp"

namespace stoker::serve {
namespace {

/// So many sizes are few.
constexpr std::size_t few_sizes = 8;

/// Makes the plan, whatever the model does for others.
NamedValues run(const AnyModel& model, const NamedValues& inputs) {
  NamedValues outputs = model.predict(inputs, {.on_new_shape = onnx::NewShape::trace}).get();
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

/// Checks rows that give these inputs, or says why they do not join.
std::string try_rows(const AnyModel& model, RowLayout& layout, const RowSamples& given) {
  const RowSamples samples = given.made_to_differ();
  const auto outputs = [&](std::initializer_list<std::size_t> rows) {
    return run(model, samples.inputs(model, layout, {rows.begin(), rows.size()}));
  };
  if (!samples.differ()) return "the sample has no two rows that differ";
  const std::uint64_t cuts = model.cuts();
  const NamedValues one = outputs({0});
  const NamedValues other = outputs({1});
  const NamedValues two = outputs({0, 1});
  const NamedValues three = outputs({0, 1, 0});
  if (model.cuts() != cuts) return "its plan is cut where shapes depend on values";
  std::string why = compare(layout, one, other, two, three);
  if (why.empty()) layout.add_joining(samples.given());
  return why;
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
    if (const onnx::ValueInfo* const input = RowSamples::with_free_dimension(model, layout)) {
      layout.keep_apart("input '" + input->name +
                        "' has another free dimension, and there is no sample");
      return layout;
    }
  const RowSamples samples = RowSamples::of(model, layout, sample);
  if (!sample.empty())  // throws what is wrong with it
    static_cast<void>(run(model, samples.inputs(model, layout, std::array<std::size_t, 1>{0})));
  try {
    layout.keep_apart(try_rows(model, layout, samples));
  } catch (const Error& error) {
    layout.keep_apart("a run with several rows failed: " + std::string{error.what()});
  }
  const RowSamples needed = samples.without_optional(model);
  if (!layout.joins() || needed.given() == samples.given()) return layout;
  try {
    RowLayout tried = layout;
    if (try_rows(model, tried, needed).empty() && tried.has_axes_of(layout)) return tried;
  } catch (const Error&) {  // requests without them run alone, and hear of it themselves
  }
  return layout;
}

void warm_up(const AnyModel& model, const RowLayout& layout, const ServingOptions& options) {
  if (!layout.joins() || options.warm_up == WarmUp::checks) return;
  std::vector<std::int64_t> sizes = options.sizes;
  std::erase_if(sizes, [&](std::int64_t size) { return size >= options.batch_size; });
  if (!options.sizes.empty() || options.warm_up == WarmUp::all) sizes.push_back(options.batch_size);
  sizes.erase(std::ranges::unique(sizes).begin(), sizes.end());
  if (options.warm_up == WarmUp::few && sizes.size() > few_sizes) return;
  const DeviceScope scope{model.device()};
  const RowSamples samples = RowSamples::of(model, layout, options.sample);
  for (const std::int64_t size : sizes)
    model.warm_up(
        samples.inputs(model, layout, std::vector<std::size_t>(static_cast<std::size_t>(size), 0)));
}

void try_one_row(const AnyModel& model) {
  const RowLayout layout = RowLayout::of(model.inputs());
  if (!layout.joins() || RowSamples::with_free_dimension(model, layout) != nullptr) return;
  const DeviceScope scope{model.device()};
  const RowSamples samples = RowSamples::of(model, layout, {});
  static_cast<void>(run(model, samples.inputs(model, layout, std::array<std::size_t, 1>{0})));
}

}  // namespace stoker::serve
