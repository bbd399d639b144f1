// Parts of images in boxes, pooled.
#include "stoker/api/onnx/core/operator.hpp"
#include "stoker/api/tensor/core/creation.hpp"
#include "stoker/api/tensor/math/elementwise.hpp"
#include "stoker/api/tensor/transforms/builtin_kernel.hpp"
#include "stoker/api/tensor/views/manipulation.hpp"
#include "stoker/kernels/roi_align/options.hpp"
#include "stoker/kernels/roi_max_pool/options.hpp"

namespace stoker::onnx::operators::regions {
namespace {

// RoiAlign -----------------------------------------------------------------------------------------

/// Along each axis of a bin, as the kernel has it.
constexpr std::int64_t most_samples = 4096;
/// Of one channel of a box. Without a number of samples, those that lie in the image are bounded by its pixels.
constexpr std::int64_t most_readings = std::int64_t{1} << 22;

Values roi_align(Call& call) {
  const Node& node = call.node();
  const std::string fallback = call.version() < 16 ? "output_half_pixel" : "half_pixel";
  const std::string coordinates = node.text("coordinate_transformation_mode", fallback);
  const std::string mode = node.text("mode", "avg");
  if (call.rank() != 4 || call.rank(1) != 2 || (mode != "avg" && mode != "max"))
    call.refuse(ErrorCode::invalid_parameter,
                "expected an image with 4 axes, boxes, and avg or max");
  const kernels::RoiAlign how{
      .height = node.integer("output_height", 1),
      .width = node.integer("output_width", 1),
      .samples = node.integer("sampling_ratio", 0),
      .scale = node.real("spatial_scale", 1),
      .half_pixel = coordinates == "half_pixel",
      .pool = mode == "max" ? kernels::RegionPool::max : kernels::RegionPool::mean};
  const std::int64_t rois = call.shape(1)[0];
  if (call.shape(1)[1] != 4 || call.input(2).shape() != Shape{rois})
    call.refuse(ErrorCode::shape_mismatch,
                "boxes " + call.input(1).to_string() + " of images " + call.input(2).to_string());
  if (how.samples < 0 || how.samples > most_samples || how.height < 0 || how.width < 0)
    call.refuse(ErrorCode::invalid_parameter, "extents or samples out of range");
  const Shape shape = shape_of(Axes{rois, call.shape()[1], how.height, how.width});
  if (shape.elements() == 0 || call.shape().elements() == 0) return {call.like(zeros(shape))};
  if (how.samples > 0 && how.height > most_readings / (how.samples * how.samples) / how.width)
    call.refuse(ErrorCode::limit_exceeded,
                "a box with more than " + std::to_string(most_readings) + " samples");
  const Tensor x = call.x(0);
  const Tensor images = as_type(clip(call.x(2), 0, call.shape()[0] - 1), DType::s32);
  return {call.like(stoker::detail::run_kernel(how, {x, as_type(call.x(1), x.dtype()), images}))};
}

// MaxRoiPool ---------------------------------------------------------------------------------------

/// Boxes are [position of the image, x1, y1, x2, y2].
Values max_roi_pool(Call& call) {
  const Axes pooled = call.node().integers("pooled_shape", {});
  if (call.rank() != 4 || call.rank(1) != 2 || call.shape(1)[1] != 5 || pooled.size() != 2)
    call.refuse(ErrorCode::shape_mismatch,
                "expected an image with 4 axes, boxes [n, 5] and a pooled_shape of 2");
  const Shape shape = shape_of(Axes{call.shape(1)[0], call.shape()[1], pooled[0], pooled[1]});
  if (shape.elements() == 0 || call.shape().elements() == 0) return {call.like(zeros(shape))};
  const Tensor x = call.x(0);
  const Tensor boxes = as_type(call.x(1), x.dtype());
  const Tensor images = reshape(slice_along_axis(boxes, 0, 1, 1), {-1});
  const kernels::RoiMaxPool how{
      .height = pooled[0], .width = pooled[1], .scale = call.node().real("spatial_scale", 1)};
  return {call.like(stoker::detail::run_kernel(
      how, {x, slice_along_axis(boxes, 1, 4, 1),
            as_type(clip(images, 0, call.shape()[0] - 1), DType::s32)}))};
}

}  // namespace

void define(OperatorTable& table) {
  table.add({.name = "MaxRoiPool",
             .since = {1, 22},
             .least_inputs = 2,
             .most_inputs = 2,
             .types = alike(float_types),
             .attributes = {"pooled_shape", "spatial_scale"},
             .lower = &max_roi_pool});
  table.add({.name = "RoiAlign",
             .since = {10, 16, 22},
             .least_inputs = 3,
             .most_inputs = 3,
             .types = {.operands = {float_types, like(0), index_types}, .results = {like(0)}},
             .attributes = {"coordinate_transformation_mode", "mode", "output_height",
                            "output_width", "sampling_ratio", "spatial_scale"},
             .lower = &roi_align});
}

}  // namespace stoker::onnx::operators::regions
