// Parts of images in boxes, pooled. The host computes MaxRoiPool: there is no kernel.
#include <algorithm>
#include <cmath>
#include <limits>

#include "stoker/api/onnx/core/operator.hpp"
#include "stoker/api/tensor/core/creation.hpp"
#include "stoker/api/tensor/core/host_calls.hpp"
#include "stoker/api/tensor/math/elementwise.hpp"
#include "stoker/api/tensor/transforms/builtin_kernel.hpp"
#include "stoker/kernels/roi_align/options.hpp"

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

/// The largest element of each bin of a box, whose corners are whole pixels. Boxes are [batch, x1, y1, x2, y2].
std::vector<float> largest_in(std::span<const float> x, std::span<const float> rois,
                              const Shape& image, const Shape& shape, float scale) {
  std::vector<float> y(static_cast<std::size_t>(shape.elements()));
  // Boxes may be anything, also no numbers; what is further away is outside of any image.
  const auto in_range = [](float number) {
    constexpr float most = 1 << 30;
    return static_cast<std::int64_t>(number >= -most ? std::min(number, most) : -most);
  };
  const auto whole = [&](float at) { return in_range(std::round(at * scale)); };
  std::size_t next = 0;
  for (std::int64_t roi = 0; roi < shape[0]; ++roi) {
    const float* const box = rois.data() + 5 * roi;
    const std::int64_t batch = std::clamp<std::int64_t>(in_range(box[0]), 0, image[0] - 1);
    const std::int64_t left = whole(box[1]);
    const std::int64_t top = whole(box[2]);
    const auto bin = [](std::int64_t extent, std::int64_t bins) {
      return static_cast<double>(std::max<std::int64_t>(extent, 1)) / static_cast<double>(bins);
    };
    const double height = bin(whole(box[4]) - top + 1, shape[2]);
    const double width = bin(whole(box[3]) - left + 1, shape[3]);
    const auto edge = [](double at, std::int64_t start, std::int64_t extent) {
      return std::clamp<std::int64_t>(static_cast<std::int64_t>(at) + start, 0, extent);
    };
    for (std::int64_t channel = 0; channel < shape[1]; ++channel)
      for (std::int64_t row = 0; row < shape[2]; ++row)
        for (std::int64_t column = 0; column < shape[3]; ++column) {
          const auto y0 = edge(std::floor(static_cast<double>(row) * height), top, image[2]);
          const auto y1 = edge(std::ceil(static_cast<double>(row + 1) * height), top, image[2]);
          const auto x0 = edge(std::floor(static_cast<double>(column) * width), left, image[3]);
          const auto x1 = edge(std::ceil(static_cast<double>(column + 1) * width), left, image[3]);
          float most = y1 <= y0 || x1 <= x0 ? 0 : -std::numeric_limits<float>::infinity();
          for (std::int64_t i = y0; i < y1; ++i)
            for (std::int64_t j = x0; j < x1; ++j)
              most = std::max(most,
                              x[static_cast<std::size_t>(
                                  ((batch * image[1] + channel) * image[2] + i) * image[3] + j)]);
          y[next++] = most;
        }
  }
  return y;
}

Values max_roi_pool(Call& call) {
  const Axes pooled = call.node().integers("pooled_shape", {});
  if (call.rank() != 4 || call.rank(1) != 2 || call.shape(1)[1] != 5 || pooled.size() != 2)
    call.refuse(ErrorCode::shape_mismatch,
                "expected an image with 4 axes, boxes [n, 5] and a pooled_shape of 2");
  const Shape shape = shape_of(Axes{call.shape(1)[0], call.shape()[1], pooled[0], pooled[1]});
  if (shape.elements() == 0 || call.shape().elements() == 0) return {call.like(zeros(shape))};
  const auto compute = [image = call.shape(), shape, scale = call.node().real("spatial_scale", 1)](
                           const std::vector<Tensor>& in) {
    return tensor(
        largest_in(in[0].to_vector<float>(), in[1].to_vector<float>(), image, shape, scale), shape);
  };
  return {call.like(host_call({DType::f32, shape}, compute, {call.x(0), call.x(1)}))};
}

}  // namespace

void define(OperatorTable& table) {
  table.add({.name = "MaxRoiPool",
             .since = {1, 22},
             .least_inputs = 2,
             .most_inputs = 2,
             .attributes = {"pooled_shape", "spatial_scale"},
             .lower = &max_roi_pool});
  table.add({.name = "RoiAlign",
             .since = {10, 16, 22},
             .least_inputs = 3,
             .most_inputs = 3,
             .attributes = {"coordinate_transformation_mode", "mode", "output_height",
                            "output_width", "sampling_ratio", "spatial_scale"},
             .lower = &roi_align});
}

}  // namespace stoker::onnx::operators::regions
