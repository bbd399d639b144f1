// Rows brought to a common scale, computed in one pass by kernels of their own.
#include "stoker/pipeline/tensor/graph/batching.hpp"
#include "stoker/pipeline/tensor/graph/kernel_op.hpp"
#include "stoker/pipeline/tensor/graph/primitives.hpp"

namespace stoker::expr::ops::normalizations {
namespace {

/// dx = y · (g - Σ g·y)
Values of_softmax(const Backward& b) {
  const std::int64_t given = b.attributes.integer("axis");
  const auto rank = static_cast<std::int64_t>(b.x().shape().rank());
  const std::int64_t axis = given < 0 ? given + rank : given;
  const Value mixed = sum(b.g() * b.y(), {&axis, 1}, true);
  return {b.y() * (b.g() - mixed)};
}

/// With n = (x - mean) / deviation and h = g·gamma: dx = (h - mean(h) - n·mean(h·n)) / deviation.
/// Ba, Kiros, Hinton, arXiv:1607.06450.
Values of_layer_norm(const Backward& b) {
  const Value& x = b.x();
  const std::int64_t given = b.attributes.integer("axis");
  const auto rank = static_cast<std::int64_t>(x.shape().rank());
  std::vector<std::int64_t> axes;
  for (std::int64_t axis = given < 0 ? given + rank : given; axis < rank; ++axis)
    axes.push_back(axis);
  std::vector<std::int64_t> outer;
  for (std::int64_t axis = 0; axis < axes.front(); ++axis) outer.push_back(axis);

  static constinit NamedOp mean_op{"mean"};
  const auto mean = [&](const Value& value) {
    return apply_one(mean_op, {value}, {{"axes", axes}, {"keepdims", true}});
  };
  const Value centred = x - mean(x);
  const Value scale = scalar("rsqrt", {mean(centred * centred) + b.attributes.real("epsilon")});
  const Value n = centred * scale;
  const Value h = b.inputs.size() > 1 ? b.g() * b.x(1) : b.g();
  Values gradients{scale * (h - mean(h) - n * mean(h * n))};
  const auto summed = [&](const Value& value, const Shape& shape) {
    return reshape(outer.empty() ? value : sum(value, outer, false), shape);
  };
  if (b.inputs.size() > 1) gradients.push_back(summed(b.g() * n, b.x(1).shape()));
  if (b.inputs.size() > 2) gradients.push_back(summed(b.g(), b.x(2).shape()));
  return gradients;
}

/// Scales and offsets that differ from element to element are applied afterwards.
Values batch_layer_norm(const Batch& b) {
  const std::size_t rank = element_spec(b).shape.rank();
  const Attributes moved =
      with(b.attributes, {{"axis", shifted(b.attributes.integer("axis"), rank)}});
  Values inputs{spread(b)};
  std::size_t plain = 1;
  while (plain < b.inputs.size() && !b.is_mapped(plain)) inputs.push_back(b.x(plain++));
  Value y = apply_one(b.op, std::move(inputs), moved);
  for (std::size_t i = plain; i < b.inputs.size(); ++i) {
    const Shape own = element_spec(b, i).shape;
    std::vector<std::int64_t> extents(1 + rank - own.rank(), 1);
    extents[0] = b.is_mapped(i) ? b.size : 1;
    extents.insert(extents.end(), own.begin(), own.end());
    const Value aligned = reshape(b.x(i), Shape::make(extents, "vmap"));
    y = i == 1 ? y * aligned : y + aligned;
  }
  return {y};
}

}  // namespace

void define(OpTable& table) {
  Op softmax = kernel_op("softmax", "softmax", &of_softmax);
  softmax.batch = &batch_axis;
  table.add(std::move(softmax));
  Op layer_norm = kernel_op("layer_norm", "layer_norm", &of_layer_norm);
  layer_norm.batch = &batch_layer_norm;
  table.add(std::move(layer_norm));
}

}  // namespace stoker::expr::ops::normalizations
