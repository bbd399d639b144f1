// Layers that normalize each row to mean 0 and variance 1, then apply a learned scale and shift.
// They keep no running statistics: a row's result does not depend on its batch.
//
// Ba et al., arXiv:1607.06450; Wu and He, arXiv:1803.08494; Zhang and Sennrich, arXiv:1910.07467.
//
// Values; any thread. Errors are thrown as node.hpp says.
#pragma once

#include "stoker/api/nn/functional/channel_statistics.hpp"
#include "stoker/api/nn/graph/node.hpp"

namespace stoker::nn {

namespace layers {

struct LayerNorm {
  static constexpr const char* kind = "layer_norm";
  InitializerName gamma_initializer = initializers::ones;
  InitializerName beta_initializer = initializers::zeros;
  double epsilon = 1e-5;
  std::int64_t channel_index = -1;
  std::string name = {};
};
template <class V> void visit_options(LayerNorm& o, V&& visit) { visit_normalization(o, visit); }

/// Normalizes groups of channels.
struct GroupNorm {
  static constexpr const char* kind = "group_norm";
  Required<std::int64_t> groups = {};
  InitializerName gamma_initializer = initializers::ones;
  InitializerName beta_initializer = initializers::zeros;
  double epsilon = 1e-5;
  std::int64_t channel_index = -1;
  std::string name = {};
};
template <class V> void visit_options(GroupNorm& o, V&& visit) {
  visit("groups", o.groups, at_least(1), "number of groups that channels are divided into");
  visit_normalization(o, visit);
}

/// When rms_norm rounds to the input's dtype: before the scaling by gamma, or after it.
enum class Upcast : std::uint8_t { normalization, all };
struct RmsNorm {
  static constexpr const char* kind = "rms_norm";
  InitializerName gamma_initializer = initializers::ones;
  double epsilon = 1e-6;
  double shift = 0;
  Upcast upcast = Upcast::normalization;
  std::int64_t channel_index = -1;
  std::string name = {};
};
template <class V> void visit_options(RmsNorm& o, V&& visit) {
  visit_gamma(o, visit);
  visit_epsilon(o, visit);
  visit("shift", o.shift, anything, "added to gamma");
  visit("upcast", o.upcast,
        one_of<Upcast>({{"normalization", Upcast::normalization}, {"all", Upcast::all}}),
        "what is computed in f32 or wider: everything but the scaling, or everything");
  visit_channel_index(o, visit);
}

}  // namespace layers

[[nodiscard]] Node layer_norm(const Node& x, const layers::LayerNorm& options = {});

}  // namespace stoker::nn
