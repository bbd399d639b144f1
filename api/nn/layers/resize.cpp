// Images of another size, one axis of space after the other.
// See ../resampling.hpp for the methods.
#include "stoker/api/nn/functional/image_axes.hpp"
#include "stoker/api/nn/functional/resampling.hpp"
#include "stoker/api/nn/graph/layer.hpp"

namespace stoker::nn::layers::resize {
namespace {

std::vector<Tensor> apply(LayerCall& call) {
  const ParamSet& options = call.options();
  const ImageAxes axes = ImageAxes::of("resize", call.x().shape(), options);
  const Axes shape = axes.list("resize", options, "shape");
  const Axes at = axes.space_axes();
  Tensor y = call.x();
  for (std::size_t i = 0; i < axes.space; ++i)
    y = resampled(y, at[i], shape[i], {options.text("method"), options.flag("antialias")});
  return {y};
}

}  // namespace

void define(LayerTable& table) {
  table.add({.name = "resize",
             .summary = "images of another size",
             .options = {{.name = "shape",
                          .type = ParamType::integers,
                          .fallback = {},
                          .doc = "of space: one extent for each axis, or one for all"},
                         {.name = "method",
                          .type = ParamType::text,
                          .fallback = std::string{"nearest"},
                          .doc = "see resampling.hpp",
                          .choices = {"nearest", "bilinear", "bicubic", "lanczos3", "lanczos5"}},
                         {.name = "antialias",
                          .type = ParamType::boolean,
                          .fallback = true,
                          .doc = "wider kernels where images become smaller"},
                         channels_option()},
             .apply = &apply});
}

}  // namespace stoker::nn::layers::resize
