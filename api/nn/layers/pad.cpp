// A border around images.
#include "stoker/api/nn/functional/image_axes.hpp"
#include "stoker/api/nn/graph/layer.hpp"
#include "stoker/api/tensor/core/creation.hpp"

namespace stoker::nn::layers::pad {
namespace {

std::vector<Tensor> apply(LayerCall& call) {
  const Tensor& x = call.x();
  const ImageAxes axes = ImageAxes::of("pad", x.shape(), call.options());
  const ImageAxes::Edges edges = axes.edges("pad", call.options(), "config");
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
                   {"config", to_string(ParamValue{call.options().integers("config")})}}};
  }
  const Tensor value = full({}, call.options().real("value"), x.dtype());
  return {stoker::pad(x, value, padding)};
}

}  // namespace

void define(LayerTable& table) {
  table.add({.name = "pad",
             .summary = "a border around space",
             .options = {{.name = "config",
                          .type = ParamType::integers,
                          .fallback = {},
                          .doc = "before and behind each axis of space; negative ones crop"},
                         {.name = "value",
                          .type = ParamType::real,
                          .fallback = 0.0,
                          .doc = "what the border is made of"},
                         channels_option()},
             .apply = &apply});
}

}  // namespace stoker::nn::layers::pad
