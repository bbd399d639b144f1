// Elements chosen, joined and put by position. Stoker clamps positions, ONNX does not.
#include <algorithm>
#include <numeric>

#include "stoker/api/onnx/exporting/export_table.hpp"
#include "stoker/api/onnx/exporting/padding.hpp"

namespace stoker::onnx::exports::indexing {
namespace {

/// Positions as s64, from 0 to what `extents` say: one entry for each column of `indices`, or one for all.
std::string clamped(const ExportCall& call, std::size_t operand, ExtentList extents) {
  GraphMaker& graph = call.graph();
  const std::string indices = call.cast(call.x(operand), call.dtype(operand), DType::s64);
  for (Extent& one : extents) --one.number;
  const std::string low = call.node("Max", {indices, graph.scalar(0, DType::s64)});
  return call.node("Min", {low, graph.dims(extents)});
}

Names take(ExportCall& call) {
  const std::int64_t axis = call.axis("axis");
  const std::string at = clamped(call, 1, {call.shape()[static_cast<std::size_t>(axis)]});
  if (call.rank(1) > 0) return {call.node("Gather", {call.x(), at}, {{"axis", axis}})};
  // What clamps has given it an axis.
  const std::string one = call.reshaped(at, {{1, 0}}, {});
  return {call.node("Gather", {call.x(), one}, {{"axis", axis}})};
}

Names take_along_axis(ExportCall& call) {
  const std::int64_t axis = call.axis("axis");
  const std::string at = clamped(call, 1, {call.shape()[static_cast<std::size_t>(axis)]});
  return {call.node("GatherElements", {call.x(), at}, {{"axis", axis}})};
}

/// The axes that coordinates speak of, then the others.
std::vector<std::int64_t> coordinates_first(const ExportCall& call, std::size_t columns) {
  std::vector<std::int64_t> axes(columns);
  std::iota(axes.begin(), axes.end(), 0);
  axes = call.integers("axes", axes);
  const auto rank = static_cast<std::int64_t>(call.rank());
  for (std::int64_t& axis : axes) axis += axis < 0 ? rank : 0;
  for (std::int64_t axis = 0; axis < rank; ++axis)
    if (std::ranges::find(axes, axis) == axes.end()) axes.push_back(axis);
  return axes;
}

std::vector<std::int64_t> inverse(const std::vector<std::int64_t>& axes) {
  std::vector<std::int64_t> made(axes.size());
  for (std::size_t i = 0; i < axes.size(); ++i)
    made[static_cast<std::size_t>(axes[i])] = static_cast<std::int64_t>(i);
  return made;
}

/// What clamps the columns of coordinates: the extents of the axes that they speak of.
ExtentList column_extents(const ExportCall& call, const std::vector<std::int64_t>& axes,
                          std::size_t columns) {
  const ExtentList shape = call.shape();
  ExtentList made;
  for (std::size_t i = 0; i < columns; ++i)
    made.push_back(shape[static_cast<std::size_t>(axes[i])]);
  return made;
}

std::size_t columns_of(const ExportCall& call) {
  const auto columns = static_cast<std::size_t>(call.extent(1, call.rank(1) - 1));
  if (columns == 0) call.refuse("coordinates without axes");
  return columns;
}

Names gather(ExportCall& call) {
  const std::size_t columns = columns_of(call);
  const std::vector<std::int64_t> axes = coordinates_first(call, columns);
  const std::string at = clamped(call, 1, column_extents(call, axes, columns));
  return {call.node("GatherND", {call.transposed(call.x(), axes), at})};
}

ExportRule scatter(const char* reduction, int since) {
  return [reduction, since](ExportCall& call) -> Names {
    if (call.opset() < since) call.refuse("it needs opset " + std::to_string(since));
    const std::size_t columns = columns_of(call);
    const std::vector<std::int64_t> axes = coordinates_first(call, columns);
    const std::string at = clamped(call, 1, column_extents(call, axes, columns));
    std::vector<NodeAttribute> attributes;
    if (since >= 16) attributes.emplace_back("reduction", std::string{reduction});
    const std::string made =
        call.node("ScatterND", {call.transposed(call.x(), axes), at, call.x(2)}, attributes);
    return {call.transposed(made, inverse(axes))};
  };
}

/// Where a box of these extents begins, so that it fits: s64 [rank].
std::string starts_of(const ExportCall& call, std::size_t operand, const ExtentList& box) {
  const ExtentList shape = call.shape();
  ExtentList rooms;
  for (std::size_t axis = 0; axis < shape.size(); ++axis)
    rooms.push_back(
        {shape[axis].number - box[axis].number + 1, shape[axis].per_batch - box[axis].per_batch});
  return clamped(call, operand, rooms);
}

Names dynamic_slice(ExportCall& call) {
  const ExtentList lengths = call.extents("lengths");
  if (lengths.empty()) return {call.x()};
  const std::string from = starts_of(call, 1, lengths);
  GraphMaker& graph = call.graph();
  const std::string to = call.node("Add", {from, graph.dims(lengths)});
  std::vector<std::int64_t> axes(lengths.size());
  std::iota(axes.begin(), axes.end(), 0);
  const std::string steps =
      graph.integers(call.integers("strides", std::vector<std::int64_t>(axes.size(), 1)));
  return {call.node("Slice", {call.x(), from, to, graph.integers(axes), steps})};
}

/// The slice with zeros around it, where ones with zeros around them say so.
Names put_slice(ExportCall& call) {
  const ExtentList box = call.shape(1);
  if (box.empty()) return {call.x(1)};
  GraphMaker& graph = call.graph();
  const std::string before = starts_of(call, 2, box);
  ExtentList rooms = call.shape();
  for (std::size_t axis = 0; axis < rooms.size(); ++axis)
    rooms[axis] = {rooms[axis].number - box[axis].number,
                   rooms[axis].per_batch - box[axis].per_batch};
  const std::string after = call.node("Sub", {graph.dims(rooms), before});
  const std::string pads = call.node("Concat", {before, after}, {{"axis", std::int64_t{0}}});
  const std::string wide = call.node("Pad", {call.x(1), pads, graph.scalar(0, call.dtype(1))});
  const std::string ones = call.node("Expand", {graph.scalar(1, DType::s32), graph.dims(box)});
  const std::string inside = call.node("Pad", {ones, pads, graph.scalar(0, DType::s32)});
  return {call.node("Where", {call.cast(inside, DType::s32, DType::boolean), wide, call.x()})};
}

Names concatenate(ExportCall& call) {
  return {call.node("Concat", call.operands(), {{"axis", call.axis("axis")}})};
}

Names pad(ExportCall& call) {
  const std::vector<std::int64_t> none(call.rank(), 0);
  Edges edges{call.integers("low", none), call.integers("high", none),
              call.integers("interior", none)};
  return {padded(call, call.x(), call.shape(), std::move(edges), call.x(1))};
}

}  // namespace

void define(ExportTable& table) {
  table.add("take", &take);
  table.add("take_along_axis", &take_along_axis);
  table.add("gather", &gather);
  table.add("indexed_add", scatter("add", 16));
  table.add("indexed_multiply", scatter("mul", 16));
  table.add("indexed_max", scatter("max", 18));
  table.add("indexed_min", scatter("min", 18));
  table.add("indexed_put", scatter("none", 13));
  table.add("dynamic_slice", &dynamic_slice);
  table.add("put_slice", &put_slice);
  table.add("concatenate", &concatenate);
  table.add("pad", &pad);
}

}  // namespace stoker::onnx::exports::indexing
