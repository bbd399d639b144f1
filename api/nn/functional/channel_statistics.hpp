// The common parts of normalization layers: the channel axis, the statistics over the other axes,
// and the learned scale and shift of each channel.
//
//     y = (x − mean) / sqrt(variance + epsilon) · gamma + beta
//
// The option channel_index is the channel axis, by default −1 (the last); gamma and beta are
// [channels]. Variances are population variances (ddof 0).
//
// Pure functions; any thread. Errors are thrown: shape_mismatch, invalid_parameter.
#pragma once

#include <span>
#include <vector>

#include "stoker/api/nn/graph/initializer.hpp"
#include "stoker/api/nn/graph/layer.hpp"

namespace stoker::nn::layers {

/// The channel axis of an input of shape `x`, counted from the front. Throws if there is no such
/// axis, or if it is the batch axis.
[[nodiscard]] std::int64_t channel_axis(const char* op, const Shape& x, std::int64_t channel_index);

/// Declares gamma and beta.
template <class O>
[[nodiscard]] std::vector<VariableSpec> scale_and_shift(const char* op, const Shape& x,
                                                        const O& options) {
  const Shape shape{x[static_cast<std::size_t>(channel_axis(op, x, options.channel_index))]};
  return {{"gamma", shape, options.gamma_initializer}, {"beta", shape, options.beta_initializer}};
}

/// Reshapes [channels] so that it broadcasts to x.
[[nodiscard]] Tensor along_channels(const Tensor& values, const Tensor& x, std::int64_t axis);
/// y · gamma + beta, in the merged dtype of the layer's input and gamma.
[[nodiscard]] Tensor scaled_and_shifted(const LayerCall& call, const Tensor& y, std::int64_t axis);

struct Moments {
  Tensor mean;
  Tensor variance;
};
/// Mean and variance over `axes`, which are kept with extent 1. Computed in f32 or wider, because
/// f16 would overflow.
[[nodiscard]] Moments moments(const Tensor& x, const std::vector<std::int64_t>& axes);
/// (x − mean) / sqrt(variance + epsilon) in f32 or wider; only scaled_and_shifted() rounds.
[[nodiscard]] Tensor normalized(const Tensor& x, const Moments& of, double epsilon);

template <class O, class V> void visit_gamma(O& o, V&& visit) {
  visit("gamma_initializer", o.gamma_initializer, anything, "initial values of gamma, the factors");
}
template <class O, class V> void visit_epsilon(O& o, V&& visit) {
  visit("epsilon", o.epsilon, at_least(0), "added to the variance");
}
template <class O, class V> void visit_channel_index(O& o, V&& visit) {
  visit("channel_index", o.channel_index, anything, "the axis that holds the channels");
}
/// gamma_initializer, beta_initializer, epsilon and channel_index.
template <class O, class V> void visit_normalization(O& o, V&& visit) {
  visit_gamma(o, visit);
  visit("beta_initializer", o.beta_initializer, anything, "initial values of beta, the summands");
  visit_epsilon(o, visit);
  visit_channel_index(o, visit);
}

}  // namespace stoker::nn::layers
