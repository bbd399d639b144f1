// Reductions over windows that slide.
#include <algorithm>
#include <functional>

#include "stoker/pipeline/tensor/graph/batching.hpp"
#include "stoker/pipeline/tensor/graph/kernel_op.hpp"
#include "stoker/pipeline/tensor/graph/primitives.hpp"

namespace stoker::expr::ops::windows {
namespace {

/// Every element gets the gradients of the windows it was in: the gradient spread by the strides, and
/// windows over that, whose edges are those of the forward ones turned round.
Values of_window_sum(const Backward& b) {
  static constinit NamedOp window_sum{"window_sum"};
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

/// Windows taken apart, for what no kernel does: one place in the window after the other, in row-major
/// order, each over all windows at once. There is a window.
class Places {
 public:
  /// `extremes` are those of the windows of `x`; padding is none.
  Places(const Attributes& attributes, std::vector<std::int64_t> dilations, const Value& x,
         const Value& extremes)
      : window_{attributes.integers("window")},
        strides_{attributes.integers("strides")},
        low_{attributes.integers("padding_low")},
        high_{attributes.integers("padding_high")},
        dilations_{std::move(dilations)},
        none_(window_.size(), 0),
        windows_{extremes.shape()},
        extremes_{extremes},
        padded_{padded(x)} {
    const auto adds = [](std::int64_t places) { return places > 0; };
    if (std::ranges::any_of(low_, adds) || std::ranges::any_of(high_, adds))
      inside_ = padded(constant(1, DType::u8, x.shape()));
  }

  [[nodiscard]] std::size_t count() const {
    std::size_t places = 1;
    for (const std::int64_t extent : window_) places *= static_cast<std::size_t>(extent);
    return places;
  }
  /// Zeros around, as far as windows reach.
  [[nodiscard]] Value padded(const Value& x) const {
    return pad(x, constant(0, x.dtype()), low_, high_, none_);
  }
  /// The element at place `k` of each window, of what was padded.
  [[nodiscard]] Value elements(const Value& padded, std::size_t k) const {
    const std::vector<std::int64_t> begin = first(k);
    std::vector<std::int64_t> spans(begin.size());
    for (std::size_t axis = 0; axis < begin.size(); ++axis) spans[axis] = span(axis);
    return slice(padded, begin, spans, strides_);
  }
  /// Whether that is the extreme. If there is a NaN, NaNs are.
  [[nodiscard]] Value is_extreme(std::size_t k) const {
    const Value one = elements(padded_, k);
    const Value hit =
        scalar("logical_or", {scalar("equal", {one, extremes_}), scalar("is_nan", {one})});
    return inside_ ? scalar("logical_and", {hit, elements(inside_, k)}) : hit;
  }
  /// One number of each window at its place `k`, zeros elsewhere, as the padded ones are.
  [[nodiscard]] Value spread(const Value& numbers, std::size_t k) const {
    const std::vector<std::int64_t> begin = first(k);
    std::vector<std::int64_t> after(begin.size()), interior(begin.size());
    for (std::size_t axis = 0; axis < begin.size(); ++axis) {
      after[axis] = padded_.shape()[axis] - begin[axis] - span(axis);
      interior[axis] = strides_[axis] - 1;
    }
    return pad(numbers, constant(0, numbers.dtype()), begin, after, interior);
  }
  /// Undoes padded().
  [[nodiscard]] Value cropped(const Value& padded) const {
    std::vector<std::int64_t> low(low_.size()), high(high_.size());
    std::ranges::transform(low_, low.begin(), std::negate{});
    std::ranges::transform(high_, high.begin(), std::negate{});
    return pad(padded, constant(0, padded.dtype()), low, high, none_);
  }

 private:
  /// Of the first window.
  [[nodiscard]] std::vector<std::int64_t> first(std::size_t k) const {
    std::vector<std::int64_t> at(window_.size());
    auto rest = static_cast<std::int64_t>(k);
    for (std::size_t axis = at.size(); axis-- > 0; rest /= window_[axis])
      at[axis] = rest % window_[axis] * dilations_[axis];
    return at;
  }
  /// From a place in the first window to the same in the last.
  [[nodiscard]] std::int64_t span(std::size_t axis) const {
    return (windows_[axis] - 1) * strides_[axis] + 1;
  }

  std::vector<std::int64_t> window_, strides_, low_, high_, dilations_, none_;
  Shape windows_;
  Value extremes_, padded_;
  Value inside_;  // 1 where an element of x is; empty without padding
};

/// What window_scatter does, for windows with holes.
Value scatter_dilated(const Backward& b) {
  if (b.g().shape().elements() == 0) return {};
  const Places places{b.attributes, b.attributes.integers("window_dilations"), b.x(), b.y()};
  const Value zero = constant(0, b.g().dtype());
  Value left = b.g();  // of windows whose extreme is not found yet
  Value sum;
  for (std::size_t k = 0; k < places.count(); ++k) {
    const Value hit = places.is_extreme(k);
    const Value here = places.spread(select(hit, left, zero), k);
    sum = sum ? sum + here : here;
    left = select(hit, zero, left);
  }
  return places.cropped(sum);
}

/// To the first extreme of each window.
template <bool largest> Values of_window_extreme(const Backward& b) {
  static constinit NamedOp scatter{largest ? "window_scatter_max" : "window_scatter_min"};
  const auto& dilations = b.attributes.integers("window_dilations");
  if (std::ranges::any_of(dilations, [](std::int64_t dilation) { return dilation != 1; }))
    return {scatter_dilated(b)};
  return {apply_one(scatter, {b.x(), b.g(), constant(0, b.g().dtype())},
                    {{"window", b.attributes.integers("window")},
                     {"strides", b.attributes.integers("strides")},
                     {"padding_low", b.attributes.integers("padding_low")},
                     {"padding_high", b.attributes.integers("padding_high")}})};
}

/// A scatter adds each element of its source at one place, so it takes the gradient from there. Where
/// the places are is no matter of degree: nothing comes to the operand.
template <bool largest> Values of_window_scatter(const Backward& b) {
  static constinit NamedOp reduction{largest ? "window_max" : "window_min"};
  const Value& init = b.x(2);
  const Value to_init = reshape(sum(b.g(), all_axes(b.g().shape().rank()), false), init.shape());
  if (b.x(1).shape().elements() == 0) return {Value{}, Value{}, to_init};
  const std::vector<std::int64_t> ones(b.x().shape().rank(), 1);
  const Value extremes =
      apply_one(reduction, {b.x()},
                with(b.attributes, {{"window_dilations", ones}, {"base_dilations", ones}}));
  const Places places{b.attributes, ones, b.x(), extremes};
  const Value padded = places.padded(b.g());
  Value taken = zeros_like(b.x(1));
  // Backwards: what is taken last is that of the first extreme.
  for (std::size_t k = places.count(); k-- > 0;)
    taken = select(places.is_extreme(k), places.elements(padded, k), taken);
  return {Value{}, taken, to_init};
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
  return {added + reshape(b.x(2), Shape::make(extents, "vmap"))};
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
  table.add(window_op("window_scatter_max", &of_window_scatter<true>, &batch_scatter));
  table.add(window_op("window_scatter_min", &of_window_scatter<false>, &batch_scatter));
}

}  // namespace stoker::expr::ops::windows
