#include "stoker/api/nn/functional/image_axes.hpp"

#include <algorithm>
#include <numeric>

#include "stoker/api/tensor/math/elementwise.hpp"

namespace stoker::nn {

ImageAxes ImageAxes::of(std::string_view op, const Shape& x, Channels channels) {
  const bool last = channels == Channels::last;
  if (x.rank() < 3 || x.rank() > 5)
    throw Error{std::string{op},
                ErrorCode::shape_mismatch,
                std::string{"expected "} +
                    (last ? "[batch, space…, channels]" : "[batch, channels, space…]") +
                    " with one to three axes of space, got " + x.to_string(),
                {{"input", x.to_string()}}};
  return {x.rank() - 2, last};
}

Axes ImageAxes::space_axes() const {
  Axes axes(space);
  std::iota(axes.begin(), axes.end(), channels_last ? 1 : 2);
  return axes;
}

Axes ImageAxes::permutation() const {
  Axes axes{0, channel_axis()};
  for (const std::int64_t axis : space_axes()) axes.push_back(axis);
  return axes;
}

ConvOptions ImageAxes::conv_options() const {
  ConvOptions how;
  how.input_permutation = how.output_permutation = permutation();
  const auto last = static_cast<std::int64_t>(space);
  Axes kernel{last + 1, last};  // outputs, channels, space…
  for (std::int64_t axis = 0; axis < last; ++axis) kernel.push_back(axis);
  how.kernel_permutation = kernel;
  return how;
}

Tensor ImageAxes::with_bias(const Tensor& y, const Tensor& bias) const {
  std::vector<std::int64_t> extents(y.rank(), 1);
  extents[static_cast<std::size_t>(channel_axis())] = bias.shape()[0];
  return y + stoker::reshape(bias, extents);
}

Axes ImageAxes::spread(const Axes& of_space, std::int64_t other) const {
  Axes all(space + 2, other);
  const Axes at = space_axes();
  for (std::size_t i = 0; i < space; ++i) all[static_cast<std::size_t>(at[i])] = of_space[i];
  return all;
}

Axes ImageAxes::list(std::string_view op, std::string_view name, const Extents& extents) const {
  const std::vector<std::int64_t>& given = extents.list();
  const bool fits = given.size() == 1 || given.size() == space;
  if (!fits || std::ranges::any_of(given, [](std::int64_t one) { return one < 1; }))
    throw Error{std::string{op},
                ErrorCode::invalid_parameter,
                std::string{name} + ": expected one number of at least 1, or one for each of " +
                    std::to_string(space) + " axes, got " + to_string(ParamValue{given}),
                {{"parameter", std::string{name}}}};
  if (given.size() == space) return Axes(given.begin(), given.end());
  return Axes(space, given[0]);
}

ImageAxes::Edges ImageAxes::edges(std::string_view op, std::string_view name,
                                  const Extents& extents) const {
  const std::vector<std::int64_t>& given = extents.list();
  if (given.size() != 2 * space)
    throw Error{std::string{op},
                ErrorCode::invalid_parameter,
                std::string{name} + ": expected " + std::to_string(2 * space) +
                    " numbers, before and behind each axis, got " + std::to_string(given.size()),
                {{"parameter", std::string{name}}}};
  Edges pairs;
  for (std::size_t i = 0; i < space; ++i) pairs.emplace_back(given[2 * i], given[2 * i + 1]);
  return pairs;
}

ImageAxes::Padding ImageAxes::padding(std::string_view op, PadRule given,
                                      const Extents& pads) const {
  if (!pads.list().empty()) return edges(op, "pads", pads);
  return given;
}

}  // namespace stoker::nn
