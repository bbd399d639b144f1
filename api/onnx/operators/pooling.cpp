// Reductions over windows and over all of space.
#include <numeric>

#include "stoker/api/onnx/core/host_rules.hpp"
#include "stoker/api/onnx/core/spatial.hpp"
#include "stoker/api/tensor/core/constants.hpp"
#include "stoker/api/tensor/core/creation.hpp"
#include "stoker/api/tensor/math/elementwise.hpp"
#include "stoker/api/tensor/math/reductions.hpp"
#include "stoker/api/tensor/math/windows.hpp"
#include "stoker/api/tensor/views/indexing.hpp"
#include "stoker/api/tensor/views/manipulation.hpp"

namespace stoker::onnx::operators::pooling {
namespace {

const std::vector<std::string> window_attributes{
    "auto_pad", "ceil_mode",     "count_include_pad", "dilations", "kernel_shape",
    "pads",     "storage_order", "strides",           "p"};

/// Each is a step of the program that finds the places of maxima.
constexpr std::int64_t most_taps = 4096;

/// The windows over all axes; overhangs are padding here.
Window window_of(const Spatial& spatial) {
  Window window{.dimensions = {1, 1}, .strides = Axes{1, 1}, .dilations = Axes{1, 1}};
  std::vector<std::pair<std::int64_t, std::int64_t>> padding{{0, 0}, {0, 0}};
  for (std::size_t i = 0; i < spatial.kernel.size(); ++i) {
    window.dimensions.push_back(spatial.kernel[i]);
    window.strides->push_back(spatial.strides[i]);
    window.dilations->push_back(spatial.dilations[i]);
    padding.emplace_back(spatial.pads[i].first, spatial.pads[i].second + spatial.overhang[i]);
  }
  window.padding = std::move(padding);
  return window;
}

Spatial spatial_of(const Call& call) {
  const auto* kernel = call.node().integers("kernel_shape");
  if (kernel == nullptr) call.refuse(ErrorCode::invalid_argument, "it has no kernel_shape");
  return Spatial::of(call, *kernel);
}

Values average_pool(Call& call) {
  const Spatial spatial = spatial_of(call);
  const Tensor x = call.x();
  const Tensor total = window_sum(x, window_of(spatial));
  // How many elements count in each window: along each axis apart, known while tracing.
  const bool padding_counts = call.node().flag("count_include_pad", false);
  Tensor y = total;
  for (std::size_t i = 0; i < spatial.kernel.size(); ++i) {
    if (spatial.output[i] == 0) continue;
    const std::int64_t extent = call.shape()[i + 2];
    const std::int64_t from = padding_counts ? -spatial.pads[i].first : 0;
    const std::int64_t to = padding_counts ? extent + spatial.pads[i].second : extent;
    check_host_count(call, spatial.output[i]);
    std::vector<double> counts;
    for (std::int64_t at = 0; at < spatial.output[i]; ++at) {
      // The taps before `from` and before `to`; a window may have 2^31 of them.
      const std::int64_t place = at * spatial.strides[i] - spatial.pads[i].first;
      const auto taps_before = [&](std::int64_t end) {
        const std::int64_t step = spatial.dilations[i];
        return place >= end ? 0 : std::min(spatial.kernel[i], (end - place + step - 1) / step);
      };
      const std::int64_t count = taps_before(to) - taps_before(from);
      counts.push_back(static_cast<double>(std::max<std::int64_t>(count, 1)));
    }
    if (std::ranges::all_of(counts, [&](double one) { return one == counts[0]; })) {
      y = y / counts[0];
      continue;
    }
    Axes extents(y.rank(), 1);
    extents[i + 2] = spatial.output[i];
    y = y / as_type(Known::reals(counts, shape_of(extents)).tensor(), y.dtype());
  }
  return {call.like(y)};
}

Values lp_pool(Call& call) {
  const Spatial spatial = spatial_of(call);
  const auto p = static_cast<double>(call.node().integer("p", 2));
  return {call.like(pow(window_sum(pow(abs(call.x()), p), window_of(spatial)), 1 / p))};
}

/// The places of the maxima in the flat operand: the taps are compared in turn, so that the first of equals wins.
Tensor places_of_maxima(const Call& call, const Spatial& spatial) {
  std::int64_t taps = 1;
  for (const std::int64_t extent : spatial.kernel)
    if ((taps *= extent) > most_taps)
      call.refuse(ErrorCode::limit_exceeded,
                  "indices of windows of more than " + std::to_string(most_taps) + " elements");
  const Tensor x = call.x();
  const std::size_t n = spatial.kernel.size();
  const bool by_columns = call.node().flag("storage_order", false);
  Axes space_strides(n, 1);
  for (std::size_t step = 1; step < n; ++step) {
    const std::size_t i = by_columns ? step : n - 1 - step;
    const std::size_t before = by_columns ? i - 1 : i + 1;
    space_strides[i] = space_strides[before] * call.shape()[before + 2];
  }
  std::int64_t area = 1;
  for (std::size_t i = 0; i < n; ++i) area *= call.shape()[i + 2];
  Axes extents{call.shape()[0], call.shape()[1]};
  extents.insert(extents.end(), spatial.output.begin(), spatial.output.end());
  const Shape shape = shape_of(extents);
  const Tensor base =
      (iota_along(shape, 0, DType::s64) * call.shape()[1] + iota_along(shape, 1, DType::s64)) *
      area;
  std::vector<Padding> padding(n + 2);
  for (std::size_t i = 0; i < n; ++i)
    padding[i + 2] = {.low = spatial.pads[i].first,
                      .high = spatial.pads[i].second + spatial.overhang[i]};
  const Tensor padded = pad(x, constants::min(x.dtype()), padding);
  Tensor best;
  Tensor place;
  Axes tap(n, 0);
  for (bool more = true; more;) {
    Axes starts{0, 0};
    Axes spans{shape[0], shape[1]};
    Axes strides{1, 1};
    Tensor at = base;
    for (std::size_t i = 0; i < n; ++i) {
      starts.push_back(tap[i] * spatial.dilations[i]);
      strides.push_back(spatial.strides[i]);
      spans.push_back((spatial.output[i] - 1) * spatial.strides[i] + 1);
      const Tensor along =
          iota_along(shape, static_cast<std::int64_t>(i) + 2, DType::s64) * spatial.strides[i] +
          (tap[i] * spatial.dilations[i] - spatial.pads[i].first);
      at = at + along * space_strides[i];
    }
    const Tensor seen = slice(padded, starts, spans, strides);
    if (!best.has_value()) {
      best = seen;
      place = at;
    } else {
      const Tensor wins = greater(seen, best);
      place = select(wins, at, place);
      best = select(wins, seen, best);
    }
    more = false;
    for (std::size_t i = n; i-- > 0 && !more;) {
      more = ++tap[i] < spatial.kernel[i];
      if (!more) tap[i] = 0;
    }
  }
  return place;
}

Values max_pool(Call& call) {
  const Spatial spatial = spatial_of(call);
  Values results{call.like(window_max(call.x(), window_of(spatial)))};
  if (call.node().has_output(1)) results.emplace_back(places_of_maxima(call, spatial));
  return results;
}

/// The inverse of MaxPool with indices.
Values max_unpool(Call& call) {
  const Axes extents = spatial_extents(call, call.shape());
  const std::size_t n = extents.size();
  const Axes strides = call.node().integers("strides", Axes(n, 1));
  const Axes pads = call.node().integers("pads", Axes(2 * n, 0));
  const auto* kernel = call.node().integers("kernel_shape");
  if (kernel == nullptr || kernel->size() != n || strides.size() != n || pads.size() != 2 * n)
    call.refuse(ErrorCode::invalid_parameter,
                "attributes must be for " + std::to_string(n) + " axes");
  Axes inferred{call.shape()[0], call.shape()[1]};
  for (std::size_t i = 0; i < n; ++i)
    inferred.push_back((extents[i] - 1) * strides[i] - pads[i] - pads[i + n] + (*kernel)[i]);
  const Shape shape = call.has(2) ? shape_of(call.integers(2)) : shape_of(inferred);
  // The indices count in the shape that the attributes say.
  const Shape flat{shape_of(inferred).elements()};
  const Tensor at = reshape(call.x(1), {call.shape(1).elements(), 1});
  if (!call.has(2) || shape == shape_of(inferred)) {
    const Tensor y = indexed_put(zeros(flat, call.x().dtype()), at, flatten(call.x()));
    return {call.like(reshape(y, shape))};
  }
  const Shape larger{shape.elements()};
  return {call.like(
      reshape(indexed_put(zeros(larger, call.x().dtype()), at, flatten(call.x())), shape))};
}

void add_global(OperatorTable& table, const char* name, std::vector<int> since,
                Tensor (*f)(const Tensor& x, const Reduce& over, double p)) {
  table.add({.name = name,
             .since = std::move(since),
             .types = alike(float_types),
             .attributes = {"p"},
             .lower = [f](Call& call) {
               Axes space(spatial_extents(call, call.shape()).size());
               std::iota(space.begin(), space.end(), 2);
               const double p =
                   call.node().has("p") ? static_cast<double>(call.node().integer("p")) : 2;
               return Values{call.like(f(call.x(), {.axes = space, .keepdims = true}, p))};
             }});
}

}  // namespace

void define(OperatorTable& table) {
  table.add({.name = "AveragePool",
             .since = {1, 7, 10, 11, 19, 22},
             .types = alike(float_types),
             .attributes = window_attributes,
             .lower = &average_pool});
  table.add(
      {.name = "MaxPool",
       .since = {1, 8, 10, 11, 12, 22},
       .most_outputs = 2,
       .types = {.operands = {float_types | byte_types}, .results = {like(0), ElementType::s64}},
       .attributes = window_attributes,
       .lower = &max_pool});
  table.add({.name = "LpPool",
             .since = {2, 11, 18, 22},
             .types = alike(float_types),
             .attributes = window_attributes,
             .lower = &lp_pool});
  table.add({.name = "MaxUnpool",
             .since = {9, 11, 22},
             .least_inputs = 2,
             .most_inputs = 3,
             .types = indexed(float_types),
             .attributes = {"kernel_shape", "pads", "strides"},
             .decides = {2},
             .lower = &max_unpool});
  add_global(table, "GlobalAveragePool", {1, 22},
             [](const Tensor& x, const Reduce& over, double) { return mean(x, over); });
  add_global(table, "GlobalMaxPool", {1, 22},
             [](const Tensor& x, const Reduce& over, double) { return reduce_max(x, over); });
  add_global(table, "GlobalLpPool", {2, 22}, [](const Tensor& x, const Reduce& over, double p) {
    return pow(sum(pow(abs(x), p), over), 1 / p);
  });
}

}  // namespace stoker::onnx::operators::pooling
