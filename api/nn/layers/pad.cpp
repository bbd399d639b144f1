#include "stoker/api/nn/layers/pad.hpp"

#include "stoker/api/tensor/core/creation.hpp"

namespace stoker::nn::layers::pad {
namespace {

std::vector<Tensor> apply(LayerCall& call, const Pad& options) {
  const Tensor& x = call.x();
  const ImageAxes axes = ImageAxes::of("pad", x.shape(), options.channels);
  const ImageAxes::Edges edges = axes.edges("pad", "config", options.config);
  const Axes at = axes.space_axes();
  std::vector<Padding> padding(x.rank());
  for (std::size_t i = 0; i < axes.space; ++i) {
    const auto axis = static_cast<std::size_t>(at[i]);
    padding[axis] = {edges[i].first, edges[i].second, 0};
    if (x.shape()[axis] + edges[i].first + edges[i].second < 1)
      throw Error{"pad",
                  ErrorCode::shape_mismatch,
                  "nothing would be left of an extent of " + std::to_string(x.shape()[axis]),
                  {{"input", x.shape().to_string()},
                   {"config", to_string(ParamValue{options.config.list()})}}};
  }
  const Tensor value = full({}, options.value, x.dtype());
  return {stoker::pad(x, value, padding)};
}

}  // namespace

void define(LayerTable& table) {
  table.add<Pad>({.summary = "a border around the spatial axes", .apply = &apply});
}

}  // namespace stoker::nn::layers::pad
