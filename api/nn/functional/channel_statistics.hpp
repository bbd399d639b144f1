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

#include "stoker/api/nn/graph/layer.hpp"

namespace stoker::nn::layers {

/// The axis of channels of such an input, from the front. Throws if there is none, or it is the
/// batch.
[[nodiscard]] std::int64_t channel_axis(const char* op, const Shape& x, const ParamSet& options);

/// gamma and beta.
[[nodiscard]] std::vector<VariableSpec> scale_and_shift(const char* op, const Shape& x,
                                                        const ParamSet& options);

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

/// gamma_initializer, beta_initializer, epsilon and channel_index.
[[nodiscard]] std::vector<ParamSpec> normalization_options();
[[nodiscard]] ParamSpec gamma_option();
[[nodiscard]] ParamSpec epsilon_option(double fallback);
[[nodiscard]] ParamSpec channel_index_option();

}  // namespace stoker::nn::layers
