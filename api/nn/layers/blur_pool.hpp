// Downsamples images after a blur: frequencies that the stride would alias are filtered out first.
//
// The filter is [1, 2, 1] / 4 along each spatial axis, with zero padding; an extent n becomes
// ceil(n / stride). Zhang, arXiv:1904.11486.
//
// Values; any thread. Errors are thrown as node.hpp says.
#pragma once

#include "stoker/api/nn/functional/image_axes.hpp"
#include "stoker/api/nn/graph/node.hpp"

namespace stoker::nn::layers {

struct BlurPool {
  static constexpr const char* kind = "blur_pool";
  Extents strides = 1;
  Channels channels = Channels::last;
  std::string name = {};
};
template <class V> void visit_options(BlurPool& o, V&& visit) {
  visit("strides", o.strides, anything, of_space);
  visit_channels(o, visit);
}

}  // namespace stoker::nn::layers
