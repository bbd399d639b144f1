#include "stoker/api/nn/layers/pooling.hpp"

#include "stoker/api/tensor/math/elementwise.hpp"
#include "stoker/api/tensor/math/reductions.hpp"

namespace stoker::nn {
namespace layers::pooling {
namespace {

template <class O> Window window_of(const LayerCall& call, const O& options) {
  const char* const op = O::kind;
  const ImageAxes axes = ImageAxes::of(op, call.x().shape(), options.channels);
  const Axes size = axes.list(op, "kernel_size", options.kernel_size);
  Window window;
  window.dimensions = axes.spread(size, 1);
  window.strides = axes.spread(
      options.strides.list().empty() ? size : axes.list(op, "strides", options.strides), 1);
  window.dilations = axes.spread(axes.list(op, "window_dilations", options.window_dilations), 1);
  const ImageAxes::Padding padding = axes.padding(op, options.padding, options.pads);
  if (const auto* pairs =
          std::get_if<std::vector<std::pair<std::int64_t, std::int64_t>>>(&padding)) {
    std::vector<std::pair<std::int64_t, std::int64_t>> all(call.x().rank());
    const Axes at = axes.space_axes();
    for (std::size_t i = 0; i < pairs->size(); ++i)
      all[static_cast<std::size_t>(at[i])] = (*pairs)[i];
    window.padding = all;
  } else {
    window.padding = std::get<PadRule>(padding);
  }
  return window;
}

template <class O> Window adaptive_window_of(const LayerCall& call, const O& options) {
  const char* const op = O::kind;
  const Shape& x = call.x().shape();
  const ImageAxes axes = ImageAxes::of(op, x, options.channels);
  const Axes wanted = axes.list(op, "output_size", options.output_size);
  const Axes at = axes.space_axes();
  Axes size;
  Axes strides;
  for (std::size_t i = 0; i < axes.space; ++i) {
    const std::int64_t extent = x[static_cast<std::size_t>(at[i])];
    if (wanted[i] > extent)
      throw Error{op,
                  ErrorCode::shape_mismatch,
                  "expected an extent of at least " + std::to_string(wanted[i]) +
                      " for as many windows, got " + std::to_string(extent),
                  {{"input", x.to_string()}, {"output_size", std::to_string(wanted[i])}}};
    strides.push_back(extent / wanted[i]);
    size.push_back(extent - (wanted[i] - 1) * strides.back());
  }
  Window window;
  window.dimensions = axes.spread(size, 1);
  window.strides = axes.spread(strides, 1);
  return window;
}

/// (Σ |x|^norm)^(1/norm), Σ being what `add` does. Windows of zeros, as relu leaves them, have slope 0 and not
/// 0/0. Powers of 16-bit numbers leave their range and are in f32.
template <class Add> Tensor power_mean(const Tensor& x, double norm, const Add& add) {
  const bool narrow = x.dtype() == DType::f16 || x.dtype() == DType::bf16;
  const Tensor total = add(pow(abs(narrow ? as_type(x, DType::f32) : x), norm));
  const Tensor some = greater(total, 0.0);
  const Tensor root = select(some, pow(select(some, total, 1.0), 1 / norm), 0.0);
  return narrow ? as_type(root, x.dtype()) : root;
}

/// `compute` of each window, of each of so many windows.
template <class O, class Compute>
void add_window(LayerTable& table, const std::string& summary, Compute compute) {
  table.add<O>({.summary = summary + " of each window",
                .apply = [compute](LayerCall& call, const O& options) {
                  return std::vector<Tensor>{compute(call.x(), options, window_of(call, options))};
                }});
}
template <class O, class Compute>
void add_adaptive(LayerTable& table, const std::string& summary, Compute compute) {
  table.add<O>({.summary = summary + " of each of output_size windows",
                .apply = [compute](LayerCall& call, const O& options) {
                  return std::vector<Tensor>{
                      compute(call.x(), options, adaptive_window_of(call, options))};
                }});
}

/// `compute` of all of space.
template <class O, class Compute>
void add_global(LayerTable& table, const char* summary, Compute compute) {
  table.add<O>({.summary = summary,
                .apply =
                    [compute](LayerCall& call, const O& options) {
                      const ImageAxes axes =
                          ImageAxes::of(O::kind, call.x().shape(), options.channels);
                      return std::vector<Tensor>{
                          compute(call.x(), options, {axes.space_axes(), options.keepdims})};
                    },
                .earlier_names = {{"keep_axes", "keepdims"}}});
}

}  // namespace

void define(LayerTable& table) {
  const auto largest = [](const Tensor& x, const auto&, const Window& window) {
    return window_max(x, window);
  };
  add_window<MaxPool>(table, "the largest element", largest);
  add_adaptive<AdaptiveMaxPool>(table, "the largest element", largest);
  const auto average = [](const Tensor& x, const auto&, const Window& window) {
    return window_mean(x, window);
  };
  add_window<AvgPool>(table, "the mean, with the zeros of the padding,", average);
  add_adaptive<AdaptiveAvgPool>(table, "the mean, with the zeros of the padding,", average);
  const auto powers = [](const Tensor& x, const auto& options, const Window& window) {
    return power_mean(x, options.norm,
                      [&](const Tensor& each) { return window_sum(each, window); });
  };
  add_window<LpPool>(table, "(sum of |x|^norm)^(1/norm)", powers);
  add_adaptive<AdaptiveLpPool>(table, "(sum of |x|^norm)^(1/norm)", powers);
  add_global<GlobalMaxPool>(
      table, "the largest element of each channel",
      [](const Tensor& x, const auto&, const Reduce& over) { return reduce_max(x, over); });
  add_global<GlobalAvgPool>(
      table, "the mean of each channel",
      [](const Tensor& x, const auto&, const Reduce& over) { return mean(x, over); });
  add_global<GlobalLpPool>(table, "(sum of |x|^norm)^(1/norm) of each channel",
                           [](const Tensor& x, const auto& options, const Reduce& over) {
                             return power_mean(x, options.norm,
                                               [&](const Tensor& each) { return sum(each, over); });
                           });
}

}  // namespace layers::pooling

Node max_pool(const Node& x, Extents kernel_size, layers::MaxPool options) {
  give(options, &layers::MaxPool::kernel_size, std::move(kernel_size));
  return Layer{options}(x);
}

}  // namespace stoker::nn
