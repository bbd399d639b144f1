// Reductions over windows that slide: pools. ONNX slides over all axes but the first two.
#include <algorithm>

#include "stoker/api/onnx/exporting/wide_rule.hpp"

namespace stoker::onnx::exports::windows {
namespace {

using List = std::vector<std::int64_t>;

/// The operand with the axes that windows slide over behind two others, and the way back.
class Pool {
 public:
  explicit Pool(ExportCall& call) : call_{call} {
    const std::size_t rank = call.rank();
    const List window = call.integers("window");
    const List strides = call.integers("strides", List(rank, 1));
    const List low = call.integers("padding_low", List(rank, 0));
    const List high = call.integers("padding_high", List(rank, 0));
    const List dilations = call.integers("window_dilations", List(rank, 1));
    const List spread = call.integers("base_dilations", List(rank, 1));
    List sliding;
    for (std::size_t axis = 0; axis < rank; ++axis) {
      if (spread[axis] != 1) call.refuse("ONNX has no pools of an input with gaps");
      const bool slides =
          window[axis] != 1 || strides[axis] != 1 || low[axis] != 0 || high[axis] != 0;
      (slides ? sliding : order_).push_back(static_cast<std::int64_t>(axis));
      if (!slides) continue;
      window_.push_back(window[axis]);
      strides_.push_back(strides[axis]);
      pads_.push_back(low[axis]);
      dilations_.push_back(dilations[axis]);
    }
    still_ = order_.size();
    order_.insert(order_.end(), sliding.begin(), sliding.end());
    for (const std::int64_t axis : sliding) pads_.push_back(high[static_cast<std::size_t>(axis)]);
    for (const std::int64_t axis : order_) {
      before_.push_back(call.shape()[static_cast<std::size_t>(axis)]);
      after_.push_back(call.out_shape()[static_cast<std::size_t>(axis)]);
    }
  }

  [[nodiscard]] bool slides() const noexcept { return !window_.empty(); }
  [[nodiscard]] bool has_holes() const {
    return std::ranges::any_of(dilations_, [](std::int64_t one) { return one != 1; });
  }
  [[nodiscard]] std::int64_t elements() const {
    std::int64_t all = 1;
    for (const std::int64_t extent : window_) all *= extent;
    return all;
  }

  [[nodiscard]] std::string operand() const {
    return call_.reshaped(call_.transposed(call_.x(), order_), before_, with_two(before_));
  }
  [[nodiscard]] Names back(const std::string& y) const {
    List inverse(order_.size());
    for (std::size_t i = 0; i < inverse.size(); ++i)
      inverse[static_cast<std::size_t>(order_[i])] = static_cast<std::int64_t>(i);
    return {call_.transposed(call_.reshaped(y, with_two(after_), after_), inverse)};
  }
  [[nodiscard]] std::vector<NodeAttribute> attributes(bool with_holes) const {
    std::vector<NodeAttribute> made{
        {"kernel_shape", window_}, {"strides", strides_}, {"pads", pads_}};
    if (with_holes) made.emplace_back("dilations", dilations_);
    return made;
  }

 private:
  /// The axes that windows do not slide over as two.
  [[nodiscard]] ExtentList with_two(const ExtentList& shape) const {
    ExtentList made;
    if (still_ <= 2) {
      made.assign(2 - still_, Extent{1, 0});
      made.insert(made.end(), shape.begin(), shape.end());
      return made;
    }
    Extent joined{1, 0};
    for (std::size_t i = 1; i < still_; ++i) {
      if (!joined.is_fixed() && !shape[i].is_fixed()) call_.refuse("two axes depend on the batch");
      joined = {joined.number * shape[i].number,
                joined.number * shape[i].per_batch + joined.per_batch * shape[i].number};
    }
    made = {shape[0], joined};
    made.insert(made.end(), shape.begin() + static_cast<std::ptrdiff_t>(still_), shape.end());
    return made;
  }

  ExportCall& call_;
  List order_;  // axes that stay, then those that windows slide over
  std::size_t still_ = 0;
  List window_, strides_, pads_, dilations_;
  ExtentList before_, after_;  // extents in that order
};

Names largest(ExportCall& call) {
  const Pool pool{call};
  if (!pool.slides()) return {call.x()};
  if (!is_float(call.dtype()) && size_of(call.dtype()) > 1)
    call.refuse("ONNX has pools of floats and of 8 bits only");
  return pool.back(call.node("MaxPool", {pool.operand()}, pool.attributes(true)));
}

Names smallest(ExportCall& call) {
  const Pool pool{call};
  if (!pool.slides()) return {call.x()};
  if (!is_float(call.dtype())) call.refuse("ONNX has no pool of least integers");
  const std::string turned = call.node("Neg", {pool.operand()});
  return pool.back(call.node("Neg", {call.node("MaxPool", {turned}, pool.attributes(true))}));
}

/// The mean, padding counted, as often as there are elements in a window.
Names total(ExportCall& call) {
  const Pool pool{call};
  if (!pool.slides()) return {call.x()};
  if (!is_float(call.dtype())) call.refuse("ONNX has no pool of sums of integers");
  if (pool.has_holes() && call.opset() < 19) call.refuse("windows with holes need opset 19");
  std::vector<NodeAttribute> attributes = pool.attributes(pool.has_holes());
  attributes.emplace_back("count_include_pad", std::int64_t{1});
  const std::string mean = call.node("AveragePool", {pool.operand()}, attributes);
  const std::string count = call.graph().scalar(static_cast<double>(pool.elements()), call.dtype());
  return pool.back(call.node("Mul", {mean, count}));
}

}  // namespace

void define(ExportTable& table) {
  table.add("window_max", wide_rule(no_bf16, &largest));
  table.add("window_min", wide_rule(no_bf16, &smallest));
  table.add("window_sum", wide_rule(no_bf16, &total));
}

}  // namespace stoker::onnx::exports::windows
