#include "stoker/api/onnx/exporting/padding.hpp"

#include <algorithm>

namespace stoker::onnx {
namespace {

/// Each element with `count` times the value behind it, on an axis of its own that is then joined to the other.
std::string spread(const ExportCall& call, const std::string& x, ExtentList& shape,
                   std::size_t axis, std::int64_t count, const std::string& value) {
  ExtentList apart = shape;
  const auto behind = static_cast<std::ptrdiff_t>(axis) + 1;
  apart.insert(apart.begin() + behind, Extent{1, 0});
  std::vector<std::int64_t> pads(2 * apart.size(), 0);
  pads[apart.size() + axis + 1] = count;
  const std::string alone = call.reshaped(x, shape, apart);
  const std::string wide = call.node("Pad", {alone, call.graph().integers(pads), value});
  apart[axis + 1].number += count;
  shape[axis] = {shape[axis].number * (count + 1), shape[axis].per_batch * (count + 1)};
  return call.reshaped(wide, apart, shape);
}

}  // namespace

std::string padded(const ExportCall& call, std::string x, ExtentList shape, Edges edges,
                   const std::string& value) {
  for (std::size_t axis = 0; axis < shape.size(); ++axis) {
    const std::int64_t count = edges.interior[axis];
    if (count == 0 || shape[axis] == Extent{} || shape[axis] == Extent{1, 0}) continue;
    x = spread(call, x, shape, axis, count, value);
    edges.high[axis] -= count;
  }
  std::vector<std::int64_t> pads = edges.low;
  pads.insert(pads.end(), edges.high.begin(), edges.high.end());
  if (std::ranges::all_of(pads, [](std::int64_t pad) { return pad == 0; })) return x;
  return call.node("Pad", {x, call.graph().integers(pads), value});
}

}  // namespace stoker::onnx
