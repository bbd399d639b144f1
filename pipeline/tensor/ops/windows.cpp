// Reductions over windows that slide.
#include <algorithm>
#include <limits>

#include "stoker/pipeline/tensor/batching.hpp"
#include "stoker/pipeline/tensor/kernel_op.hpp"
#include "stoker/pipeline/tensor/primitives.hpp"

namespace stoker::expr::ops::windows {
namespace {

/// Every element gets the gradients of the windows it was in: the gradient spread by the strides, and
/// windows over that, whose edges are those of the forward ones turned round.
Values of_window_sum(const Backward& b) {
  static const Op& window_sum = find_op("window_sum");
  const auto& window = b.attributes.integers("window");
  const auto& strides = b.attributes.integers("strides");
  const auto& before = b.attributes.integers("padding_low");
  const auto& dilations = b.attributes.integers("window_dilations");
  const std::size_t rank = window.size();
  std::vector<std::int64_t> low(rank), high(rank), interior(rank);
  for (std::size_t axis = 0; axis < rank; ++axis) {
    const std::int64_t reach = (window[axis] - 1) * dilations[axis];
    const std::int64_t taken = b.g().shape()[axis];
    interior[axis] = strides[axis] - 1;
    low[axis] = reach - before[axis];
    const std::int64_t spread = taken == 0 ? 0 : (taken - 1) * strides[axis] + 1;
    high[axis] = b.x().shape()[axis] + reach - low[axis] - spread;
  }
  const Value wide = pad(b.g(), constant(0, b.g().dtype()), low, high, interior);
  const std::vector<std::int64_t> ones(rank, 1);
  const std::vector<std::int64_t> none(rank, 0);
  return {apply_one(window_sum, {wide},
                    {{"window", window},
                     {"strides", ones},
                     {"padding_low", none},
                     {"padding_high", none},
                     {"window_dilations", dilations},
                     {"base_dilations", ones}})};
}

/// What window_scatter does, for windows with holes: one place in the window after the other, in the
/// order in which the first extreme is looked for, each over all windows at once.
template <bool largest> Value scatter_dilated(const Backward& b) {
  const auto& window = b.attributes.integers("window");
  const auto& strides = b.attributes.integers("strides");
  const auto& low = b.attributes.integers("padding_low");
  const auto& high = b.attributes.integers("padding_high");
  const auto& dilations = b.attributes.integers("window_dilations");
  const std::size_t rank = window.size();
  const Shape& results = b.g().shape();
  const std::vector<std::int64_t> none(rank, 0);
  constexpr double infinity = std::numeric_limits<double>::infinity();
  const Value outside = constant(largest ? -infinity : infinity, b.x().dtype());
  const Value padded = pad(b.x(), outside, low, high, none);
  const Value zero = constant(0, b.g().dtype());
  std::vector<std::int64_t> back_low(rank), back_high(rank), interior(rank);
  for (std::size_t axis = 0; axis < rank; ++axis) {
    back_low[axis] = -low[axis];
    back_high[axis] = -high[axis];
    interior[axis] = strides[axis] - 1;
  }

  Value left = b.g();  // of windows whose extreme is not found yet
  Value sum;
  std::vector<std::int64_t> place(rank, 0);
  for (bool more = results.elements() > 0; more;) {
    std::vector<std::int64_t> begin(rank), extent(rank), after(rank);
    for (std::size_t axis = 0; axis < rank; ++axis) {
      begin[axis] = place[axis] * dilations[axis];
      extent[axis] = (results[axis] - 1) * strides[axis] + 1;
      after[axis] = padded.shape()[axis] - begin[axis] - extent[axis];
    }
    const Value one = slice(padded, begin, extent, strides);
    // The extreme of a window with a NaN in it is that.
    const Value hit =
        scalar("logical_or", {scalar("equal", {one, b.y()}), scalar("is_nan", {one})});
    const Value here = pad(select(hit, left, zero), zero, begin, after, interior);
    sum = sum ? sum + here : here;
    left = select(hit, zero, left);
    more = false;
    for (std::size_t axis = rank; axis-- > 0 && !more;) {
      more = ++place[axis] < window[axis];
      if (!more) place[axis] = 0;
    }
  }
  return sum ? pad(sum, zero, back_low, back_high, none) : Value{};
}

/// To the first extreme of each window.
template <bool largest> Values of_window_extreme(const Backward& b) {
  static const Op& scatter = find_op(largest ? "window_scatter_max" : "window_scatter_min");
  const auto& dilations = b.attributes.integers("window_dilations");
  if (std::ranges::any_of(dilations, [](std::int64_t dilation) { return dilation != 1; }))
    return {scatter_dilated<largest>(b)};
  return {apply_one(scatter, {b.x(), b.g(), constant(0, b.g().dtype())},
                    {{"window", b.attributes.integers("window")},
                     {"strides", b.attributes.integers("strides")},
                     {"padding_low", b.attributes.integers("padding_low")},
                     {"padding_high", b.attributes.integers("padding_high")}})};
}

/// One more axis in front, with windows of one.
Attributes one_more_axis(const Attributes& attributes) {
  Attributes made = attributes;
  for (const Params::Entry& entry : attributes.params().entries())
    if (const auto* list = std::get_if<std::vector<std::int64_t>>(&entry.value))
      made = with(made, {{entry.name, prefixed(entry.name.starts_with("padding") ? 0 : 1, *list)}});
  return made;
}

Values batch_window(const Batch& b) { return apply(b.op, {b.x()}, one_more_axis(b.attributes)); }

/// What is added onto is one number; where that differs, it is added afterwards.
Values batch_scatter(const Batch& b) {
  const Value init = b.is_mapped(2) ? constant(0, b.x().dtype()) : b.x(2);
  const Value added =
      apply_one(b.op, {spread(b, 0), spread(b, 1), init}, one_more_axis(b.attributes));
  if (!b.is_mapped(2)) return {added};
  std::vector<std::int64_t> extents(added.shape().rank(), 1);
  extents[0] = b.size;
  return {added + reshape(b.x(2), Shape::make(extents, "vmap").value())};
}

Op window_op(const char* name, std::function<Values(const Backward&)> gradient,
             Values (*batch)(const Batch&)) {
  Op op = kernel_op(name, name, std::move(gradient));
  op.batch = batch;
  return op;
}

}  // namespace

void define(OpTable& table) {
  table.add(window_op("window_sum", &of_window_sum, &batch_window));
  table.add(window_op("window_product", {}, &batch_window));
  table.add(window_op("window_max", &of_window_extreme<true>, &batch_window));
  table.add(window_op("window_min", &of_window_extreme<false>, &batch_window));
  table.add(window_op("window_scatter_max", {}, &batch_scatter));
  table.add(window_op("window_scatter_min", {}, &batch_scatter));
}

}  // namespace stoker::expr::ops::windows
