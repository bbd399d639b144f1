// What normalising layers share: where channels lie, the statistics of the rest, and what is learnt
// anew for each channel.
//
//     y = (x − mean) / sqrt(variance + epsilon) · gamma + beta
//
// The option channel_index is the axis of channels, −1 or the last by default; gamma and beta are
// [channels]. Variances are those of populations.
//
// Pure functions; any thread. Errors are thrown: shape_mismatch, invalid_parameter.
#pragma once

#include <span>
#include <vector>

#include "stoker/api/nn/graph/initializer.hpp"
#include "stoker/api/nn/graph/layer.hpp"

namespace stoker::nn::layers {

/// The axis of channels of such an input, from the front. Throws if there is none, or it is the
/// batch.
[[nodiscard]] std::int64_t channel_axis(const char* op, const Shape& x, std::int64_t channel_index);

/// gamma and beta.
template <class O>
[[nodiscard]] std::vector<VariableSpec> scale_and_shift(const char* op, const Shape& x,
                                                        const O& options) {
  const Shape shape{x[static_cast<std::size_t>(channel_axis(op, x, options.channel_index))]};
  return {{"gamma", shape, options.gamma_initializer}, {"beta", shape, options.beta_initializer}};
}

/// [channels] so that it broadcasts to x.
[[nodiscard]] Tensor along_channels(const Tensor& values, const Tensor& x, std::int64_t axis);
/// y · gamma + beta, in the dtype that the layer's input and gamma have together.
[[nodiscard]] Tensor scaled_and_shifted(const LayerCall& call, const Tensor& y, std::int64_t axis);

struct Moments {
  Tensor mean;
  Tensor variance;
};
/// Over axes, which stay with extents of 1; in f32 at least, because f16 would overflow.
[[nodiscard]] Moments moments(const Tensor& x, const std::vector<std::int64_t>& axes);
/// In f32 at least: scaled_and_shifted() rounds, once.
[[nodiscard]] Tensor normalized(const Tensor& x, const Moments& of, double epsilon);

template <class O, class V> void visit_gamma(O& o, V&& visit) {
  visit("gamma_initializer", o.gamma_initializer, anything, "how the factors begin");
}
template <class O, class V> void visit_epsilon(O& o, V&& visit) {
  visit("epsilon", o.epsilon, at_least(0), "added to the variance");
}
template <class O, class V> void visit_channel_index(O& o, V&& visit) {
  visit("channel_index", o.channel_index, anything, "the axis of channels");
}
/// Those, and beta_initializer.
template <class O, class V> void visit_normalization(O& o, V&& visit) {
  visit_gamma(o, visit);
  visit("beta_initializer", o.beta_initializer, anything, "how the summands begin");
  visit_epsilon(o, visit);
  visit_channel_index(o, visit);
}

}  // namespace stoker::nn::layers
