// Adds a learned row for each time step to x [batch, time, features].
//
// Values; any thread. Errors are thrown as node.hpp says.
#pragma once

#include "stoker/api/nn/graph/layer_options.hpp"
#include "stoker/api/nn/graph/node.hpp"

namespace stoker::nn::layers {

struct PositionEmbedding {
  static constexpr const char* kind = "position_embedding";
  Required<std::int64_t> length = {};
  InitializerName kernel_initializer = initializers::uniform;
  std::string name = {};
};
template <class V> void visit_options(PositionEmbedding& o, V&& visit) {
  visit("length", o.length, at_least(1), "largest number of steps of a sequence");
  visit_kernel_initializer(o, visit);
}

}  // namespace stoker::nn::layers
