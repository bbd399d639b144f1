// Resizes images, one spatial axis after the other; for the methods see resampling.hpp.
//
// Values; any thread. Errors are thrown as node.hpp says.
#pragma once

#include "stoker/api/nn/functional/image_axes.hpp"
#include "stoker/api/nn/functional/resampling.hpp"
#include "stoker/api/nn/graph/node.hpp"

namespace stoker::nn {

namespace layers {

/// Antialiased unless asked otherwise, as in Axon and jax.image.resize, whose networks then compute the same here. The
/// kernel of this name is antialiased if asked (kernels/resize/options.hpp).
struct Resize {
  static constexpr const char* kind = "resize";
  Required<Extents> shape = {};
  Resampling method = Resampling::nearest;
  bool antialias = true;
  Channels channels = Channels::last;
  std::string name = {};
};
template <class V> void visit_options(Resize& o, V&& visit) {
  visit("shape", o.shape, anything, "extents of the spatial axes: one for each, or one for all");
  visit("method", o.method, resampling_words(), "how values between pixels are computed");
  visit("antialias", o.antialias, anything,
        "widens the filter where images become smaller. The kernel resize does so only if told to");
  visit_channels(o, visit);
}

}  // namespace layers

/// Pass `shape` here, not in `options`.
[[nodiscard]] Node resize(const Node& x, Extents shape, layers::Resize options = {});

}  // namespace stoker::nn
