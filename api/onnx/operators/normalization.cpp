// Normalizations.
#include <numeric>

#include "stoker/api/onnx/core/operator.hpp"
#include "stoker/api/tensor/core/creation.hpp"
#include "stoker/api/tensor/math/elementwise.hpp"
#include "stoker/api/tensor/math/reductions.hpp"
#include "stoker/api/tensor/math/windows.hpp"
#include "stoker/api/tensor/views/manipulation.hpp"

namespace stoker::onnx::operators::normalization {
namespace {

/// A number for each channel, beside [batch, channels, …].
Tensor by_channel(const Tensor& x, std::size_t rank) {
  Axes extents(rank, 1);
  if (rank > 1) extents[1] = -1;
  return reshape(x, extents);
}

Tensor wide(const Tensor& x) { return size_of(x.dtype()) < 4 ? as_type(x, DType::f32) : x; }

Values batch_normalization(Call& call) {
  const Tensor x = call.x();
  const double epsilon = call.node().real("epsilon", 1e-5F);
  const bool training = call.node().flag("training_mode", false);
  const Tensor scale = by_channel(wide(call.x(1)), x.rank());
  const Tensor bias = by_channel(wide(call.x(2)), x.rank());
  Tensor mean_of = wide(call.x(3));
  Tensor variance_of = wide(call.x(4));
  Values results(1);
  if (training) {
    Axes others{0};
    for (std::int64_t i = 2; i < call.rank(); ++i) others.push_back(i);
    const double momentum = call.node().real("momentum", 0.9F);
    const Tensor now = mean(wide(x), {.axes = others});
    const Tensor spread = variance(wide(x), {.axes = others});
    results.push_back(call.like(mean_of * momentum + now * (1 - momentum), 3));
    results.push_back(call.like(variance_of * momentum + spread * (1 - momentum), 4));
    mean_of = now;
    variance_of = spread;
  }
  // As scale and shift, which fold into what stands before it.
  const Tensor factor = scale * rsqrt(by_channel(variance_of, x.rank()) + epsilon);
  const Tensor shift = bias - by_channel(mean_of, x.rank()) * factor;
  results[0] = call.like(wide(x) * factor + shift);
  return results;
}

/// (x - mean) / sqrt(variance + epsilon) over these axes.
struct Normalized {
  Tensor x, mean, inverse_deviation;
};
Normalized normalized(const Tensor& x, const Axes& axes, double epsilon) {
  const Tensor center = mean(x, {.axes = axes, .keepdims = true});
  const Tensor apart = x - center;
  const Tensor inverse = rsqrt(mean(apart * apart, {.axes = axes, .keepdims = true}) + epsilon);
  return {apart * inverse, center, inverse};
}

Axes from_axis(std::int64_t first, std::int64_t rank) {
  Axes axes;
  for (std::int64_t i = first; i < rank; ++i) axes.push_back(i);
  return axes;
}

Values instance_normalization(Call& call) {
  const Tensor x = wide(call.x());
  const Normalized y = normalized(x, from_axis(2, call.rank()), call.node().real("epsilon", 1e-5F));
  return {call.like(y.x * by_channel(wide(call.x(1)), x.rank()) +
                    by_channel(wide(call.x(2)), x.rank()))};
}

Values group_normalization(Call& call) {
  const std::int64_t groups = call.node().integer("num_groups");
  const Shape& shape = call.shape();
  if (groups <= 0 || shape.rank() < 2 || shape[1] % groups != 0)
    call.refuse(ErrorCode::invalid_parameter, "channels are no multiple of num_groups");
  const Tensor apart = reshape(wide(call.x()), {shape[0], groups, -1});
  Tensor y = normalized(apart, {2}, call.node().real("epsilon", 1e-5F)).x;
  // Version 18 has one factor for each group, 21 one for each channel.
  const Tensor scale = wide(call.x(1));
  const Tensor bias = wide(call.x(2));
  if (call.version() < 21)
    return {call.like(
        reshape(y * reshape(scale, {1, groups, 1}) + reshape(bias, {1, groups, 1}), shape))};
  y = reshape(y, shape);
  return {call.like(y * by_channel(scale, shape.rank()) + by_channel(bias, shape.rank()))};
}

Values layer_normalization(Call& call) {
  const std::int64_t axis = axis_in(call.node().integer("axis", -1), call.rank());
  const Normalized y =
      normalized(wide(call.x()), from_axis(axis, call.rank()), call.node().real("epsilon", 1e-5F));
  Tensor scaled = y.x * wide(call.x(1));
  if (call.has(2)) scaled = scaled + wide(call.x(2));
  const ElementType stash = call.node().element_type("stash_type", ElementType::f32);
  if (!float_types.contains(stash))
    call.refuse(ErrorCode::invalid_parameter, "stash_type " + std::string{to_string(stash)});
  const auto stashed = [&](const Tensor& tensor) {
    return Value{as_type(tensor, carrier_of(stash).value()), stash};
  };
  return {call.like(scaled), stashed(y.mean), stashed(y.inverse_deviation)};
}

/// The result is of the type of the scale. The second one is none of ONNX's own operator:
/// SimplifiedLayerNormalization has it.
Values rms_normalization(Call& call) {
  const std::int64_t axis = axis_in(call.node().integer("axis", -1), call.rank());
  const Tensor x = wide(call.x());
  const Tensor square = mean(x * x, {.axes = from_axis(axis, call.rank()), .keepdims = true});
  const Tensor inverse = rsqrt(square + static_cast<double>(call.node().real("epsilon", 1e-5F)));
  return {call.like(as_type(x * inverse, call.x(1).dtype()) * call.x(1), 1), Value{inverse}};
}

Values mean_variance_normalization(Call& call) {
  const Axes axes = axes_in(call.node().integers("axes", {0, 2, 3}), call.rank());
  const Tensor x = wide(call.x());
  const Tensor center = mean(x, {.axes = axes, .keepdims = true});
  // Not E[x²] - E[x]², which may come out below 0.
  const Tensor apart = x - center;
  const Tensor spread = mean(apart * apart, {.axes = axes, .keepdims = true});
  return {call.like(apart / (sqrt(spread) + 1e-9))};
}

Values lp_normalization(Call& call) {
  const std::int64_t axis = axis_in(call.node().integer("axis", -1), call.rank());
  const std::int64_t p = call.node().integer("p", 2);
  if (p != 1 && p != 2) call.refuse(ErrorCode::invalid_parameter, "p must be 1 or 2");
  const Reduce over{.axes = Axes{axis}, .keepdims = true};
  const Tensor x = call.x();
  const Tensor norm = p == 1 ? sum(abs(x), over) : sqrt(sum(x * x, over));
  return {call.like(select(equal(norm, 0), zeros_like(x), x / norm))};
}

/// Local response normalization: x / (bias + alpha/size · Σ x²)^beta, the sum over neighbouring channels.
Values lrn(Call& call) {
  const Node& node = call.node();
  const std::int64_t size = node.integer("size");
  const double alpha = node.real("alpha", 1e-4F);
  Window window{.dimensions = Axes(call.shape().rank(), 1)};
  if (window.dimensions.size() < 2) call.refuse(ErrorCode::shape_mismatch, "expected channels");
  window.dimensions[1] = size;
  std::vector<std::pair<std::int64_t, std::int64_t>> padding(call.shape().rank(), {0, 0});
  padding[1] = {(size - 1) / 2, size / 2};
  window.padding = padding;
  const Tensor x = call.x();
  const Tensor squares = window_sum(x * x, window);
  return {call.like(x / pow(squares * (alpha / static_cast<double>(size)) +
                                static_cast<double>(node.real("bias", 1)),
                            static_cast<double>(node.real("beta", 0.75F))))};
}

}  // namespace

void define(OperatorTable& table) {
  table.add({.name = "BatchNormalization",
             .since = {1, 6, 7, 9, 14, 15},
             .least_inputs = 5,
             .most_inputs = 5,
             .most_outputs = 5,
             .types = {.operands = {float_types}, .results = {like(0), like(3), like(4)}},
             .attributes = {"epsilon", "momentum", "training_mode", "is_test", "spatial",
                            "consumed_inputs"},
             .refuse = [](const Node& node, int version) -> std::string {
               if (version < 9 && !node.flag("spatial", true)) return "spatial=0 is not known";
               if (version < 7 && !node.flag("is_test", false)) return "training is not known";
               if (version < 14 && node.has_output(1)) return "training is not known";
               return "";
             },
             .lower = &batch_normalization});
  table.add({.name = "InstanceNormalization",
             .since = {1, 6, 22},
             .least_inputs = 3,
             .most_inputs = 3,
             .types = {.operands = {float_types}, .results = {like(0)}},
             .attributes = {"epsilon", "consumed_inputs"},
             .lower = &instance_normalization});
  table.add({.name = "GroupNormalization",
             .since = {18, 21},
             .least_inputs = 3,
             .most_inputs = 3,
             .types = {.operands = {float_types}, .results = {like(0)}},
             .attributes = {"epsilon", "num_groups", "stash_type"},
             .lower = &group_normalization});
  // ONNX Runtime had it in ONNX's domain before version 17, and exporters wrote it.
  table.add({.name = "LayerNormalization",
             .since = {1, 17},
             .least_inputs = 2,
             .most_inputs = 3,
             .most_outputs = 3,
             .types = {.operands = {float_types},
                       .results = {like(0), first_of(NamedBy{"stash_type"}, ElementType::f32)}},
             .attributes = {"axis", "epsilon", "stash_type"},
             .lower = &layer_normalization});
  table.add({.name = "RMSNormalization",
             .since = {23},
             .least_inputs = 2,
             .most_inputs = 2,
             .types = {.operands = {float_types}, .results = {like(1)}},
             .attributes = {"axis", "epsilon", "stash_type"},
             .lower = &rms_normalization});
  table.add({.name = "MeanVarianceNormalization",
             .since = {9, 13},
             .types = alike(float_types),
             .attributes = {"axes"},
             .lower = &mean_variance_normalization});
  table.add({.name = "LpNormalization",
             .since = {1, 22},
             .types = alike(float_types),
             .attributes = {"axis", "p"},
             .lower = &lp_normalization});
  table.add({.name = "LRN",
             .since = {1, 13},
             .types = alike(float_types),
             .attributes = {"alpha", "beta", "bias", "size"},
             .lower = &lrn});
}

}  // namespace stoker::onnx::operators::normalization
