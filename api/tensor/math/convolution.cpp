#include "stoker/api/tensor/math/convolution.hpp"

#include <algorithm>
#include <array>
#include <tuple>
#include <utility>

#include "stoker/pipeline/tensor/graph/primitives.hpp"

namespace stoker {
namespace {

using Edges = std::vector<std::pair<std::int64_t, std::int64_t>>;

Error refuse(ErrorCode code, std::string reason, const Tensor& input, const Tensor& kernel) {
  return Error{"conv",
               code,
               std::move(reason),
               {{"input", input.spec().to_string()}, {"kernel", kernel.spec().to_string()}}};
}

Axes axes_of(const std::optional<Axes>& given, const Tensor& x, const char* name) {
  if (!given) return {};
  Axes axes;
  for (const std::int64_t axis : *given)
    axes.push_back(static_cast<std::int64_t>(detail::checked_axis("conv", axis, x.rank())));
  std::array<bool, Shape::max_rank> seen{};
  bool fits = axes.size() == x.rank();
  for (const std::int64_t axis : axes)
    fits = fits && !std::exchange(seen[static_cast<std::size_t>(axis)], true);
  if (!fits)
    throw Error{"conv",
                ErrorCode::invalid_parameter,
                std::string{name} + " names each of " + std::to_string(x.rank()) +
                    " axes once, got " + to_string(ParamValue{*given}),
                {{"tensor", x.spec().to_string()}}};
  return axes;
}

/// Where an axis of the standard order lies.
std::size_t place_of(const Axes& permutation, std::size_t axis) {
  return permutation.empty() ? axis : static_cast<std::size_t>(permutation[axis]);
}

}  // namespace

Tensor conv(const Tensor& input, const Tensor& kernel, const ConvOptions& options) {
  const std::size_t rank = input.rank();
  if (rank < 3 || kernel.rank() != rank)
    throw refuse(ErrorCode::shape_mismatch,
                 "shape mismatch: input " + input.shape().to_string() + ", kernel " +
                     kernel.shape().to_string() +
                     "; both have two axes and the same one to six spatial ones",
                 input, kernel);
  const std::size_t spatial = rank - 2;
  const auto complete = [&](const std::optional<Axes>& given, const char* name) {
    Axes all = given.value_or(Axes(spatial, 1));
    if (all.size() != spatial)
      throw refuse(ErrorCode::invalid_parameter,
                   std::string{name} + " has one entry for each of " + std::to_string(spatial) +
                       " spatial axes, got " + std::to_string(all.size()),
                   input, kernel);
    for (const std::int64_t one : all)
      if (one < 1)
        throw refuse(ErrorCode::invalid_parameter,
                     std::string{name} + " is at least 1, got " + std::to_string(one), input,
                     kernel);
    return all;
  };
  for (const auto& [name, groups] : {std::pair{"feature_group_size", options.feature_group_size},
                                     std::pair{"batch_group_size", options.batch_group_size}})
    if (groups < 1)
      throw refuse(ErrorCode::invalid_parameter,
                   std::string{name} + " is at least 1, got " + std::to_string(groups), input,
                   kernel);
  const Axes strides = complete(options.strides, "strides");
  const Axes spread = complete(options.input_dilation, "input_dilation");
  const Axes dilation = complete(options.kernel_dilation, "kernel_dilation");
  const Axes x_axes = axes_of(options.input_permutation, input, "input_permutation");
  const Axes k_axes = axes_of(options.kernel_permutation, kernel, "kernel_permutation");
  const Axes y_axes = axes_of(options.output_permutation, input, "output_permutation");
  Axes low(spatial, 0);
  Axes high(spatial, 0);
  if (const auto* pairs = std::get_if<Edges>(&options.padding)) {
    if (pairs->size() != spatial)
      throw refuse(ErrorCode::invalid_parameter,
                   "padding has one pair for each of " + std::to_string(spatial) +
                       " spatial axes, got " + std::to_string(pairs->size()),
                   input, kernel);
    for (std::size_t axis = 0; axis < spatial; ++axis)
      std::tie(low[axis], high[axis]) = (*pairs)[axis];
  } else if (std::get<PadRule>(options.padding) == PadRule::same) {
    for (std::size_t axis = 0; axis < spatial; ++axis) {
      // As Nx counts: whatever the strides are, ceil(extent / stride) entries come out.
      const std::int64_t taps = kernel.shape()[place_of(k_axes, axis + 2)];
      const std::int64_t total = std::max<std::int64_t>((taps - 1) * dilation[axis], 0);
      low[axis] = total / 2;
      high[axis] = total - low[axis];
    }
  }
  for (std::size_t axis = 0; axis < spatial; ++axis) {
    const std::int64_t entries = input.shape()[place_of(x_axes, axis + 2)];
    const std::int64_t taps = kernel.shape()[place_of(k_axes, axis + 2)];
    const std::int64_t places =
        (entries > 0 ? (entries - 1) * spread[axis] + 1 : 0) + low[axis] + high[axis];
    const std::int64_t span = taps > 0 ? (taps - 1) * dilation[axis] + 1 : 0;
    if (places > 0 && span > places)
      throw refuse(ErrorCode::shape_mismatch,
                   "spatial axis " + std::to_string(axis) + ": a kernel over " +
                       std::to_string(span) + " places does not fit " + std::to_string(places) +
                       " with padding",
                   input, kernel);
  }
  const DType dtype = expr::floating(expr::merged(input.dtype(), kernel.dtype()));
  const expr::Value result = expr::apply_one(
      expr::find_op("conv"), {expr::cast(input.value(), dtype), expr::cast(kernel.value(), dtype)},
      {{"strides", strides},
       {"padding_low", low},
       {"padding_high", high},
       {"input_dilation", spread},
       {"kernel_dilation", dilation},
       {"feature_groups", options.feature_group_size},
       {"batch_groups", options.batch_group_size},
       {"input_axes", x_axes},
       {"kernel_axes", k_axes},
       {"output_axes", y_axes},
       {"flip", false}});
  // Sums without terms need no kernel.
  const bool terms = !input.shape().empty() && !kernel.shape().empty();
  return Tensor{terms ? result : expr::zeros_like(result)};
}

}  // namespace stoker
