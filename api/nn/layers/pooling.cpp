// Layers that keep one number of each window, or of all of space.
//
// Adaptive ones are told how many windows there shall be along each axis: of an extent n and m
// windows, strides are floor(n / m) and windows n − (m − 1)·stride wide, so that they cover all
// (Axon's rule: all windows are of one size).
#include "stoker/api/nn/functional/image_axes.hpp"
#include "stoker/api/nn/graph/layer.hpp"
#include "stoker/api/tensor/math/elementwise.hpp"
#include "stoker/api/tensor/math/reductions.hpp"

namespace stoker::nn::layers::pooling {
namespace {

constexpr const char* size_doc = "one for each axis of space, or one for all";

Window window_of(const char* op, const LayerCall& call) {
  const ParamSet& options = call.options();
  const ImageAxes axes = ImageAxes::of(op, call.x().shape(), options);
  const Axes size = axes.list(op, options, "kernel_size");
  Window window;
  window.dimensions = axes.spread(size, 1);
  window.strides = axes.spread(
      options.integers("strides").empty() ? size : axes.list(op, options, "strides"), 1);
  window.dilations = axes.spread(axes.list(op, options, "window_dilations"), 1);
  const ImageAxes::Padding padding = axes.padding(op, options);
  if (const auto* pairs =
          std::get_if<std::vector<std::pair<std::int64_t, std::int64_t>>>(&padding)) {
    std::vector<std::pair<std::int64_t, std::int64_t>> all(call.x().rank());
    const Axes at = axes.space_axes();
    for (std::size_t i = 0; i < pairs->size(); ++i)
      all[static_cast<std::size_t>(at[i])] = (*pairs)[i];
    window.padding = all;
  } else {
    window.padding = std::get<Pad>(padding);
  }
  return window;
}

Window adaptive_window_of(const char* op, const LayerCall& call) {
  const Shape& x = call.x().shape();
  const ImageAxes axes = ImageAxes::of(op, x, call.options());
  const Axes wanted = axes.list(op, call.options(), "output_size");
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

ParamSpec norm_option() {
  return {.name = "norm", .type = ParamType::real, .fallback = 2.0, .doc = "p", .min = 1};
}

using Pooling = Tensor (*)(const LayerCall& call, const Window& window);
struct Windowed {
  const char* name;
  const char* adaptive_name;
  const char* summary;  // without "of each window"
  Pooling compute;
  bool has_norm = false;
};

void add_window(LayerTable& table, const Windowed& kind) {
  std::vector<ParamSpec> options{space_option("kernel_size", {1}, size_doc),
                                 space_option("strides", {}, "default: the kernel's size"),
                                 padding_option(),
                                 pads_option(),
                                 space_option("window_dilations", {1}, size_doc),
                                 channels_option()};
  std::vector<ParamSpec> adaptive{{.name = "output_size",
                                   .type = ParamType::integers,
                                   .fallback = {},
                                   .doc = "windows along each axis of space, or along all"},
                                  channels_option()};
  if (kind.has_norm) {
    options.push_back(norm_option());
    adaptive.push_back(norm_option());
  }
  table.add({.name = kind.name,
             .summary = std::string{kind.summary} + " of each window",
             .options = std::move(options),
             .apply = [name = kind.name, compute = kind.compute](LayerCall& call) {
               return std::vector<Tensor>{compute(call, window_of(name, call))};
             }});
  table.add({.name = kind.adaptive_name,
             .summary = std::string{kind.summary} + " of each of so many windows",
             .options = std::move(adaptive),
             .apply = [name = kind.adaptive_name, compute = kind.compute](LayerCall& call) {
               return std::vector<Tensor>{compute(call, adaptive_window_of(name, call))};
             }});
}

void add_global(LayerTable& table, const char* name, const char* summary,
                Tensor (*compute)(const LayerCall& call, const Reduce& over)) {
  std::vector<ParamSpec> options{{.name = "keep_axes",
                                  .type = ParamType::boolean,
                                  .fallback = false,
                                  .doc = "whether space stays, with extents of 1"},
                                 channels_option()};
  if (std::string_view{name} == "global_lp_pool") options.push_back(norm_option());
  table.add({.name = name,
             .summary = summary,
             .options = std::move(options),
             .apply = [name, compute](LayerCall& call) {
               const ImageAxes axes = ImageAxes::of(name, call.x().shape(), call.options());
               return std::vector<Tensor>{
                   compute(call, {axes.space_axes(), call.options().flag("keep_axes")})};
             }});
}

}  // namespace

void define(LayerTable& table) {
  add_window(table, {"max_pool", "adaptive_max_pool", "the largest",
                     [](const LayerCall& call, const Window& window) {
                       return window_max(call.x(), window);
                     }});
  add_window(table, {"avg_pool", "adaptive_avg_pool", "the mean, zeros around included,",
                     [](const LayerCall& call, const Window& window) {
                       return window_mean(call.x(), window);
                     }});
  add_window(table, {"lp_pool", "adaptive_lp_pool", "(sum of |x|^norm)^(1/norm)",
                     [](const LayerCall& call, const Window& window) {
                       const double norm = call.options().real("norm");
                       return power_mean(call.x(), norm, [&](const Tensor& powers) {
                         return window_sum(powers, window);
                       });
                     },
                     true});
  add_global(table, "global_max_pool", "the largest of each channel",
             [](const LayerCall& call, const Reduce& over) { return reduce_max(call.x(), over); });
  add_global(table, "global_avg_pool", "the mean of each channel",
             [](const LayerCall& call, const Reduce& over) { return mean(call.x(), over); });
  add_global(table, "global_lp_pool", "(sum of |x|^norm)^(1/norm) of each channel",
             [](const LayerCall& call, const Reduce& over) {
               const double norm = call.options().real("norm");
               return power_mean(call.x(), norm,
                                 [&](const Tensor& powers) { return sum(powers, over); });
             });
}

}  // namespace stoker::nn::layers::pooling
