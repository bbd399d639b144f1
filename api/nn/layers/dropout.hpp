// Layers that drop a random share of their input while training, to reduce overfitting (Srivastava
// et al., JMLR 15, 2014). dropout scales the rest by 1/(1 - rate); at inference all of them do
// nothing.
//
// Values; any thread. Errors are thrown as node.hpp says.
#pragma once

#include "stoker/api/nn/graph/node.hpp"

namespace stoker::nn {

namespace layers {

template <KindName Kind> struct DropoutOf {
  static constexpr const char* kind = Kind.text;
  double rate = 0.5;
  std::string name = {};
};
template <KindName Kind, class V> void visit_options(DropoutOf<Kind>& o, V&& visit) {
  visit("rate", o.rate, within(0, 1), "the probability of dropping, from 0 to below 1");
}
using Dropout = DropoutOf<"dropout">;
using SpatialDropout = DropoutOf<"spatial_dropout">;
using AlphaDropout = DropoutOf<"alpha_dropout">;
using FeatureAlphaDropout = DropoutOf<"feature_alpha_dropout">;

}  // namespace layers

/// Pass `rate` here, not in `options`.
[[nodiscard]] Node dropout(const Node& x, double rate = 0.5, layers::Dropout options = {});

}  // namespace stoker::nn
