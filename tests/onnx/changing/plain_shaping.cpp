#include <algorithm>
#include <stdexcept>

#include "stoker/tests/onnx/changing/plain_operators.hpp"

namespace stoker::onnx {
namespace {

using Int = std::int64_t;

PlainArrays in_shape(PlainArray x, PlainExtents shape) {
  if (product_of(shape) != x.size()) throw std::invalid_argument{"a shape of another size"};
  x.shape = std::move(shape);
  return {x};
}

PlainArrays plain_reshape(const Node& node, const PlainArrays& x) {
  PlainExtents shape = x.at(1).data;
  Int known = 1;
  for (std::size_t axis = 0; axis < shape.size(); ++axis) {
    if (shape[axis] == 0 && node.integer("allowzero", 0) == 0) shape[axis] = x[0].shape.at(axis);
    if (shape[axis] != -1) known *= shape[axis];
  }
  for (Int& extent : shape)
    if (extent == -1) extent = x[0].size() / known;
  return in_shape(x[0], shape);
}

PlainArrays plain_unsqueeze(const Node&, const PlainArrays& x) {
  PlainExtents shape = x.at(0).shape;
  PlainExtents axes;
  for (const Int axis : x.at(1).data) axes.push_back(plain_axis(axis, x[0].rank() + x[1].size()));
  std::sort(axes.begin(), axes.end());
  for (const Int axis : axes) shape.insert(shape.begin() + axis, 1);
  return in_shape(x[0], shape);
}

PlainArrays plain_squeeze(const Node&, const PlainArrays& x) {
  PlainExtents shape;
  for (Int axis = 0; axis < x.at(0).rank(); ++axis) {
    const bool goes = std::any_of(x.at(1).data.begin(), x.at(1).data.end(),
                                  [&](Int one) { return plain_axis(one, x[0].rank()) == axis; });
    if (!goes) shape.push_back(x[0].shape[static_cast<std::size_t>(axis)]);
  }
  return in_shape(x[0], shape);
}

PlainArrays plain_transpose(const Node& node, const PlainArrays& x) {
  const PlainExtents perm = node.integers("perm", {});
  PlainExtents shape;
  for (const Int axis : perm) shape.push_back(x.at(0).shape.at(static_cast<std::size_t>(axis)));
  return {made_of(x[0].type, shape, [&](const PlainExtents& at) {
    PlainExtents from(at.size());
    for (std::size_t i = 0; i < at.size(); ++i) from[static_cast<std::size_t>(perm[i])] = at[i];
    return x[0].at(from);
  })};
}

PlainArrays plain_concat(const Node& node, const PlainArrays& x) {
  const auto axis = static_cast<std::size_t>(plain_axis(node.integer("axis"), x.at(0).rank()));
  PlainExtents shape = x[0].shape;
  shape[axis] = 0;
  for (const PlainArray& one : x) shape[axis] += one.shape.at(axis);
  return {made_of(x[0].type, shape, [&](PlainExtents at) {
    std::size_t which = 0;
    for (; at[axis] >= x[which].shape[axis]; ++which) at[axis] -= x[which].shape[axis];
    return x[which].at(at);
  })};
}

PlainArrays plain_slice(const Node&, const PlainArrays& x) {
  PlainExtents shape = x.at(0).shape;
  PlainExtents first(shape.size(), 0);
  PlainExtents step(shape.size(), 1);
  for (Int i = 0; i < x.at(1).size(); ++i) {
    const auto at = static_cast<std::size_t>(i);
    const auto axis = static_cast<std::size_t>(plain_axis(x.at(3).data.at(at), x[0].rank()));
    const Int by = x.size() > 4 ? x[4].data.at(at) : 1;
    const Int extent = x[0].shape[axis];
    const auto placed = [&](Int one) {
      if (one < 0) one += extent;
      return by > 0 ? std::clamp<Int>(one, 0, extent) : std::clamp<Int>(one, -1, extent - 1);
    };
    // The first of a descending slice is in the array, the end may be before it.
    Int start = x[1].data.at(at) < 0 ? x[1].data.at(at) + extent : x[1].data.at(at);
    start = by > 0 ? std::clamp<Int>(start, 0, extent)
                   : std::min<Int>(std::max<Int>(start, 0), extent - 1);
    const Int end = placed(x[2].data.at(at));
    const Int span = by > 0 ? end - start : start - end;
    const Int stride = by > 0 ? by : -by;
    shape[axis] = std::max<Int>(0, (span + stride - 1) / stride);
    first[axis] = start;
    step[axis] = by;
  }
  return {made_of(x[0].type, shape, [&](PlainExtents at) {
    for (std::size_t axis = 0; axis < at.size(); ++axis)
      at[axis] = first[axis] + at[axis] * step[axis];
    return x[0].at(at);
  })};
}

PlainArrays plain_gather(const Node& node, const PlainArrays& x) {
  const Int axis = plain_axis(node.integer("axis", 0), x.at(0).rank());
  PlainExtents shape = x[0].shape;
  shape.erase(shape.begin() + axis);
  shape.insert(shape.begin() + axis, x.at(1).shape.begin(), x[1].shape.end());
  return {made_of(x[0].type, shape, [&](const PlainExtents& at) {
    const auto middle = at.begin() + axis;
    const Int place = x[1].at({middle, middle + x[1].rank()});
    PlainExtents from{at.begin(), middle};
    from.push_back(plain_axis(place, x[0].shape[static_cast<std::size_t>(axis)]));
    from.insert(from.end(), middle + x[1].rank(), at.end());
    return x[0].at(from);
  })};
}

PlainArrays plain_expand(const Node&, const PlainArrays& x) {
  PlainArray target{x.at(0).type, x.at(1).data, {}};
  return {made_of(x[0].type, broadcast_of({x[0], target}),
                  [&](const PlainExtents& at) { return x[0].at(at); })};
}

PlainArrays plain_tile(const Node&, const PlainArrays& x) {
  PlainExtents shape = x.at(0).shape;
  for (std::size_t axis = 0; axis < shape.size(); ++axis) shape[axis] *= x.at(1).data.at(axis);
  return {made_of(x[0].type, shape, [&](PlainExtents at) {
    for (std::size_t axis = 0; axis < at.size(); ++axis) at[axis] %= x[0].shape[axis];
    return x[0].at(at);
  })};
}

/// With zeros.
PlainArrays plain_pad(const Node&, const PlainArrays& x) {
  const PlainExtents& pads = x.at(1).data;
  const std::size_t rank = x.at(0).shape.size();
  PlainExtents shape = x[0].shape;
  for (std::size_t axis = 0; axis < rank; ++axis)
    shape[axis] += pads.at(axis) + pads.at(axis + rank);
  return {made_of(x[0].type, shape, [&](PlainExtents at) -> Int {
    for (std::size_t axis = 0; axis < rank; ++axis) {
      at[axis] -= pads[axis];
      if (at[axis] < 0 || at[axis] >= x[0].shape[axis]) return 0;
    }
    return x[0].at(at);
  })};
}

PlainArrays plain_range(const Node&, const PlainArrays& x) {
  PlainArray made = plain_vector({});
  for (Int one = x.at(0).data.at(0); one < x.at(1).data.at(0); one += x.at(2).data.at(0))
    made.data.push_back(one);
  made.shape = {made.size()};
  return {made};
}

PlainArrays plain_constant_of_shape(const Node& node, const PlainArrays& x) {
  const TensorData& value = node.tensor("value");
  const auto number = static_cast<Int>(value.bytes.view[0]);  // one of 0 to 127, little-endian
  return {made_of(value.type, x.at(0).data, [&](const PlainExtents&) { return number; })};
}

}  // namespace

void add_shaping(PlainRules& rules) {
  rules["Shape"] = [](const Node&, const PlainArrays& x) {
    return PlainArrays{plain_vector(x.at(0).shape)};
  };
  rules["Size"] = [](const Node&, const PlainArrays& x) {
    return PlainArrays{plain_scalar(x.at(0).size())};
  };
  rules["Reshape"] = &plain_reshape;
  rules["Unsqueeze"] = &plain_unsqueeze;
  rules["Squeeze"] = &plain_squeeze;
  rules["Transpose"] = &plain_transpose;
  rules["Concat"] = &plain_concat;
  rules["Slice"] = &plain_slice;
  rules["Gather"] = &plain_gather;
  rules["Expand"] = &plain_expand;
  rules["Tile"] = &plain_tile;
  rules["Pad"] = &plain_pad;
  rules["Range"] = &plain_range;
  rules["ConstantOfShape"] = &plain_constant_of_shape;
}

}  // namespace stoker::onnx
