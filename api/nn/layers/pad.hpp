// A border around images.
//
// Values; any thread. Errors are thrown as node.hpp says.
#pragma once

#include "stoker/api/nn/functional/image_axes.hpp"
#include "stoker/api/nn/graph/node.hpp"

namespace stoker::nn::layers {

struct Pad {
  static constexpr const char* kind = "pad";
  Required<Extents> config = {};
  double value = 0;
  Channels channels = Channels::last;
  std::string name = {};
};
template <class V> void visit_options(Pad& o, V&& visit) {
  visit("config", o.config, anything,
        "elements before and after each spatial axis; negative numbers crop");
  visit("value", o.value, anything, "value of the border");
  visit_channels(o, visit);
}

}  // namespace stoker::nn::layers
