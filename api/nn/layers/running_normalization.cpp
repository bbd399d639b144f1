#include "stoker/api/nn/layers/running_normalization.hpp"

#include "stoker/api/tensor.hpp"

namespace stoker::nn {
namespace layers::running_normalization {
namespace {

/// Whose statistics: those over all axes from this one on but that of channels.
constexpr std::int64_t first_axis(const BatchNorm&) { return 0; }
constexpr std::int64_t first_axis(const InstanceNorm&) { return 1; }

template <class O> Axes axes_of(const Shape& x, std::int64_t channels, const O& options) {
  Axes axes;
  for (std::int64_t axis = first_axis(options); axis < static_cast<std::int64_t>(x.rank()); ++axis)
    if (axis != channels) axes.push_back(axis);
  if (axes.empty())
    throw Error{O::kind,
                ErrorCode::shape_mismatch,
                "expected axes beside the batch and channels, got " + x.to_string(),
                {{"input", x.to_string()}}};
  return axes;
}

template <class O>
std::vector<VariableSpec> variables(std::span<const TensorSpec> inputs, const O& options) {
  const Shape& x = inputs[0].shape;
  std::vector<VariableSpec> all = scale_and_shift(O::kind, x, options);
  (void)axes_of(x, channel_axis(O::kind, x, options.channel_index), options);
  if (!options.running) return all;
  const Shape shape = all[0].shape;
  all.push_back({"mean", shape, "zeros", VariableKind::state});
  all.push_back({"var", shape, "ones", VariableKind::state});
  return all;
}

/// What is remembered after `now`, which has extents of 1 beside the batch and the channels.
void remember(LayerCall& call, const char* name, const Tensor& now, double momentum) {
  const Tensor& old = call.variable(name);
  Tensor seen = stop_gradient(now);
  if (now.shape().elements() != old.shape().elements()) seen = mean(seen, {Axes{0}, true});
  seen = stoker::reshape(seen, old.shape());
  call.set_state(name, as_type(old * momentum + seen * (1 - momentum), old.dtype()));
}

template <class O> std::vector<Tensor> apply(LayerCall& call, const O& options) {
  const Tensor& x = call.x();
  const std::int64_t axis = channel_axis(O::kind, x.shape(), options.channel_index);
  Moments of;
  if (call.training() || !options.running) {
    of = moments(x, axes_of(x.shape(), axis, options));
    if (options.running) {
      remember(call, "mean", of.mean, options.momentum);
      remember(call, "var", of.variance, options.momentum);
    }
  } else {
    of = {along_channels(call.variable("mean"), x, axis),
          along_channels(call.variable("var"), x, axis)};
  }
  return {scaled_and_shifted(call, normalized(x, of, options.epsilon), axis)};
}

}  // namespace

void define(LayerTable& table) {
  table.add<BatchNorm>({.summary = "x normalized: by the batch's mean and variance while training, "
                                   "by running ones otherwise",
                        .variables = &variables<BatchNorm>,
                        .apply = &apply<BatchNorm>});
  table.add<InstanceNorm>({.summary = "each channel of each row normalized: by its own mean and "
                                      "variance while training, by running ones otherwise",
                           .variables = &variables<InstanceNorm>,
                           .apply = &apply<InstanceNorm>});
}

}  // namespace layers::running_normalization

Node batch_norm(const Node& x, const layers::BatchNorm& options) { return Layer{options}(x); }

}  // namespace stoker::nn
