// Layers that give what passes mean 0 and variance 1, and then learn both anew.
// Rows of ../shared/op-checklist.md; channels are the last axis.
//
// Ioffe and Szegedy, arXiv:1502.03167; Ba et al., arXiv:1607.06450; Wu and He, arXiv:1803.08494; Zhang and
// Sennrich, arXiv:1910.07467.
#include "stoker/api/nn/layer.hpp"

namespace stoker::nn::layers::normalization {
namespace {

ParamSpec epsilon_option(double fallback) {
  return {.name = "epsilon",
          .type = ParamType::real,
          .fallback = fallback,
          .doc = "added to the variance",
          .min = 0};
}
ParamSpec initializer_option(const char* name, const char* fallback) {
  return {.name = name,
          .type = ParamType::text,
          .fallback = std::string{fallback},
          .doc = "see initializer.hpp"};
}

std::int64_t channels_of(const char* op, std::span<const TensorSpec> inputs) {
  const Shape& x = inputs[0].shape;
  if (x.rank() < 2)
    throw Error{op,
                ErrorCode::shape_mismatch,
                "expected [batch, …, channels], got " + x.to_string(),
                {{"input", x.to_string()}}};
  return x[x.rank() - 1];
}

std::vector<VariableSpec> scale_and_shift(const char* op, std::span<const TensorSpec> inputs,
                                          const ParamSet& options) {
  const Shape shape{channels_of(op, inputs)};
  return {{"gamma", shape, options.text("gamma_initializer")},
          {"beta", shape, options.text("beta_initializer")}};
}

struct Moments {
  Tensor mean;
  Tensor variance;
};
/// In f32 at least: f16 would overflow.
Moments moments(const Tensor& x, const Axes& axes) {
  const Tensor wide = x.dtype() == DType::f64 ? x : as_type(x, DType::f32);
  const Tensor m = mean(wide, {axes, true});
  const Tensor d = wide - m;
  return {m, mean(d * d, {axes, true})};
}

Tensor normalized(const Tensor& x, const Moments& of, double epsilon) {
  return as_type((x - of.mean) * rsqrt(of.variance + epsilon), x.dtype());
}

/// All axes but the last.
Axes all_but_channels(const Tensor& x) {
  Axes axes;
  for (std::size_t axis = 0; axis + 1 < x.rank(); ++axis)
    axes.push_back(static_cast<std::int64_t>(axis));
  return axes;
}

std::vector<VariableSpec> batch_variables(std::span<const TensorSpec> inputs,
                                          const ParamSet& options) {
  std::vector<VariableSpec> all = scale_and_shift("batch_norm", inputs, options);
  const Shape shape = all[0].shape;
  all.push_back({"mean", shape, "zeros", VariableKind::state});
  all.push_back({"var", shape, "ones", VariableKind::state});
  return all;
}

std::vector<Tensor> batch_norm(LayerCall& call) {
  const Tensor& x = call.x();
  const double epsilon = call.options().real("epsilon");
  Moments of{call.variable("mean"), call.variable("var")};
  if (call.training()) {
    const Moments batch = moments(x, all_but_channels(x));
    // Axon's meaning: how much of the old is kept.
    const double momentum = call.options().real("momentum");
    const auto moved = [&](const char* name, const Tensor& now) {
      const Tensor& old = call.variable(name);
      const Tensor flat = stoker::reshape(stop_gradient(now), old.shape());
      call.set_state(name, as_type(old * momentum + flat * (1 - momentum), old.dtype()));
    };
    moved("mean", batch.mean);
    moved("var", batch.variance);
    of = batch;
  }
  return {normalized(x, of, epsilon) * call.variable("gamma") + call.variable("beta")};
}

std::vector<Tensor> layer_norm(LayerCall& call) {
  return {stoker::layer_norm(call.x(), call.variable("gamma"), call.variable("beta"), -1,
                             call.options().real("epsilon"))};
}

std::vector<VariableSpec> group_variables(std::span<const TensorSpec> inputs,
                                          const ParamSet& options) {
  const std::int64_t channels = channels_of("group_norm", inputs);
  const std::int64_t groups = options.integer("groups");
  if (channels % groups != 0)
    throw Error{"group_norm",
                ErrorCode::shape_mismatch,
                std::to_string(channels) + " channels are not divided by " +
                    std::to_string(groups) + " groups",
                {{"channels", std::to_string(channels)}, {"groups", std::to_string(groups)}}};
  return scale_and_shift("group_norm", inputs, options);
}

std::vector<Tensor> group_norm(LayerCall& call) {
  const Tensor& x = call.x();
  const std::int64_t groups = call.options().integer("groups");
  std::vector<std::int64_t> extents(x.shape().begin(), x.shape().end());
  extents.back() = groups;
  extents.push_back(x.shape()[x.rank() - 1] / groups);
  const Tensor parts = stoker::reshape(x, extents);
  Axes axes;  // all but the batch and the groups
  for (std::size_t axis = 1; axis < extents.size(); ++axis)
    if (axis + 2 != extents.size()) axes.push_back(static_cast<std::int64_t>(axis));
  const Tensor y = normalized(parts, moments(parts, axes), call.options().real("epsilon"));
  return {stoker::reshape(y, x.shape()) * call.variable("gamma") + call.variable("beta")};
}

std::vector<VariableSpec> rms_variables(std::span<const TensorSpec> inputs,
                                        const ParamSet& options) {
  return {{"gamma", Shape{channels_of("rms_norm", inputs)}, options.text("gamma_initializer")}};
}

std::vector<Tensor> rms_norm(LayerCall& call) {
  const Tensor& x = call.x();
  const Tensor wide = x.dtype() == DType::f64 ? x : as_type(x, DType::f32);
  const Tensor power = mean(wide * wide, {Axes{-1}, true});
  const Tensor y = wide * rsqrt(power + call.options().real("epsilon"));
  return {as_type(y * (call.variable("gamma") + call.options().real("shift")), x.dtype())};
}

}  // namespace

void define(LayerTable& table) {
  const ParamSpec gamma = initializer_option("gamma_initializer", "ones");
  const ParamSpec beta = initializer_option("beta_initializer", "zeros");
  table.add({.name = "batch_norm",
             .summary = "by the batch's statistics while training, by the running ones else",
             .options = {gamma,
                         beta,
                         epsilon_option(1e-5),
                         {.name = "momentum",
                          .type = ParamType::real,
                          .fallback = 0.1,
                          .doc = "how much of the running statistics each batch leaves",
                          .min = 0,
                          .max = 1}},
             .variables = &batch_variables,
             .apply = &batch_norm});
  table.add({.name = "layer_norm",
             .summary = "each row's last axis by its own statistics",
             .options = {gamma, beta, epsilon_option(1e-5)},
             .variables =
                 [](std::span<const TensorSpec> inputs, const ParamSet& options) {
                   return scale_and_shift("layer_norm", inputs, options);
                 },
             .apply = &layer_norm});
  table.add({.name = "group_norm",
             .summary = "each row's groups of channels by their own statistics",
             .options = {{.name = "groups",
                          .type = ParamType::integer,
                          .fallback = {},
                          .doc = "which divide the channels",
                          .min = 1},
                         gamma,
                         beta,
                         epsilon_option(1e-5)},
             .variables = &group_variables,
             .apply = &group_norm});
  table.add(
      {.name = "rms_norm",
       .summary = "each row's last axis by its root mean square",
       .options =
           {gamma,
            epsilon_option(1e-6),
            {.name = "shift", .type = ParamType::real, .fallback = 0.0, .doc = "added to gamma"}},
       .variables = &rms_variables,
       .apply = &rms_norm});
}

}  // namespace stoker::nn::layers::normalization
