// Convolutions in any order of axes. ONNX knows one: batch, channels, space.
#include <algorithm>
#include <limits>
#include <numeric>

#include "stoker/api/onnx/exporting/padding.hpp"
#include "stoker/api/onnx/exporting/wide_rule.hpp"

namespace stoker::onnx::exports::convolution {
namespace {

using List = std::vector<std::int64_t>;

bool are_all(const List& values, std::int64_t value) {
  return std::ranges::all_of(values, [&](std::int64_t one) { return one == value; });
}

ExtentList in_order(const ExtentList& shape, const List& axes) {
  ExtentList made;
  for (const std::int64_t axis : axes) made.push_back(shape[static_cast<std::size_t>(axis)]);
  return made;
}

/// One call with its options in full and its operands in ONNX's order of axes.
class Convolution {
 public:
  explicit Convolution(ExportCall& call)
      : call_{call},
        spatial_{call.rank() - 2},
        every_(call.rank()),
        strides_{call.integers("strides", List(spatial_, 1))},
        low_{call.integers("padding_low", List(spatial_, 0))},
        high_{call.integers("padding_high", List(spatial_, 0))},
        spread_{call.integers("input_dilation", List(spatial_, 1))},
        dilation_{call.integers("kernel_dilation", List(spatial_, 1))},
        groups_{call.integer("feature_groups")} {
    if (call.integer("batch_groups") != 1) call.refuse("ONNX has no groups of the batch");
    std::iota(every_.begin(), every_.end(), 0);
    const List x_axes = call.integers("input_axes", every_);
    k_axes_ = call.integers("kernel_axes", every_);
    x_ = call.transposed(call.x(), x_axes);
    x_shape_ = in_order(call.shape(), x_axes);
    for (std::size_t i = 0; i < spatial_; ++i)
      taps_.push_back(call.extent(1, static_cast<std::size_t>(k_axes_[i + 2])));
  }

  Names made() {
    const std::string y = is_transposed() ? transposed() : plain();
    const List y_axes = call_.integers("output_axes", every_);
    List back(y_axes.size());
    for (std::size_t i = 0; i < back.size(); ++i)
      back[static_cast<std::size_t>(y_axes[i])] = static_cast<std::int64_t>(i);
    return {call_.transposed(y, back)};
  }

 private:
  /// How far the taps of an axis reach.
  [[nodiscard]] std::int64_t reach(std::size_t i) const { return (taps_[i] - 1) * dilation_[i]; }

  /// Whether ConvTranspose can say it: an input spread by zeros, of which each gives an output, and edges that cut
  /// off what is too much, or add less than a step.
  [[nodiscard]] bool is_transposed() const {
    if (are_all(spread_, 1) || !are_all(strides_, 1)) return false;
    for (std::size_t i = 0; i < spatial_; ++i)
      if (low_[i] > reach(i) || high_[i] - reach(i) >= std::max(spread_[i], dilation_[i]))
        return false;
    return true;
  }

  [[nodiscard]] std::string flipped(const std::string& kernel) const {
    constexpr std::int64_t before_first = std::numeric_limits<std::int64_t>::min() + 1;
    const List axes(every_.begin() + 2, every_.end());
    GraphMaker& graph = call_.graph();
    const std::string last = graph.integers(List(spatial_, -1));
    return call_.node("Slice", {kernel, last, graph.integers(List(spatial_, before_first)),
                                graph.integers(axes), last});
  }

  [[nodiscard]] std::string plain() {
    const std::string kernel = call_.transposed(call_.x(1), k_axes_);
    List pads = low_;
    pads.insert(pads.end(), high_.begin(), high_.end());
    const bool is_cropped = std::ranges::any_of(pads, [](std::int64_t pad) { return pad < 0; });
    if (is_cropped || !are_all(spread_, 1)) {
      Edges edges{List(2, 0), List(2, 0), List(2, 0)};
      edges.low.insert(edges.low.end(), low_.begin(), low_.end());
      edges.high.insert(edges.high.end(), high_.begin(), high_.end());
      for (const std::int64_t step : spread_) edges.interior.push_back(step - 1);
      x_ = padded(call_, x_, x_shape_, std::move(edges), call_.graph().scalar(0, call_.dtype()));
      std::ranges::fill(pads, 0);
    }
    return call_.node("Conv", {x_, call_.flag("flip") ? flipped(kernel) : kernel},
                      {{"kernel_shape", taps_},
                       {"strides", strides_},
                       {"pads", pads},
                       {"dilations", dilation_},
                       {"group", groups_}});
  }

  [[nodiscard]] std::string transposed() {
    List pads;
    List more;
    for (std::size_t i = 0; i < spatial_; ++i) pads.push_back(reach(i) - low_[i]);
    for (std::size_t i = 0; i < spatial_; ++i) {
      pads.push_back(std::max<std::int64_t>(reach(i) - high_[i], 0));
      more.push_back(std::max<std::int64_t>(high_[i] - reach(i), 0));
    }
    const std::string kernel = kernel_by_input();
    return call_.node("ConvTranspose", {x_, call_.flag("flip") ? kernel : flipped(kernel)},
                      {{"kernel_shape", taps_},
                       {"strides", spread_},
                       {"pads", pads},
                       {"output_padding", more},
                       {"dilations", dilation_},
                       {"group", groups_}});
  }

  /// [outputs, channels of a group, …] as [channels, outputs of a group, …].
  [[nodiscard]] std::string kernel_by_input() const {
    List exchanged = k_axes_;
    std::swap(exchanged[0], exchanged[1]);
    if (groups_ == 1) return call_.transposed(call_.x(1), exchanged);
    const ExtentList shape = in_order(call_.shape(1), k_axes_);
    ExtentList apart{{groups_, 0}, {shape[0].number / groups_, 0}};
    apart.insert(apart.end(), shape.begin() + 1, shape.end());
    List order{0, 2, 1};
    for (std::size_t axis = 3; axis < apart.size(); ++axis)
      order.push_back(static_cast<std::int64_t>(axis));
    const std::string kernel = call_.transposed(call_.x(1), k_axes_);
    const std::string turned = call_.transposed(call_.reshaped(kernel, shape, apart), order);
    ExtentList joined{{groups_ * apart[2].number, 0}, apart[1]};
    joined.insert(joined.end(), apart.begin() + 3, apart.end());
    return call_.reshaped(turned, in_order(apart, order), joined);
  }

  ExportCall& call_;
  const std::size_t spatial_;
  List every_;
  const List strides_, low_, high_, spread_, dilation_;
  const std::int64_t groups_;
  List k_axes_;
  List taps_;
  std::string x_;
  ExtentList x_shape_;
};

}  // namespace

void define(ExportTable& table) {
  table.add("conv", wide_rule(no_bf16, [](ExportCall& call) { return Convolution{call}.made(); }));
}

}  // namespace stoker::onnx::exports::convolution
