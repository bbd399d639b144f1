#include "stoker/api/nn/layers/split.hpp"

#include <algorithm>
#include <numeric>

#include "stoker/api/tensor/views/manipulation.hpp"

namespace stoker::nn {
namespace layers::split {
namespace {

[[noreturn]] void refuse(const std::string& why, const Shape& x, const Split& options) {
  throw Error{"split",
              ErrorCode::shape_mismatch,
              why,
              {{"input", x.to_string()},
               {"axis", std::to_string(options.axis)},
               {"splits", to_string(ParamValue{options.splits.list()})}}};
}

std::size_t count(const Split& options) {
  const std::vector<std::int64_t>& splits = options.splits.list();
  if (splits.empty())
    throw Error{"split",
                ErrorCode::invalid_parameter,
                "splits: expected a number of parts, or the size of each",
                {{"parameter", "splits"}}};
  return splits.size() == 1 ? static_cast<std::size_t>(splits[0]) : splits.size();
}

/// The axis, counted from the front; not the batch.
std::int64_t axis_of(const Shape& x, const Split& options) {
  const std::int64_t given = options.axis;
  const auto rank = static_cast<std::int64_t>(x.rank());
  const std::int64_t axis = given < 0 ? given + rank : given;
  if (axis < 1 || axis >= rank)
    throw Error{"split",
                ErrorCode::invalid_parameter,
                "axis: expected one of the row's, which are 1 to " + std::to_string(rank - 1) +
                    ", got " + std::to_string(given),
                {{"parameter", "axis"}, {"input", x.to_string()}}};
  return axis;
}

std::vector<Tensor> apply(LayerCall& call, const Split& options) {
  const Shape& x = call.x().shape();
  const std::int64_t axis = axis_of(x, options);
  const std::int64_t extent = x[static_cast<std::size_t>(axis)];
  std::vector<std::int64_t> sizes = options.splits.list();
  if (sizes.size() == 1) {
    const std::int64_t parts = sizes[0];
    if (extent % parts != 0)
      refuse("an extent of " + std::to_string(extent) + " has no " + std::to_string(parts) +
                 " equal parts",
             x, options);
    sizes.assign(static_cast<std::size_t>(parts), extent / parts);
  }
  const std::int64_t all = std::accumulate(sizes.begin(), sizes.end(), std::int64_t{0});
  if (all != extent)
    refuse(
        "the sizes add up to " + std::to_string(all) + ", the extent is " + std::to_string(extent),
        x, options);
  std::vector<Tensor> parts;
  std::int64_t start = 0;
  for (const std::int64_t size : sizes) {
    parts.push_back(slice_along_axis(call.x(), start, size, axis));
    start += size;
  }
  return parts;
}

}  // namespace

void define(LayerTable& table) {
  table.add<Split>(
      {.summary = "parts of the input along an axis", .apply = &apply, .count_outputs = &count});
}

}  // namespace layers::split

std::vector<Node> split(const Node& x, Extents splits, std::int64_t axis, layers::Split options) {
  give(options, &layers::Split::splits, std::move(splits));
  give(options, &layers::Split::axis, axis);
  return Layer{options}.outputs({x});
}

}  // namespace stoker::nn
