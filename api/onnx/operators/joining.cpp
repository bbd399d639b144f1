// Tensors put together, and parts of them.
#include <algorithm>
#include <numeric>

#include "stoker/api/onnx/core/host_rules.hpp"
#include "stoker/api/tensor/core/creation.hpp"
#include "stoker/api/tensor/math/elementwise.hpp"
#include "stoker/api/tensor/views/indexing.hpp"
#include "stoker/api/tensor/views/manipulation.hpp"

namespace stoker::onnx::operators::joining {
namespace {

/// Only the first version has a default.
std::string concat_refused(const Node& node, int version) {
  return version < 4 || node.has("axis") ? "" : "the attribute 'axis' is missing";
}

std::int64_t join_axis(const Call& call) {
  return axis_in(call.node().integer("axis", 1), call.rank());
}

std::optional<Values> concat_on_host(Call& call) {
  const auto axis = static_cast<std::size_t>(join_axis(call));
  if (call.rank() != 1 || axis != 0) return {};
  std::vector<std::byte> bytes;
  std::int64_t extent = 0;
  for (std::size_t i = 0; i < call.count(); ++i) {
    const Known& part = call.input(i).known();
    if (part.type() != call.type() || part.shape().rank() != 1) return {};
    bytes.insert(bytes.end(), part.bytes().begin(), part.bytes().end());
    extent += part.shape()[0];
  }
  return Values{Known{call.type(), Shape{extent}, std::move(bytes)}};
}

Values concat(Call& call) {
  const std::int64_t axis = join_axis(call);
  for (std::size_t i = 1; i < call.count(); ++i)
    if (call.type(i) != call.type())
      call.refuse(ErrorCode::dtype_mismatch,
                  call.input(0).to_string() + " and " + call.input(i).to_string());
  return {call.like(concatenate(call.tensors(), axis))};
}

// Slice -------------------------------------------------------------------------------------------

struct Ranges {
  Axes starts, lengths, steps;  ///< one for each axis
};

/// NumPy's rule for indices: those outside are moved to the nearest end.
Ranges ranges_of(Call& call) {
  const auto starts = call.integers(1, "starts");
  const auto ends = call.integers(2, "ends");
  if (!starts || !ends || starts->size() != ends->size())
    call.refuse(ErrorCode::invalid_argument, "starts and ends differ in number");
  Axes axes(starts->size());
  std::iota(axes.begin(), axes.end(), 0);
  if (const auto given = call.integers(3, "axes")) axes = *given;
  axes = axes_in(axes, call.rank());
  Axes steps(starts->size(), 1);
  if (call.has(4)) steps = call.integers(4);
  if (axes.size() != starts->size() || steps.size() != starts->size())
    call.refuse(ErrorCode::invalid_argument, "starts, axes and steps differ in number");
  const Shape& shape = call.shape();
  Ranges ranges{.starts = Axes(shape.rank(), 0),
                .lengths = extents_of(shape),
                .steps = Axes(shape.rank(), 1)};
  for (std::size_t i = 0; i < axes.size(); ++i) {
    const auto axis = static_cast<std::size_t>(axes[i]);
    const std::int64_t extent = shape[axis];
    const std::int64_t step = steps[i];
    if (step == 0) call.refuse(ErrorCode::invalid_parameter, "a step is 0");
    const auto within = [&](std::int64_t at) {
      if (at < 0) at = at < -extent ? -1 : at + extent;  // -1 stands before the first
      return step > 0 ? std::clamp<std::int64_t>(at, 0, extent)
                      : std::clamp<std::int64_t>(at, -1, extent - 1);
    };
    const std::int64_t start = within((*starts)[i]);
    const std::int64_t end = within((*ends)[i]);
    const std::int64_t distance = step > 0 ? end - start : start - end;
    const std::int64_t stride = step > 0 ? step
                                : step == std::numeric_limits<std::int64_t>::min()
                                    ? std::numeric_limits<std::int64_t>::max()
                                    : -step;
    ranges.starts[axis] = start;
    ranges.lengths[axis] = distance <= 0 ? 0 : (distance - 1) / stride + 1;
    // The step of a single element is never taken.
    ranges.steps[axis] = ranges.lengths[axis] <= 1 ? 1 : step;
  }
  return ranges;
}

std::optional<Values> slice_on_host(Call& call) {
  if (call.rank() != 1) return {};
  const Ranges ranges = ranges_of(call);
  std::vector<std::int64_t> positions;
  for (std::int64_t i = 0; i < ranges.lengths[0]; ++i)
    positions.push_back(ranges.starts[0] + i * ranges.steps[0]);
  return Values{call.input(0).known().taken(positions, Shape{ranges.lengths[0]})};
}

Values slice_rule(Call& call) {
  Ranges ranges = ranges_of(call);
  Axes turned;
  bool is_empty = false;
  for (std::size_t axis = 0; axis < ranges.starts.size(); ++axis) {
    is_empty |= ranges.lengths[axis] == 0;
    if (ranges.steps[axis] >= 0) continue;
    // From its last element on, with the axis turned round.
    turned.push_back(static_cast<std::int64_t>(axis));
    ranges.steps[axis] = -ranges.steps[axis];
    ranges.starts[axis] -= (ranges.lengths[axis] - 1) * ranges.steps[axis];
  }
  const Tensor x = call.x();
  if (is_empty) return {call.like(zeros(shape_of(ranges.lengths), x.dtype()))};
  Axes spans = ranges.lengths;
  for (std::size_t axis = 0; axis < spans.size(); ++axis)
    spans[axis] = (ranges.lengths[axis] - 1) * ranges.steps[axis] + 1;
  const Tensor part = slice(x, ranges.starts, spans, ranges.steps);
  return {call.like(turned.empty() ? part : reverse(part, turned))};
}

// Split -------------------------------------------------------------------------------------------

Values split_rule(Call& call) {
  const std::int64_t axis = axis_in(call.node().integer("axis", 0), call.rank());
  const std::int64_t extent = call.shape()[static_cast<std::size_t>(axis)];
  Axes sizes;
  if (const auto given = call.integers(1, "split")) {
    sizes = *given;
  } else {
    const auto parts =
        call.node().integer("num_outputs", static_cast<std::int64_t>(call.node().outputs.size()));
    if (parts < 1 || parts > static_cast<std::int64_t>(call.node().outputs.size()))
      call.refuse(ErrorCode::invalid_parameter, std::to_string(parts) + " parts for " +
                                                    std::to_string(call.node().outputs.size()) +
                                                    " results");
    if (call.version() < 18 && extent % parts != 0)
      call.refuse(ErrorCode::shape_mismatch, std::to_string(extent) + " elements are not " +
                                                 std::to_string(parts) +
                                                 " equal parts, and 'split' does not say others");
    const std::int64_t each = (extent + parts - 1) / parts;
    for (std::int64_t i = 0; i < parts; ++i)
      sizes.push_back(std::clamp<std::int64_t>(extent - i * each, 0, each));
  }
  std::int64_t rest = extent;
  for (const std::int64_t size : sizes) {
    if (size < 0 || size > rest) call.refuse(ErrorCode::shape_mismatch, "a part is too large");
    rest -= size;
  }
  if (rest != 0)
    call.refuse(ErrorCode::shape_mismatch,
                "the parts are not the " + std::to_string(extent) + " elements of the axis");
  Values parts;
  std::int64_t start = 0;
  for (const std::int64_t size : sizes) {
    const Shape shape = call.shape().with(static_cast<std::size_t>(axis), size);
    parts.push_back(call.like(size == 0 ? zeros(shape, call.x().dtype())
                                        : slice_along_axis(call.x(), start, size, axis)));
    start += size;
  }
  return parts;
}

// Pad ---------------------------------------------------------------------------------------------

/// x at these positions of an axis, which are known.
Tensor taken(const Tensor& x, std::int64_t axis, const Axes& positions) {
  return take(x, Known::integers(positions).tensor(), axis);
}

std::int64_t position(const std::string& mode, std::int64_t at, std::int64_t extent) {
  if (mode == "edge") return std::clamp<std::int64_t>(at, 0, extent - 1);
  if (mode == "wrap") return ((at % extent) + extent) % extent;
  if (extent == 1) return 0;
  const std::int64_t period = 2 * (extent - 1);
  const std::int64_t within = ((at % period) + period) % period;
  return within < extent ? within : period - within;
}

Values pad_rule(Call& call) {
  const Node& node = call.node();
  const std::string mode = node.text("mode", "constant");
  if (mode != "constant" && mode != "edge" && mode != "wrap" && mode != "reflect")
    call.refuse(ErrorCode::invalid_parameter, "mode '" + mode + "'");
  const std::int64_t rank = call.rank();
  auto pads = call.integers(1, node.has("paddings") ? "paddings" : "pads");
  Axes axes(static_cast<std::size_t>(rank));
  std::iota(axes.begin(), axes.end(), 0);
  if (call.has(3)) axes = axes_in(call.integers(3), rank);
  if (!pads || pads->size() != 2 * axes.size())
    call.refuse(ErrorCode::shape_mismatch, "pads must have two entries for each axis");
  std::vector<Padding> padding(static_cast<std::size_t>(rank));
  for (std::size_t i = 0; i < axes.size(); ++i)
    padding[static_cast<std::size_t>(axes[i])] = {.low = (*pads)[i],
                                                  .high = (*pads)[i + axes.size()]};
  if (mode == "constant") {
    Tensor value = full(Shape{}, 0, call.x().dtype());
    if (call.has(2))
      value = as_type(reshape(call.x(2), Shape{}), call.x().dtype());
    else if (node.has("value"))
      value = full(Shape{}, static_cast<double>(node.real("value")), call.x().dtype());
    return {call.like(pad(call.x(), value, padding))};
  }
  Tensor y = call.x();
  for (std::size_t axis = 0; axis < padding.size(); ++axis) {
    const std::int64_t extent = y.shape()[axis];
    if (padding[axis].low == 0 && padding[axis].high == 0) continue;
    if (extent == 0) call.refuse(ErrorCode::shape_mismatch, "an empty axis has no edge");
    constexpr std::int64_t most = std::int64_t{1} << 40;
    if (std::max(padding[axis].low, padding[axis].high) > most ||
        std::min(padding[axis].low, padding[axis].high) < -extent)
      call.refuse(ErrorCode::invalid_parameter, "a padding out of range");
    check_host_count(call, extent + padding[axis].low + padding[axis].high);
    Axes positions;
    for (std::int64_t at = -padding[axis].low; at < extent + padding[axis].high; ++at)
      positions.push_back(position(mode, at, extent));
    y = taken(y, static_cast<std::int64_t>(axis), positions);
  }
  return {call.like(y)};
}

/// The middle of what is there, with zeros around where that is less.
Values center_crop_pad(Call& call) {
  const Axes wanted = call.integers(1);
  Axes axes(wanted.size());
  std::iota(axes.begin(), axes.end(), 0);
  axes = axes_in(call.node().integers("axes", axes), call.rank());
  if (axes.size() != wanted.size())
    call.refuse(ErrorCode::shape_mismatch, "axes and extents differ");
  std::vector<Padding> padding(call.shape().rank());
  for (std::size_t i = 0; i < axes.size(); ++i) {
    const auto axis = static_cast<std::size_t>(axes[i]);
    const std::int64_t more = wanted[i] - call.shape()[axis];
    const std::int64_t low = more >= 0 ? more / 2 : -(-more / 2);
    padding[axis] = {.low = low, .high = more - low};
  }
  return {call.like(pad(call.x(), 0, padding))};
}

}  // namespace

void define(OperatorTable& table) {
  table.add({.name = "Concat",
             .since = {1, 4, 11, 13},
             .most_inputs = Operator::any_number,
             .types = alike(any_type),
             .attributes = {"axis"},
             .refuse = &concat_refused,
             .host = &concat_on_host,
             .lower = &concat,
             .moves = true});
  table.add({.name = "Slice",
             .since = {1, 10, 11, 13},
             .most_inputs = 5,
             .types = indexed(any_type),
             .attributes = {"starts", "ends", "axes"},
             .decides = {1, 2, 3, 4},
             .host = &slice_on_host,
             .lower = &slice_rule,
             .moves = true});
  // What Slice was before version 10 had operands: experimental, and still in files.
  table.add({.name = "DynamicSlice",
             .least_inputs = 3,
             .most_inputs = 4,
             .types = indexed(any_type),
             .decides = {1, 2, 3},
             .lower = &slice_rule});
  table.add({.name = "Split",
             .since = {1, 2, 11, 13, 18},
             .most_inputs = 2,
             .most_outputs = Operator::any_number,
             .types = indexed(any_type),
             .attributes = {"axis", "split", "num_outputs"},
             .decides = {1},
             .lower = &split_rule,
             .moves = true});
  table.add(
      {.name = "Pad",
       .since = {1, 2, 11, 13, 18, 19, 21, 23, 24, 25},
       .most_inputs = 4,
       .types = {.operands = {any_type, index_types, like(0), index_types}, .results = {like(0)}},
       .attributes = {"mode", "pads", "paddings", "value"},
       .decides = {1, 3},
       .lower = &pad_rule});
  table.add({.name = "CenterCropPad",
             .since = {18},
             .least_inputs = 2,
             .most_inputs = 2,
             .types = indexed(any_type),
             .attributes = {"axes"},
             .decides = {1},
             .lower = &center_crop_pad});
}

}  // namespace stoker::onnx::operators::joining
