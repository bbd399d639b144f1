// Parts of images in boxes, pooled. The host computes them: there are no kernels.
#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "stoker/api/onnx/core/operator.hpp"
#include "stoker/api/tensor/core/creation.hpp"
#include "stoker/api/tensor/core/host_calls.hpp"

namespace stoker::onnx::operators::regions {
namespace {

// RoiAlign -----------------------------------------------------------------------------------------

/// Along each axis of a bin.
constexpr std::int64_t most_samples = 4096;
/// Of one bin: they are kept while its channels are read.
constexpr std::int64_t most_readings = std::int64_t{1} << 22;

struct Roi {
  Shape x;  ///< [batch, channels, height, width]
  std::int64_t height = 1, width = 1, samples = 0;
  float scale = 1;
  bool takes_most = false;
  bool half_pixel = true;
};

/// Bilinear; 0 beyond one pixel outside.
struct Reading {
  std::array<std::size_t, 4> at{};
  std::array<float, 4> weights{};
};
Reading reading_at(float y, float x, std::int64_t height, std::int64_t width) {
  Reading made;
  const bool is_near =  // NaN is not
      y >= -1 && y <= static_cast<float>(height) && x >= -1 && x <= static_cast<float>(width);
  if (!is_near || height == 0 || width == 0) return made;
  y = std::max(y, 0.0F);
  x = std::max(x, 0.0F);
  auto y0 = static_cast<std::int64_t>(y);
  auto x0 = static_cast<std::int64_t>(x);
  std::int64_t y1 = y0 + 1;
  std::int64_t x1 = x0 + 1;
  if (y0 >= height - 1) {
    y0 = y1 = height - 1;
    y = static_cast<float>(y0);
  }
  if (x0 >= width - 1) {
    x0 = x1 = width - 1;
    x = static_cast<float>(x0);
  }
  const float down = y - static_cast<float>(y0);
  const float right = x - static_cast<float>(x0);
  const auto place = [&](std::int64_t row, std::int64_t column) {
    return static_cast<std::size_t>(row * width + column);
  };
  made.at = {place(y0, x0), place(y0, x1), place(y1, x0), place(y1, x1)};
  made.weights = {(1 - down) * (1 - right), (1 - down) * right, down * (1 - right), down * right};
  return made;
}

/// The readings of one bin of the result.
std::vector<Reading> readings_of(const Roi& how, std::span<const float> roi, std::int64_t row,
                                 std::int64_t column) {
  const float offset = how.half_pixel ? 0.5F : 0;
  const float x1 = roi[0] * how.scale - offset;
  const float y1 = roi[1] * how.scale - offset;
  float width = roi[2] * how.scale - offset - x1;
  float height = roi[3] * how.scale - offset - y1;
  if (!how.half_pixel) {
    width = std::max(width, 1.0F);
    height = std::max(height, 1.0F);
  }
  const float bin_height = height / static_cast<float>(how.height);
  const float bin_width = width / static_cast<float>(how.width);
  const auto count = [&](float bin) {
    if (how.samples > 0) return how.samples;
    if (!(bin <= static_cast<float>(most_samples)))
      throw Error{"RoiAlign", ErrorCode::limit_exceeded,
                  "a box that needs more than " + std::to_string(most_samples) +
                      " samples along an axis of a bin"};
    return std::max<std::int64_t>(1, static_cast<std::int64_t>(std::ceil(bin)));
  };
  const std::int64_t rows = count(bin_height);
  const std::int64_t columns = count(bin_width);
  if (rows * columns > most_readings)
    throw Error{"RoiAlign", ErrorCode::limit_exceeded,
                "a bin with more than " + std::to_string(most_readings) + " samples"};
  std::vector<Reading> all;
  for (std::int64_t i = 0; i < rows; ++i)
    for (std::int64_t j = 0; j < columns; ++j)
      all.push_back(reading_at(y1 + (static_cast<float>(row) +
                                     (static_cast<float>(i) + 0.5F) / static_cast<float>(rows)) *
                                        bin_height,
                               x1 + (static_cast<float>(column) +
                                     (static_cast<float>(j) + 0.5F) / static_cast<float>(columns)) *
                                        bin_width,
                               how.x[2], how.x[3]));
  return all;
}

float pooled(const Roi& how, const float* plane, std::span<const Reading> readings) {
  float most = -std::numeric_limits<float>::infinity();
  float total = 0;
  for (const Reading& reading : readings)
    for (std::size_t i = 0; i < 4; ++i) {
      const float part = reading.weights[i] * plane[reading.at[i]];
      total += part;
      most = std::max(most, part);
    }
  return how.takes_most ? most : total / static_cast<float>(readings.size());
}

Values roi_align(Call& call) {
  const Node& node = call.node();
  const std::string fallback = call.version() < 16 ? "output_half_pixel" : "half_pixel";
  const std::string coordinates = node.text("coordinate_transformation_mode", fallback);
  const std::string mode = node.text("mode", "avg");
  if (call.rank() != 4 || call.rank(1) != 2 || (mode != "avg" && mode != "max"))
    call.refuse(ErrorCode::invalid_parameter,
                "expected an image with 4 axes, boxes, and avg or max");
  const Roi how{.x = call.shape(),
                .height = node.integer("output_height", 1),
                .width = node.integer("output_width", 1),
                .samples = node.integer("sampling_ratio", 0),
                .scale = node.real("spatial_scale", 1),
                .takes_most = mode == "max",
                .half_pixel = coordinates == "half_pixel"};
  const std::int64_t rois = call.shape(1)[0];
  if (call.shape(1)[1] != 4 || call.input(2).shape() != Shape{rois})
    call.refuse(ErrorCode::shape_mismatch,
                "boxes " + call.input(1).to_string() + " of images " + call.input(2).to_string());
  if (how.samples < 0 || how.samples > most_samples || how.height < 0 || how.width < 0)
    call.refuse(ErrorCode::invalid_parameter, "extents or samples out of range");
  if (how.samples * how.samples > most_readings)
    call.refuse(ErrorCode::limit_exceeded,
                "a bin with more than " + std::to_string(most_readings) + " samples");
  const Shape shape = shape_of(Axes{rois, how.x[1], how.height, how.width});
  const auto compute = [how, shape](const std::vector<Tensor>& in) {
    const std::vector<float> x = in[0].to_vector<float>();
    const std::vector<float> boxes = in[1].to_vector<float>();
    const std::vector<std::int64_t> batches = in[2].to_vector<std::int64_t>();
    std::vector<float> y(static_cast<std::size_t>(shape.elements()));
    const auto plane = static_cast<std::size_t>(how.x[2] * how.x[3]);
    for (std::int64_t roi = 0; roi < shape[0]; ++roi) {
      const auto box = std::span{boxes}.subspan(static_cast<std::size_t>(roi) * 4, 4);
      const std::int64_t batch =
          std::clamp<std::int64_t>(batches[static_cast<std::size_t>(roi)], 0, how.x[0] - 1);
      for (std::int64_t row = 0; row < how.height; ++row)
        for (std::int64_t column = 0; column < how.width; ++column) {
          const std::vector<Reading> readings = readings_of(how, box, row, column);
          for (std::int64_t channel = 0; channel < how.x[1]; ++channel)
            y[static_cast<std::size_t>(((roi * how.x[1] + channel) * how.height + row) * how.width +
                                       column)] =
                pooled(how, x.data() + static_cast<std::size_t>(batch * how.x[1] + channel) * plane,
                       readings);
        }
    }
    return tensor(y, shape);
  };
  if (shape.elements() == 0 || call.shape().elements() == 0) return {call.like(zeros(shape))};
  return {call.like(host_call({DType::f32, shape}, compute, {call.x(0), call.x(1), call.x(2)}))};
}

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
