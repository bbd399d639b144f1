// Other extents by interpolation: each axis is a product with a matrix of weights, or, for "nearest", a choice.
// https://onnx.ai/onnx/operators/onnx__Resize.html
#include <algorithm>
#include <cmath>
#include <numeric>

#include "stoker/api/onnx/core/host_rules.hpp"
#include "stoker/api/tensor/core/creation.hpp"
#include "stoker/api/tensor/math/elementwise.hpp"
#include "stoker/api/tensor/math/products.hpp"
#include "stoker/api/tensor/views/indexing.hpp"
#include "stoker/api/tensor/views/manipulation.hpp"
#include "stoker/kernels/image/interpolation.hpp"

namespace stoker::onnx::operators::resize {
namespace {

struct AxisPlan {
  std::int64_t from = 0;
  std::int64_t to = 0;
  double scale = 1;
  double roi_start = 0;
  double roi_end = 1;
};

struct How {
  std::string mode, coordinates, nearest;
  double cubic_coefficient = -0.75;
  bool excludes_outside = false;
  bool antialias = false;
  double extrapolation = 0;
};

/// Where a place of the result lies in the operand.
double origin(const How& how, const AxisPlan& axis, std::int64_t at) {
  const double x = static_cast<double>(at);
  const double from = static_cast<double>(axis.from);
  const double to = axis.scale * from;  // may be no whole number
  if (how.coordinates == "asymmetric") return x / axis.scale;
  if (how.coordinates == "align_corners") return to == 1 ? 0 : x * (from - 1) / (to - 1);
  if (how.coordinates == "pytorch_half_pixel") return to > 1 ? (x + 0.5) / axis.scale - 0.5 : -0.5;
  if (how.coordinates == "tf_half_pixel_for_nn") return (x + 0.5) / axis.scale;
  if (how.coordinates == "half_pixel_symmetric") {
    const double adjustment = static_cast<double>(axis.to) / to;
    const double center = from / 2;
    const double offset = center * (1 - adjustment);
    return offset + (x + 0.5) / axis.scale - 0.5;
  }
  if (how.coordinates == "tf_crop_and_resize") {
    const double span = axis.roi_end - axis.roi_start;
    return axis.to > 1 ? axis.roi_start * (from - 1) +
                             x * span * (from - 1) / static_cast<double>(axis.to - 1)
                       : 0.5 * (axis.roi_start + axis.roi_end) * (from - 1);
  }
  return (x + 0.5) / axis.scale - 0.5;  // half_pixel
}

/// Whether a crop has a place that the operand has not.
bool is_outside(const How& how, const AxisPlan& axis, double place) {
  return how.coordinates == "tf_crop_and_resize" &&
         (place < 0 || place > static_cast<double>(axis.from - 1));
}

/// [to, from]; rows that lie outside of a crop are empty.
std::vector<double> weights_of(const How& how, const AxisPlan& axis, std::vector<bool>& outside) {
  std::vector<double> weights(static_cast<std::size_t>(axis.from * axis.to));
  if (axis.to == 0) return weights;  // the scale may be 0, too
  image::AxisWeights filter{how.mode == "linear"
                                ? image::Interpolation::linear()
                                : image::Interpolation::cubic(how.cubic_coefficient),
                            how.antialias ? std::max(1.0, 1 / axis.scale) : 1, axis.from,
                            how.excludes_outside ? image::Beyond::nothing : image::Beyond::edge};
  for (std::int64_t at = 0; at < axis.to; ++at) {
    const double place = origin(how, axis, at);
    if (is_outside(how, axis, place)) {
      outside[static_cast<std::size_t>(at)] = true;
      continue;
    }
    const auto taps = filter.at(place);
    std::ranges::copy(taps.weights, weights.begin() + at * axis.from + taps.first);
  }
  return weights;
}

Axes nearest_places(const How& how, const AxisPlan& axis, std::vector<bool>& outside) {
  Axes places;
  for (std::int64_t at = 0; at < axis.to; ++at) {
    const double x = origin(how, axis, at);
    if (is_outside(how, axis, x)) outside[static_cast<std::size_t>(at)] = true;
    double place = 0;
    if (how.nearest == "round_prefer_ceil")
      place = std::floor(x + 0.5);
    else if (how.nearest == "floor")
      place = std::floor(x);
    else if (how.nearest == "ceil")
      place = std::ceil(x);
    else
      place = std::ceil(x - 0.5);
    places.push_back(std::clamp<std::int64_t>(static_cast<std::int64_t>(place), 0, axis.from - 1));
  }
  return places;
}

Tensor resized(const Tensor& x, std::size_t axis, const AxisPlan& plan, const How& how) {
  std::vector<bool> outside(static_cast<std::size_t>(plan.to));
  const auto at = static_cast<std::int64_t>(axis);
  Tensor y;
  if (how.mode == "nearest") {
    y = take(x, Known::integers(nearest_places(how, plan, outside)).tensor(), at);
  } else {
    const Known weights =
        Known::reals(weights_of(how, plan, outside), Shape{plan.to, plan.from},
                     x.dtype() == DType::f64 ? ElementType::f64 : ElementType::f32);
    // The axis goes last, is multiplied, and comes back.
    Axes there;
    for (std::size_t i = 0; i < x.rank(); ++i)
      if (i != axis) there.push_back(static_cast<std::int64_t>(i));
    there.push_back(at);
    Axes back(x.rank());
    for (std::size_t i = 0; i < x.rank(); ++i)
      back[static_cast<std::size_t>(there[i])] = static_cast<std::int64_t>(i);
    const Tensor matrix = reshape(weights.tensor(), {plan.to, plan.from});
    Tensor lines = transpose(x, there);
    Axes extents = extents_of(lines.shape());
    extents.back() = plan.to;
    lines = reshape(lines, {-1, plan.from});
    y = transpose(reshape(matmul(lines, transpose(matrix)), extents), back);
  }
  if (std::ranges::find(outside, true) == outside.end()) return y;
  std::vector<std::int64_t> marks(outside.begin(), outside.end());
  Axes extents(x.rank(), 1);
  extents[axis] = plan.to;
  const Tensor mask = Known::integers(marks, shape_of(extents), ElementType::u8).tensor();
  return select(mask, how.extrapolation, y);
}

How how_of(const Call& call) {
  const Node& node = call.node();
  How how{.mode = node.text("mode", "nearest"),
          .coordinates = node.text("coordinate_transformation_mode", "half_pixel"),
          .nearest = node.text("nearest_mode", "round_prefer_floor"),
          .cubic_coefficient = node.real("cubic_coeff_a", -0.75F),
          .excludes_outside = node.flag("exclude_outside", false),
          .antialias = node.flag("antialias", false),
          .extrapolation = node.real("extrapolation_value", 0)};
  if (how.mode == "bilinear") how.mode = "linear";
  if (call.version() < 11) {  // and Upsample
    how.coordinates = "asymmetric";
    how.nearest = "floor";
  }
  if (how.mode != "nearest" && how.mode != "linear" && how.mode != "cubic")
    call.refuse(ErrorCode::invalid_parameter, "mode '" + how.mode + "'");
  const auto is_one_of = [](const std::string& name, std::initializer_list<std::string_view> all) {
    return std::ranges::find(all, name) != all.end();
  };
  if (!is_one_of(how.coordinates,
                 {"half_pixel", "half_pixel_symmetric", "pytorch_half_pixel", "align_corners",
                  "asymmetric", "tf_half_pixel_for_nn", "tf_crop_and_resize"}))
    call.refuse(ErrorCode::invalid_parameter,
                "coordinate_transformation_mode '" + how.coordinates + "'");
  if (!is_one_of(how.nearest, {"round_prefer_floor", "round_prefer_ceil", "floor", "ceil"}))
    call.refuse(ErrorCode::invalid_parameter, "nearest_mode '" + how.nearest + "'");
  return how;
}

Values resize_rule(Call& call) {
  const How how = how_of(call);
  const bool is_old = call.version() < 11;
  const std::size_t scales_at = is_old ? 1 : 2;
  Axes axes(call.shape().rank());
  std::iota(axes.begin(), axes.end(), 0);
  axes = axes_in(call.node().integers("axes", axes), call.rank());
  std::vector<AxisPlan> plans(axes.size());
  for (std::size_t i = 0; i < axes.size(); ++i) {
    plans[i].from = call.shape()[static_cast<std::size_t>(axes[i])];
    plans[i].to = plans[i].from;
  }
  std::vector<double> scales;
  if (const auto* given = call.node().reals("scales")) scales.assign(given->begin(), given->end());
  if (call.has(scales_at)) scales = call.known(scales_at).to_reals();
  if (!scales.empty()) {
    if (scales.size() != axes.size())
      call.refuse(ErrorCode::shape_mismatch, "scales do not fit the axes");
    for (std::size_t i = 0; i < axes.size(); ++i) {
      if (!(scales[i] > 0 && scales[i] <= 1.0e9))
        call.refuse(ErrorCode::invalid_parameter, "a scale of " + std::to_string(scales[i]));
      plans[i].scale = scales[i];
      plans[i].to =
          static_cast<std::int64_t>(std::floor(static_cast<double>(plans[i].from) * scales[i]));
    }
  } else {
    const Axes sizes = call.integers(3);
    if (sizes.size() != axes.size())
      call.refuse(ErrorCode::shape_mismatch, "sizes do not fit the axes");
    const std::string policy = call.node().text("keep_aspect_ratio_policy", "stretch");
    double common = policy == "not_larger" ? std::numeric_limits<double>::infinity() : 0;
    for (std::size_t i = 0; i < axes.size(); ++i) {
      plans[i].to = sizes[i];
      plans[i].scale = static_cast<double>(sizes[i]) / static_cast<double>(plans[i].from);
      common = policy == "not_larger" ? std::min(common, plans[i].scale)
                                      : std::max(common, plans[i].scale);
    }
    if (policy != "stretch")
      for (AxisPlan& plan : plans) {
        plan.scale = common;
        plan.to =
            static_cast<std::int64_t>(std::floor(common * static_cast<double>(plan.from) + 0.5));
      }
  }
  if (how.coordinates == "tf_crop_and_resize" && call.has(1)) {
    const std::vector<double> roi = call.known(1).to_reals();
    if (roi.size() != 2 * axes.size())
      call.refuse(ErrorCode::shape_mismatch, "roi does not fit the axes");
    for (const double edge : roi)
      if (!(std::abs(edge) <= 1.0e9))
        call.refuse(ErrorCode::invalid_parameter, "a roi from or to " + std::to_string(edge));
    for (std::size_t i = 0; i < axes.size(); ++i) {
      plans[i].roi_start = roi[i];
      plans[i].roi_end = roi[i + axes.size()];
    }
  }
  for (const AxisPlan& plan : plans) check_host_count(call, plan.to);
  const bool is_nearest = how.mode == "nearest";
  Tensor y = call.x();
  if (!is_nearest && y.dtype() != DType::f64) y = as_type(y, DType::f32);
  for (std::size_t i = 0; i < axes.size(); ++i) {
    if (plans[i].to < 0 || plans[i].from == 0)
      call.refuse(ErrorCode::shape_mismatch, "an axis is empty");
    // The weights of an axis are a matrix.
    if (!is_nearest &&
        plans[i].from > (std::int64_t{1} << 28) / std::max<std::int64_t>(plans[i].to, 1))
      call.refuse(ErrorCode::limit_exceeded, "an axis is too long to be interpolated");
    const bool same = plans[i].to == plans[i].from && plans[i].scale == 1 &&
                      how.coordinates != "tf_crop_and_resize";
    if (!same) y = resized(y, static_cast<std::size_t>(axes[i]), plans[i], how);
  }
  return {call.like(y)};
}

}  // namespace

void define(OperatorTable& table) {
  table.add({.name = "Resize",
             .since = {10, 11, 13, 18, 19},
             .most_inputs = 4,
             .types = {.operands = {wide_types, float_types, float_types, index_types},
                       .results = {like(0)}},
             .attributes = {"antialias", "axes", "coordinate_transformation_mode", "cubic_coeff_a",
                            "exclude_outside", "extrapolation_value", "keep_aspect_ratio_policy",
                            "mode", "nearest_mode"},
             .decides = {1, 2, 3},
             .lower = &resize_rule});
  table.add({.name = "Upsample",
             .since = {7, 9, 10},
             .most_inputs = 2,
             .types = {.operands = {wide_types, float_types}, .results = {like(0)}},
             .attributes = {"mode", "scales"},
             .decides = {1},
             .lower = &resize_rule});
}

}  // namespace stoker::onnx::operators::resize
