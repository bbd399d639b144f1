#include "stoker/api/onnx/core/spatial.hpp"

#include <algorithm>

namespace stoker::onnx {

Axes spatial_extents(const Call& call, const Shape& shape) {
  if (shape.rank() < 3)
    call.refuse(ErrorCode::shape_mismatch,
                "expected batch, channels and spatial axes, got " + shape.to_string());
  return {shape.begin() + 2, shape.end()};
}

Spatial Spatial::of(const Call& call, Axes kernel) {
  const Axes extents = spatial_extents(call, call.shape());
  const std::size_t n = extents.size();
  const Node& node = call.node();
  Spatial made{.kernel = std::move(kernel),
               .strides = node.integers("strides", Axes(n, 1)),
               .dilations = node.integers("dilations", Axes(n, 1)),
               .pads = {},
               .output = {},
               .overhang = Axes(n, 0)};
  const Axes pads = node.integers("pads", Axes(2 * n, 0));
  const std::string rule = node.text("auto_pad", "NOTSET");
  const bool ceil_mode = node.flag("ceil_mode", false);
  if (made.kernel.size() != n || made.strides.size() != n || made.dilations.size() != n ||
      pads.size() != 2 * n)
    call.refuse(ErrorCode::invalid_parameter,
                "kernel, strides, dilations and pads must be for " + std::to_string(n) + " axes");
  for (std::size_t i = 0; i < n; ++i) {
    const std::int64_t stride = made.strides[i];
    // So that no sum of products overflows below.
    constexpr std::int64_t most = std::int64_t{1} << 31;
    if (std::max({stride, made.kernel[i], made.dilations[i], pads[i], pads[i + n]}) > most ||
        std::min(pads[i], pads[i + n]) < -most)
      call.refuse(ErrorCode::limit_exceeded, "a stride, dilation, extent or padding above 2^31");
    const std::int64_t reach = (made.kernel[i] - 1) * made.dilations[i] + 1;
    if (stride <= 0 || made.kernel[i] <= 0 || made.dilations[i] <= 0)
      call.refuse(ErrorCode::invalid_parameter, "a stride, dilation or extent is not positive");
    std::int64_t low = pads[i];
    std::int64_t high = pads[i + n];
    std::int64_t output = 0;
    if (rule == "SAME_UPPER" || rule == "SAME_LOWER") {
      output = (extents[i] + stride - 1) / stride;
      const std::int64_t both =
          std::max<std::int64_t>(0, (output - 1) * stride + reach - extents[i]);
      low = rule == "SAME_UPPER" ? both / 2 : (both + 1) / 2;
      high = both - low;
    } else {
      if (rule == "VALID")
        low = high = 0;
      else if (rule != "NOTSET")
        call.refuse(ErrorCode::invalid_parameter, "auto_pad '" + rule + "'");
      const std::int64_t room = extents[i] + low + high - reach;
      if (room < 0)
        call.refuse(ErrorCode::shape_mismatch,
                    "a window of " + std::to_string(reach) + " is longer than its padded axis");
      output = room / stride + 1;
      // A last window that hangs over, but begins within the operand or the padding before it.
      if (ceil_mode && room % stride != 0 && output * stride < extents[i] + low) {
        ++output;
        made.overhang[i] = stride - room % stride;
      }
    }
    made.pads.emplace_back(low, high);
    made.output.push_back(output);
  }
  return made;
}

}  // namespace stoker::onnx
