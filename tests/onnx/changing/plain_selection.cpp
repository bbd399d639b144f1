#include <algorithm>
#include <numeric>

#include "stoker/tests/onnx/changing/plain_operators.hpp"

namespace stoker::onnx {
namespace {

using Int = std::int64_t;

/// The slices at these places of the axis.
PlainArray plain_taken(const PlainArray& x, const PlainExtents& places, Int axis) {
  const auto along = static_cast<std::size_t>(axis);
  PlainExtents shape = x.shape;
  shape.at(along) = static_cast<Int>(places.size());
  return made_of(x.type, shape, [&](PlainExtents at) {
    at[along] = places[static_cast<std::size_t>(at[along])];
    return x.at(at);
  });
}

PlainArray flattened(const Node& node, const PlainArray& x, Int& axis) {
  PlainArray made = x;
  axis = 0;
  if (node.has("axis"))
    axis = plain_axis(node.integer("axis"), x.rank());
  else
    made.shape = {made.size()};
  return made;
}

PlainArrays plain_non_zero(const Node&, const PlainArrays& x) {
  std::vector<PlainExtents> found;
  made_of(x.at(0).type, x[0].shape, [&](const PlainExtents& at) {
    if (x[0].at(at) != 0) found.push_back(at);
    return 0;
  });
  const PlainExtents shape{x[0].rank(), static_cast<Int>(found.size())};
  return {made_of(ElementType::s64, shape, [&](const PlainExtents& at) {
    return found[static_cast<std::size_t>(at[1])][static_cast<std::size_t>(at[0])];
  })};
}

PlainArrays plain_compress(const Node& node, const PlainArrays& x) {
  Int axis = 0;
  const PlainArray from = flattened(node, x.at(0), axis);
  PlainExtents places;
  for (Int i = 0; i < std::min(x.at(1).size(), from.shape.at(static_cast<std::size_t>(axis))); ++i)
    if (x[1].data[static_cast<std::size_t>(i)] != 0) places.push_back(i);
  return {plain_taken(from, places, axis)};
}

PlainArrays plain_unique(const Node& node, const PlainArrays& x) {
  Int axis = 0;
  const PlainArray from = flattened(node, x.at(0), axis);
  std::vector<PlainArray> slices;
  for (Int i = 0; i < from.shape.at(static_cast<std::size_t>(axis)); ++i)
    slices.push_back(plain_taken(from, {i}, axis));
  PlainExtents first;  // of each group
  for (Int i = 0; i < static_cast<Int>(slices.size()); ++i) {
    const auto same = [&](Int one) {
      return slices[static_cast<std::size_t>(one)] == slices[static_cast<std::size_t>(i)];
    };
    if (std::none_of(first.begin(), first.end(), same)) first.push_back(i);
  }
  if (node.integer("sorted", 1) != 0)
    std::sort(first.begin(), first.end(), [&](Int a, Int b) {
      return slices[static_cast<std::size_t>(a)].data < slices[static_cast<std::size_t>(b)].data;
    });
  PlainExtents group, counts(first.size());
  for (const PlainArray& slice : slices) {
    const auto found = std::find_if(first.begin(), first.end(), [&](Int one) {
      return slices[static_cast<std::size_t>(one)] == slice;
    });
    group.push_back(found - first.begin());
    ++counts[static_cast<std::size_t>(found - first.begin())];
  }
  return {plain_taken(from, first, axis), plain_vector(first), plain_vector(group),
          plain_vector(counts)};
}

/// One batch, one class. An iou_threshold of 0: boxes that share any area are suppressed.
PlainArrays plain_non_max_suppression(const Node&, const PlainArrays& x) {
  const PlainArray& boxes = x.at(0);
  PlainExtents order(static_cast<std::size_t>(boxes.shape.at(1)));
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(), [&](Int a, Int b) {
    return x.at(1).at({0, 0, a}) > x[1].at({0, 0, b});
  });
  const auto overlap = [&](Int a, Int b) {
    Int shared = 1;
    for (const Int side : {0, 1}) {
      const auto [low_a, high_a] =
          std::minmax({boxes.at({0, a, side}), boxes.at({0, a, side + 2})});
      const auto [low_b, high_b] =
          std::minmax({boxes.at({0, b, side}), boxes.at({0, b, side + 2})});
      shared *= std::max<Int>(0, std::min(high_a, high_b) - std::max(low_a, low_b));
    }
    return shared > 0;
  };
  PlainExtents kept;
  for (const Int one : order) {
    if (static_cast<Int>(kept.size()) >= x.at(2).data.at(0)) break;
    if (x.size() > 4 && x[4].is_given() && x[1].at({0, 0, one}) <= x[4].data.at(0)) continue;
    if (std::none_of(kept.begin(), kept.end(), [&](Int other) { return overlap(one, other); }))
      kept.push_back(one);
  }
  return {
      made_of(ElementType::s64, {static_cast<Int>(kept.size()), 3}, [&](const PlainExtents& at) {
        return at[1] == 2 ? kept[static_cast<std::size_t>(at[0])] : 0;
      })};
}

/// Of vectors. Equal elements keep their order.
PlainArrays plain_top(const Node& node, const PlainArrays& x) {
  PlainExtents order(x.at(0).data.size());
  std::iota(order.begin(), order.end(), 0);
  const bool largest = node.integer("largest", 1) != 0;
  std::stable_sort(order.begin(), order.end(), [&](Int a, Int b) {
    const Int one = x[0].data[static_cast<std::size_t>(a)];
    const Int other = x[0].data[static_cast<std::size_t>(b)];
    return largest ? one > other : one < other;
  });
  order.resize(static_cast<std::size_t>(x.at(1).data.at(0)));
  return {plain_taken(x[0], order, 0), plain_vector(order)};
}

}  // namespace

void add_selection(PlainRules& rules) {
  rules["NonZero"] = &plain_non_zero;
  rules["Compress"] = &plain_compress;
  rules["Unique"] = &plain_unique;
  rules["NonMaxSuppression"] = &plain_non_max_suppression;
  rules["TopK"] = &plain_top;
}

}  // namespace stoker::onnx
