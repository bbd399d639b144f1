// Images read at places that are computed, and put together from overlapping columns.
#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>

#include "stoker/api/onnx/core/host_rules.hpp"
#include "stoker/api/onnx/core/rounding.hpp"
#include "stoker/api/onnx/core/spatial.hpp"
#include "stoker/api/tensor/core/creation.hpp"
#include "stoker/api/tensor/math/elementwise.hpp"
#include "stoker/api/tensor/math/products.hpp"
#include "stoker/api/tensor/views/indexing.hpp"
#include "stoker/api/tensor/views/manipulation.hpp"
#include "stoker/kernels/image/interpolation.hpp"

namespace stoker::onnx::operators::sampling {
namespace {

// GridSample: https://onnx.ai/onnx/operators/onnx__GridSample.html ----------------------------------

struct Grid {
  std::string mode, padding;
  bool aligned = false;
};

/// Back and forth between the ends.
Tensor reflected(const Tensor& x, double low, double high) {
  const double range = high - low;
  if (range <= 0) return zeros_like(x);
  const Tensor apart = abs(x - low);
  const Tensor within = remainder(apart, 2 * range);
  return low + select(greater(within, range), 2 * range - within, within);
}

/// The position along an axis that a grid's number in [-1, 1] means.
Tensor position(const Tensor& number, std::int64_t extent, const Grid& grid) {
  const double n = static_cast<double>(extent);
  Tensor at = grid.aligned ? (number + 1) * ((n - 1) / 2) : ((number + 1) * n - 1) / 2;
  if (grid.mode == "nearest") at = rounded_to_even(at);
  const double low = grid.aligned ? 0 : -0.5;
  if (grid.padding == "border") return clip(at, 0, n - 1);
  if (grid.padding == "reflection") return reflected(at, low, low + n - (grid.aligned ? 1 : 0));
  return at;
}

struct Tap {
  Tensor place;   ///< [batch, points], within the axis
  Tensor weight;  ///< 0 outside of it if the padding is zeros
};

std::vector<Tap> taps_of(const Tensor& at, std::int64_t extent, const Grid& grid) {
  const Tensor down = floor(at);
  const Tensor above = at - down;
  std::vector<std::pair<double, Tensor>> weights;
  if (grid.mode == "nearest") {
    weights = {{0, ones_like(at)}};
  } else if (grid.mode == "linear") {
    weights = {{0, 1 - above}, {1, above}};
  } else {
    constexpr double a = -0.75;
    weights = {{-1, image::cubic_within_two(a, above + 1)},
               {0, image::cubic_within_one(a, above)},
               {1, image::cubic_within_one(a, 1 - above)},
               {2, image::cubic_within_two(a, 2 - above)}};
  }
  const double last = static_cast<double>(extent - 1);
  std::vector<Tap> taps;
  for (const auto& [offset, weight] : weights) {
    Tensor place = down + offset;
    Tensor counts = weight;
    if (grid.padding == "zeros")
      counts = select(logical_and(greater_equal(place, 0), less_equal(place, last)), weight, 0);
    else if (grid.padding == "reflection")
      place = grid.aligned ? reflected(place, 0, last)
                           : rounded_to_even(reflected(place, -0.5, last + 0.5));
    taps.push_back({as_type(clip(place, 0, last), DType::s32), counts});
  }
  return taps;
}

Values grid_sample(Call& call) {
  Grid grid{.mode = call.node().text("mode", call.version() < 20 ? "bilinear" : "linear"),
            .padding = call.node().text("padding_mode", "zeros"),
            .aligned = call.node().flag("align_corners", false)};
  if (grid.mode == "bilinear") grid.mode = "linear";
  if (grid.mode == "bicubic") grid.mode = "cubic";
  if ((grid.mode != "linear" && grid.mode != "nearest" && grid.mode != "cubic") ||
      (grid.padding != "zeros" && grid.padding != "border" && grid.padding != "reflection"))
    call.refuse(ErrorCode::invalid_parameter,
                "mode '" + grid.mode + "', padding '" + grid.padding + "'");
  const Axes extents = spatial_extents(call, call.shape());
  const std::size_t n = extents.size();
  const Shape& g = call.shape(1);
  if (g.rank() != n + 2 || g[n + 1] != static_cast<std::int64_t>(n))
    call.refuse(ErrorCode::shape_mismatch, "a grid of " + call.input(1).to_string());
  const std::int64_t batch = call.shape()[0];
  const std::int64_t channels = call.shape()[1];
  const std::int64_t points = batch == 0 ? 0 : g.elements() / batch / static_cast<std::int64_t>(n);
  const DType wide = size_of(call.x().dtype()) < 4 ? DType::f32 : call.x().dtype();
  const Tensor numbers =
      reshape(as_type(call.x(1), wide), {batch, points, static_cast<std::int64_t>(n)});
  std::vector<std::vector<Tap>> taps;
  std::int64_t area = 1;
  for (std::size_t i = 0; i < n; ++i) {
    // The grid's last axis speaks of the last axis first.
    const Tensor number = reshape(
        slice_along_axis(numbers, static_cast<std::int64_t>(n - 1 - i), 1, 2), {batch, points});
    taps.push_back(taps_of(position(number, extents[i], grid), extents[i], grid));
    area *= extents[i];
  }
  const Tensor flat = reshape(as_type(call.x(), wide), {batch, channels, area});
  Tensor y;
  std::vector<std::size_t> which(n, 0);
  for (bool more = true; more;) {
    Tensor place = zeros({batch, points}, DType::s32);
    Tensor weight = ones({batch, points}, wide);
    for (std::size_t i = 0; i < n; ++i) {
      place = place * extents[i] + taps[i][which[i]].place;
      weight = weight * taps[i][which[i]].weight;
    }
    const Tensor seen = take_along_axis(
        flat, broadcast(new_axis(as_type(place, DType::s32), 1), Shape{batch, channels, points}),
        2);
    const Tensor part = seen * new_axis(weight, 1);
    y = y.has_value() ? y + part : part;
    more = false;
    for (std::size_t i = n; i-- > 0 && !more;) {
      more = ++which[i] < taps[i].size();
      if (!more) which[i] = 0;
    }
  }
  Axes shape{batch, channels};
  for (std::size_t i = 0; i < n; ++i) shape.push_back(g[i + 1]);
  return {call.like(reshape(y, shape))};
}

/// theta [batch, n, n + 1] applied to the places of an image.
Values affine_grid(Call& call) {
  const Axes size = call.integers(1);
  const std::size_t n = size.size() - 2;
  if (size.size() < 3 || call.rank() != 3)
    call.refuse(ErrorCode::shape_mismatch, "expected theta and a size");
  const bool aligned = call.node().flag("align_corners", false);
  const Axes space{size.begin() + 2, size.end()};
  const Shape shape = shape_of(space);
  std::vector<Tensor> coordinates;
  for (std::size_t i = n; i-- > 0;) {  // x, the last axis, first
    const double extent = static_cast<double>(space[i]);
    const Tensor at = as_type(iota_along(shape, static_cast<std::int64_t>(i)), DType::f32);
    const Tensor number =
        aligned ? (extent > 1 ? at * (2 / (extent - 1)) - 1 : at * 0) : (at * 2 + 1) / extent - 1;
    coordinates.push_back(flatten(number));
  }
  coordinates.push_back(ones({shape.elements()}));
  const Tensor places = as_type(stack(coordinates, 1), call.x().dtype());
  const Tensor y = matmul(places, transpose(call.x(), Axes{0, 2, 1}));
  Axes extents{size[0]};
  extents.insert(extents.end(), space.begin(), space.end());
  extents.push_back(static_cast<std::int64_t>(n));
  return {call.like(reshape(y, extents))};
}

/// Columns [batch, channels·block, blocks] summed where they overlap.
Values col2im(Call& call) {
  const Axes image = call.integers(1);
  const Axes block = call.integers(2);
  const std::size_t n = image.size();
  const Axes dilations = call.node().integers("dilations", Axes(n, 1));
  const Axes pads = call.node().integers("pads", Axes(2 * n, 0));
  const Axes strides = call.node().integers("strides", Axes(n, 1));
  if (block.size() != n || dilations.size() != n || pads.size() != 2 * n || strides.size() != n ||
      call.rank() != 3)
    call.refuse(ErrorCode::shape_mismatch, "extents and attributes differ in number");
  Axes padded, counts;
  std::vector<Padding> crop(2);
  std::int64_t taps = 1;
  constexpr std::int64_t most = std::int64_t{1} << 31;
  for (std::size_t i = 0; i < n; ++i) {
    const std::array numbers{image[i], block[i], dilations[i], pads[i], pads[i + n], strides[i]};
    if (strides[i] <= 0 || block[i] <= 0 || dilations[i] <= 0 || image[i] < 0 || pads[i] < 0 ||
        pads[i + n] < 0 || std::ranges::max(numbers) > most)
      call.refuse(ErrorCode::invalid_parameter, "an extent, stride or padding is out of range");
    padded.push_back(image[i] + pads[i] + pads[i + n]);
    counts.push_back((padded[i] - (block[i] - 1) * dilations[i] - 1) / strides[i] + 1);
    taps *= block[i];
    if (taps > call.shape()[1])
      call.refuse(ErrorCode::shape_mismatch, "blocks larger than columns");
    crop.push_back({.low = -pads[i], .high = -pads[i + n]});
  }
  const Shape windows = shape_of(counts);
  check_host_count(call, call.shape()[1] * call.shape()[2]);
  if (taps == 0 || windows.elements() != call.shape()[2] || call.shape()[1] % taps != 0)
    call.refuse(ErrorCode::shape_mismatch, "columns of " + call.input(0).to_string());
  std::vector<std::int64_t> places;
  for (std::int64_t tap = 0; tap < taps; ++tap)
    for (std::int64_t window = 0; window < windows.elements(); ++window) {
      std::int64_t rest_of_tap = tap;
      std::int64_t rest = window;
      std::int64_t place = 0;
      std::int64_t stride = 1;
      for (std::size_t i = n; i-- > 0;) {
        place += (rest_of_tap % block[i] * dilations[i] + rest % counts[i] * strides[i]) * stride;
        rest_of_tap /= block[i];
        rest /= counts[i];
        stride *= padded[i];
      }
      places.push_back(place);
    }
  const std::int64_t batch = call.shape()[0];
  const std::int64_t channels = call.shape()[1] / taps;
  const auto many = static_cast<std::int64_t>(places.size());
  const Tensor columns = transpose(reshape(call.x(), {batch * channels, many}));
  const Tensor sums =
      indexed_add(zeros(Shape{shape_of(padded).elements(), batch * channels}, call.x().dtype()),
                  Known::integers(places, Shape{many, 1}).tensor(), columns);
  Axes extents{batch, channels};
  extents.insert(extents.end(), padded.begin(), padded.end());
  return {call.like(pad(reshape(transpose(sums), extents), 0, crop))};
}

}  // namespace

void define(OperatorTable& table) {
  table.add({.name = "GridSample",
             .since = {16, 20, 22},
             .least_inputs = 2,
             .most_inputs = 2,
             .types = {.operands = {wide_types, float_types}, .results = {like(0)}},
             .attributes = {"align_corners", "mode", "padding_mode"},
             .lower = &grid_sample});
  table.add({.name = "AffineGrid",
             .since = {20},
             .least_inputs = 2,
             .most_inputs = 2,
             .types = indexed(float_types),
             .attributes = {"align_corners"},
             .decides = {1},
             .lower = &affine_grid});
  table.add({.name = "Col2Im",
             .since = {18},
             .least_inputs = 3,
             .most_inputs = 3,
             .types = indexed(wide_types),
             .attributes = {"dilations", "pads", "strides"},
             .decides = {1, 2},
             .lower = &col2im});
}

}  // namespace stoker::onnx::operators::sampling
