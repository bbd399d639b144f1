#include "stoker/api/nn/layers/resize.hpp"

namespace stoker::nn {
namespace layers::resize {
namespace {

std::vector<Tensor> apply(LayerCall& call, const Resize& options) {
  const ImageAxes axes = ImageAxes::of("resize", call.x().shape(), options.channels);
  const Axes shape = axes.list("resize", "shape", options.shape);
  const Axes at = axes.space_axes();
  Tensor y = call.x();
  for (std::size_t i = 0; i < axes.space; ++i)
    y = resampled(y, at[i], shape[i], {options.method, options.antialias});
  return {y};
}

}  // namespace

void define(LayerTable& table) {
  table.add<Resize>({.summary = "images resized to another size", .apply = &apply});
}

}  // namespace layers::resize

Node resize(const Node& x, Extents shape, layers::Resize options) {
  give(options, &layers::Resize::shape, std::move(shape));
  return Layer{options}(x);
}

}  // namespace stoker::nn
