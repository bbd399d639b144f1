// Layers that reduce each window, or all spatial axes, to one number.
//
// Adaptive pools take the number of windows along each axis. For an extent n and m windows, the
// stride is floor(n / m) and each window is n − (m − 1)·stride wide, so that the windows cover the
// axis (Axon's rule: all windows have the same size).
//
// Values; any thread. Errors are thrown as node.hpp says.
#pragma once

#include "stoker/api/nn/functional/image_axes.hpp"
#include "stoker/api/nn/graph/node.hpp"

namespace stoker::nn {

namespace layers {

template <KindName Kind> struct PoolOf {
  static constexpr const char* kind = Kind.text;
  Extents kernel_size = 1;
  Extents strides = {};
  PadRule padding = valid;
  Extents pads = {};
  Extents window_dilations = 1;
  Channels channels = Channels::last;
  std::string name = {};
};
using MaxPool = PoolOf<"max_pool">;
using AvgPool = PoolOf<"avg_pool">;

/// (Σ |x|^norm)^(1/norm), like the lp pools below.
struct LpPool {
  static constexpr const char* kind = "lp_pool";
  Extents kernel_size = 1;
  Extents strides = {};
  PadRule padding = valid;
  Extents pads = {};
  Extents window_dilations = 1;
  Channels channels = Channels::last;
  double norm = 2;
  std::string name = {};
};

template <KindName Kind> struct AdaptivePoolOf {
  static constexpr const char* kind = Kind.text;
  Required<Extents> output_size = {};
  Channels channels = Channels::last;
  std::string name = {};
};
using AdaptiveMaxPool = AdaptivePoolOf<"adaptive_max_pool">;
using AdaptiveAvgPool = AdaptivePoolOf<"adaptive_avg_pool">;

struct AdaptiveLpPool {
  static constexpr const char* kind = "adaptive_lp_pool";
  Required<Extents> output_size = {};
  Channels channels = Channels::last;
  double norm = 2;
  std::string name = {};
};

template <KindName Kind> struct GlobalPoolOf {
  static constexpr const char* kind = Kind.text;
  bool keepdims = false;
  Channels channels = Channels::last;
  std::string name = {};
};
using GlobalMaxPool = GlobalPoolOf<"global_max_pool">;
using GlobalAvgPool = GlobalPoolOf<"global_avg_pool">;

struct GlobalLpPool {
  static constexpr const char* kind = "global_lp_pool";
  bool keepdims = false;
  Channels channels = Channels::last;
  double norm = 2;
  std::string name = {};
};

template <class O, class V> void visit_windows(O& o, V&& visit) {
  visit("kernel_size", o.kernel_size, anything, of_space);
  visit("strides", o.strides, anything,
        "one number for each spatial axis, or one for all; empty: kernel_size");
  visit_padding(o, visit);
  visit("window_dilations", o.window_dilations, anything, of_space);
  visit_channels(o, visit);
}
template <class O, class V> void visit_so_many_windows(O& o, V&& visit) {
  visit("output_size", o.output_size, anything,
        "windows along each spatial axis, or one number for all");
  visit_channels(o, visit);
}
template <class O, class V> void visit_all_of_space(O& o, V&& visit) {
  visit("keepdims", o.keepdims, anything, "keeps the spatial axes, with extents of 1");
  visit_channels(o, visit);
}
template <class O, class V> void visit_norm(O& o, V&& visit) {
  visit("norm", o.norm, at_least(1), "the exponent");
}

template <KindName Kind, class V> void visit_options(PoolOf<Kind>& o, V&& visit) {
  visit_windows(o, visit);
}
template <class V> void visit_options(LpPool& o, V&& visit) {
  visit_windows(o, visit);
  visit_norm(o, visit);
}
template <KindName Kind, class V> void visit_options(AdaptivePoolOf<Kind>& o, V&& visit) {
  visit_so_many_windows(o, visit);
}
template <class V> void visit_options(AdaptiveLpPool& o, V&& visit) {
  visit_so_many_windows(o, visit);
  visit_norm(o, visit);
}
template <KindName Kind, class V> void visit_options(GlobalPoolOf<Kind>& o, V&& visit) {
  visit_all_of_space(o, visit);
}
template <class V> void visit_options(GlobalLpPool& o, V&& visit) {
  visit_all_of_space(o, visit);
  visit_norm(o, visit);
}

}  // namespace layers

/// Pass `kernel_size` here, not in `options`.
[[nodiscard]] Node max_pool(const Node& x, Extents kernel_size, layers::MaxPool options = {});

}  // namespace stoker::nn
