// General convolutions. Both gradients are convolutions themselves, with the roles of the operands
// exchanged, so they have gradients, too (see V. Dumoulin, F. Visin, "A guide to convolution arithmetic
// for deep learning", 2016, chapter 4, for one group).
//
// With y[n,o,p] = Σ x[n,c,(p·s + t·d − l) / e] · k[o,c,t] over c and t, along each spatial axis:
//     dx[n,c,i] = Σ g[n,o,p] · k[o,c,t] where p·s = i·e + (T−1−t)'·d − ((T−1)·d − l): g spread by s,
//                 strides e, the kernel turned round, outputs and channels exchanged;
//     dk[o,c,t] = Σ x[n,c,·] · g[n,o,p]: windows of g, whose entries are s apart, at distances d; batch
//                 takes the part of channels.
#include <algorithm>

#include "stoker/pipeline/tensor/graph/kernel_blocks.hpp"
#include "stoker/pipeline/tensor/graph/kernel_op.hpp"
#include "stoker/pipeline/tensor/graph/primitives.hpp"

namespace stoker::expr::ops::convolution {
namespace {

using List = std::vector<std::int64_t>;

/// A convolution's attributes in full.
struct Conv {
  List strides, low, high, spread, dilation;
  std::int64_t feature_groups = 1, batch_groups = 1;
  List x_axes, k_axes, y_axes;
  bool flip = false;

  explicit Conv(std::size_t rank)
      : strides(rank - 2, 1),
        low(rank - 2),
        high(rank - 2),
        spread(strides),
        dilation(strides),
        x_axes{all_axes(rank)},
        k_axes{x_axes},
        y_axes{x_axes} {}

  static Conv of(const Attributes& attributes, std::size_t rank) {
    Conv conv{rank};
    const auto take = [&](List& to, const char* name) {
      if (const List& given = attributes.integers(name); !given.empty()) to = given;
    };
    take(conv.strides, "strides");
    take(conv.low, "padding_low");
    take(conv.high, "padding_high");
    take(conv.spread, "input_dilation");
    take(conv.dilation, "kernel_dilation");
    take(conv.x_axes, "input_axes");
    take(conv.k_axes, "kernel_axes");
    take(conv.y_axes, "output_axes");
    conv.feature_groups = attributes.integer("feature_groups");
    conv.batch_groups = attributes.integer("batch_groups");
    conv.flip = attributes.flag("flip");
    return conv;
  }

  [[nodiscard]] Value operator()(const Value& x, const Value& k) const {
    static constinit NamedOp op{"conv"};
    return apply_one(op, {x, k},
                     {{"strides", strides},
                      {"padding_low", low},
                      {"padding_high", high},
                      {"input_dilation", spread},
                      {"kernel_dilation", dilation},
                      {"feature_groups", feature_groups},
                      {"batch_groups", batch_groups},
                      {"input_axes", x_axes},
                      {"kernel_axes", k_axes},
                      {"output_axes", y_axes},
                      {"flip", flip}});
  }
};

std::size_t at(std::int64_t axis) { return static_cast<std::size_t>(axis); }

std::int64_t extent(const Value& x, const List& axes, std::size_t canonical) {
  return x.shape()[at(axes[canonical])];
}

/// How far `entries` reach that are `distance` apart.
std::int64_t wide(std::int64_t entries, std::int64_t distance) {
  return entries == 0 ? 0 : (entries - 1) * distance + 1;
}

List with_first_two_exchanged(List axes) {
  std::swap(axes[0], axes[1]);
  return axes;
}

List inverse(const List& axes) {
  List result(axes.size());
  for (std::size_t i = 0; i < axes.size(); ++i) result[at(axes[i])] = static_cast<std::int64_t>(i);
  return result;
}

Shape shape_of(const List& extents) { return Shape::make(extents, "conv"); }

/// The first two axes, read as three of extents `parts`, in another order and as two of extents d0 and d1; the
/// others, which count as axis 3 of `axes`, stay.
Value regrouped(const Value& x, const std::array<std::int64_t, 3>& parts,
                const std::array<std::int64_t, 4>& axes, std::int64_t d0, std::int64_t d1) {
  std::int64_t rest = 1;
  List extents{d0, d1};
  for (std::size_t axis = 2; axis < x.shape().rank(); ++axis) {
    rest *= x.shape()[axis];
    extents.push_back(x.shape()[axis]);
  }
  const Value turned = transpose(reshape(x, {parts[0], parts[1], parts[2], rest}), axes);
  return reshape(turned, shape_of(extents));
}

/// [groups · a, b, …] as [groups · b, a, …], group by group. Canonical order.
Value exchanged_in_groups(const Value& x, std::int64_t groups) {
  const std::int64_t a = x.shape()[0] / groups, b = x.shape()[1];
  return regrouped(x, {groups, a, b}, {0, 2, 1, 3}, groups * b, a);
}

/// [a, groups · b, …] as [groups · a, b, …].
Value channels_to_batch(const Value& x, std::int64_t groups) {
  const std::int64_t a = x.shape()[0], b = x.shape()[1] / groups;
  return regrouped(x, {a, groups, b}, {1, 0, 2, 3}, groups * a, b);
}

Value by_input(const Conv& forward, const Value& x, const Value& k, const Value& g) {
  const std::size_t rank = x.shape().rank();
  const std::int64_t groups = std::max(forward.feature_groups, forward.batch_groups);
  Conv back{rank};
  back.strides = forward.spread;
  back.spread = forward.strides;
  back.dilation = forward.dilation;
  back.flip = !forward.flip;
  // Outputs that belonged to a group are now its channels, whether its inputs were parts of the batch
  // or of the channels.
  back.feature_groups = groups;
  back.x_axes = forward.y_axes;
  for (std::size_t axis = 0; axis + 2 < rank; ++axis) {
    const std::int64_t reach = wide(extent(k, forward.k_axes, axis + 2), forward.dilation[axis]);
    back.low[axis] = reach - 1 - forward.low[axis];
    back.high[axis] = wide(extent(x, forward.x_axes, axis + 2), forward.spread[axis]) - 1 + reach -
                      wide(extent(g, forward.y_axes, axis + 2), forward.strides[axis]) -
                      back.low[axis];
  }
  if (groups == 1) {
    back.k_axes = with_first_two_exchanged(forward.k_axes);
    back.y_axes = forward.x_axes;
    return back(g, k);
  }
  const Value kernel = exchanged_in_groups(transpose(k, forward.k_axes), groups);
  if (forward.batch_groups == 1) {
    back.y_axes = forward.x_axes;
    return back(g, kernel);
  }
  return transpose(channels_to_batch(back(g, kernel), groups), inverse(forward.x_axes));
}

Value by_kernel(const Conv& forward, const Value& x, const Value& k, const Value& g) {
  const std::size_t rank = x.shape().rank();
  Conv back{rank};
  back.strides = forward.dilation;
  back.spread = forward.spread;
  back.dilation = forward.strides;
  back.low = forward.low;
  back.feature_groups = forward.batch_groups;
  back.batch_groups = forward.feature_groups;
  back.x_axes = with_first_two_exchanged(forward.x_axes);
  back.k_axes = with_first_two_exchanged(forward.y_axes);
  back.y_axes = with_first_two_exchanged(forward.k_axes);
  for (std::size_t axis = 0; axis + 2 < rank; ++axis)
    back.high[axis] = wide(extent(k, forward.k_axes, axis + 2), forward.dilation[axis]) - 1 +
                      wide(extent(g, forward.y_axes, axis + 2), forward.strides[axis]) -
                      wide(extent(x, forward.x_axes, axis + 2), forward.spread[axis]) -
                      forward.low[axis];
  const Value made = back(x, g);
  if (!forward.flip) return made;
  return reverse(made, std::span{forward.k_axes}.subspan(2));
}

/// A kernel in blocks, [O, C, space…, c, o], as [O · o, C · c, space…].
Value without_blocks(const Value& k) {
  const Shape& shape = k.shape();
  const std::size_t channels = shape.rank() - 2, outputs = shape.rank() - 1;
  List axes{0, static_cast<std::int64_t>(outputs), 1, static_cast<std::int64_t>(channels)};
  List extents{shape[0] * shape[outputs], shape[1] * shape[channels]};
  for (std::size_t axis = 2; axis < channels; ++axis) {
    axes.push_back(static_cast<std::int64_t>(axis));
    extents.push_back(shape[axis]);
  }
  return reshape(transpose(k, axes), shape_of(extents));
}

/// The other way round, in blocks of this shape.
Value in_blocks(const Value& k, const Shape& shape) {
  const std::size_t channels = shape.rank() - 2, outputs = shape.rank() - 1;
  List axes{0, 2}, extents{shape[0], shape[outputs], shape[1], shape[channels]};
  for (std::size_t axis = 2; axis < channels; ++axis) {
    axes.push_back(static_cast<std::int64_t>(axis + 2));
    extents.push_back(shape[axis]);
  }
  axes.insert(axes.end(), {3, 1});
  return transpose(reshape(k, shape_of(extents)), axes);
}

Values of_conv(const Backward& b) {
  const Value &x = b.x(0), &k = b.x(1), &g = b.g();
  // Where a sum has no terms, nothing depends on anything.
  if (x.shape().empty() || k.shape().empty() || g.shape().empty())
    return {zeros_like(x), zeros_like(k)};
  const Conv forward = Conv::of(b.attributes, x.shape().rank());
  if (!has_kernel_blocks(b.attributes))
    return {by_input(forward, x, k, g), by_kernel(forward, x, k, g)};
  const Value plain = without_blocks(k);
  return {by_input(forward, x, plain, g), in_blocks(by_kernel(forward, x, plain, g), k.shape())};
}

}  // namespace

void define(OpTable& table) { table.add(kernel_op("conv", "conv", &of_conv)); }

}  // namespace stoker::expr::ops::convolution
