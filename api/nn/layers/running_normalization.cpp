// Layers that give channels mean 0 and variance 1 while training, remember the statistics that they
// saw, and normalise by those afterwards.
//
//     batch_norm     statistics of a channel are those of the whole batch
//     instance_norm  each row's channels have their own; remembered is their mean over the batch
//
// `momentum` has Axon's meaning, how much of the old is kept:
//
//     running = momentum·old + (1 − momentum)·new
//
// running=false normalises by what passes at inference, too, as ONNX' InstanceNormalization does.
//
// Ioffe and Szegedy, arXiv:1502.03167; Ulyanov et al., arXiv:1607.08022.
#include "stoker/api/nn/functional/channel_statistics.hpp"
#include "stoker/api/nn/graph/layer_options.hpp"
#include "stoker/api/tensor.hpp"

namespace stoker::nn::layers::running_normalization {
namespace {

/// Whose statistics: those over all axes from `first_axis` on but that of channels.
struct Kind {
  const char* name;
  const char* summary;
  std::int64_t first_axis;
};
constexpr Kind batch{"batch_norm", "by the batch's statistics while training, by running ones else",
                     0};
constexpr Kind instance{"instance_norm",
                        "each row's channels by their own statistics while training, by running "
                        "ones else",
                        1};

Axes axes_of(const Kind& kind, const Shape& x, std::int64_t channels) {
  Axes axes;
  for (std::int64_t axis = kind.first_axis; axis < static_cast<std::int64_t>(x.rank()); ++axis)
    if (axis != channels) axes.push_back(axis);
  if (axes.empty())
    throw Error{kind.name,
                ErrorCode::shape_mismatch,
                "expected axes beside the batch and channels, got " + x.to_string(),
                {{"input", x.to_string()}}};
  return axes;
}

std::vector<VariableSpec> variables(const Kind& kind, const Shape& x, const ParamSet& options) {
  std::vector<VariableSpec> all = scale_and_shift(kind.name, x, options);
  (void)axes_of(kind, x, channel_axis(kind.name, x, options));
  if (!options.flag("running")) return all;
  const Shape shape = all[0].shape;
  all.push_back({"mean", shape, "zeros", VariableKind::state});
  all.push_back({"var", shape, "ones", VariableKind::state});
  return all;
}

/// What is remembered after `now`, which has extents of 1 beside the batch and the channels.
void remember(LayerCall& call, const char* name, const Tensor& now) {
  const Tensor& old = call.variable(name);
  const double momentum = call.options().real("momentum");
  Tensor seen = stop_gradient(now);
  if (now.shape().elements() != old.shape().elements()) seen = mean(seen, {Axes{0}, true});
  seen = stoker::reshape(seen, old.shape());
  call.set_state(name, as_type(old * momentum + seen * (1 - momentum), old.dtype()));
}

std::vector<Tensor> apply(const Kind& kind, LayerCall& call) {
  const ParamSet& options = call.options();
  const Tensor& x = call.x();
  const std::int64_t axis = channel_axis(kind.name, x.shape(), options);
  const bool running = options.flag("running");
  Moments of;
  if (call.training() || !running) {
    of = moments(x, axes_of(kind, x.shape(), axis));
    if (running) {
      remember(call, "mean", of.mean);
      remember(call, "var", of.variance);
    }
  } else {
    of = {along_channels(call.variable("mean"), x, axis),
          along_channels(call.variable("var"), x, axis)};
  }
  return {scaled_and_shifted(call, normalized(x, of, options.real("epsilon")), axis)};
}

void add(LayerTable& table, const Kind& kind) {
  std::vector<ParamSpec> options = normalization_options();
  append(options, {{.name = "momentum",
                    .type = ParamType::real,
                    .fallback = 0.1,
                    .doc = "how much of the running statistics each batch leaves",
                    .min = 0,
                    .max = 1},
                   {.name = "running",
                    .type = ParamType::boolean,
                    .fallback = true,
                    .doc = "keeps running statistics, for inference"}});
  table.add({.name = kind.name,
             .summary = kind.summary,
             .options = std::move(options),
             .variables =
                 [&kind](std::span<const TensorSpec> inputs, const ParamSet& given) {
                   return variables(kind, inputs[0].shape, given);
                 },
             .apply = [&kind](LayerCall& call) { return apply(kind, call); }});
}

}  // namespace

void define(LayerTable& table) {
  add(table, batch);
  add(table, instance);
}

}  // namespace stoker::nn::layers::running_normalization
