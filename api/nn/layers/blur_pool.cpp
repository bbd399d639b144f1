#include "stoker/api/nn/layers/blur_pool.hpp"

#include "stoker/api/tensor/core/creation.hpp"
#include "stoker/api/tensor/math/elementwise.hpp"

namespace stoker::nn::layers::blur_pool {
namespace {

constexpr const char* name = BlurPool::kind;
constexpr std::int64_t taps = 3;

/// One filter for each channel, [3…, 1, channels], in the dtype that x is computed in.
Tensor filters(const Tensor& x, const ImageAxes& axes) {
  std::vector<std::int64_t> extents(axes.space, taps);
  extents.push_back(1);
  extents.push_back(axes.channels(x.shape()));
  const Shape shape = Shape::make(extents, name);
  Tensor all = ones(shape, x.dtype());
  for (std::size_t axis = 0; axis < axes.space; ++axis) {
    std::vector<std::int64_t> along(shape.rank(), 1);
    along[axis] = taps;
    all = all * stoker::reshape(as_type(tensor({0.25, 0.5, 0.25}), x.dtype()), along);
  }
  return all;
}

std::vector<Tensor> apply(LayerCall& call, const BlurPool& options) {
  const Tensor& x = call.x();
  const ImageAxes axes = ImageAxes::of(name, x.shape(), options.channels);
  if (!is_float(x.dtype()))
    throw Error{name,
                ErrorCode::dtype_mismatch,
                "expected floating-point numbers, got " + std::string{to_string(x.dtype())},
                {{"input", x.spec().to_string()}}};
  ConvOptions how = axes.conv_options();
  how.strides = axes.list(name, "strides", options.strides);
  how.padding = ImageAxes::Edges(axes.space, {1, 1});
  how.feature_group_size = axes.channels(x.shape());
  return {stoker::conv(x, filters(x, axes), how)};
}

}  // namespace

void define(LayerTable& table) {
  table.add<BlurPool>({.summary = "each channel smoothed by [1, 2, 1] along each spatial axis, and "
                                  "then every stride-th element",
                       .apply = &apply});
}

}  // namespace stoker::nn::layers::blur_pool
