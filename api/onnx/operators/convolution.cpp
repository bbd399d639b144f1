// Convolutions.
#include "stoker/api/tensor/math/convolution.hpp"

#include <algorithm>

#include "stoker/api/onnx/core/operator.hpp"
#include "stoker/api/onnx/core/spatial.hpp"
#include "stoker/api/onnx/core/stored_weights.hpp"
#include "stoker/api/tensor/math/elementwise.hpp"
#include "stoker/api/tensor/views/manipulation.hpp"
#include "stoker/kernels/conv/problem.hpp"
#include "stoker/pipeline/tensor/graph/op.hpp"

namespace stoker::onnx::operators::convolution {
namespace {

Tensor with_bias(const Call& call, const Tensor& y, std::size_t i) {
  if (!call.has(i)) return y;
  Axes extents(y.rank(), 1);
  extents[1] = -1;
  return y + reshape(call.x(i), extents);
}

Axes kernel_extents(const Call& call) {
  Axes extents = spatial_extents(call, call.shape(1));
  if (call.node().integers("kernel_shape", extents) != extents)
    call.refuse(ErrorCode::shape_mismatch,
                "kernel_shape is not that of the kernel " + call.shape(1).to_string());
  return extents;
}

/// What the pass `winograd` leaves.
bool asks_for_winograd(const Call& call) {
  return call.node().flag("winograd", false) && call.type(0) == ElementType::f32 &&
         call.type(1) == ElementType::f32;
}

/// Whether putting these constant weights into blocks for the CPU's library in each run would take a while beside the
/// convolution: they are more than the f32 images.
bool likes_blocks(const Call& call, const Spatial& spatial) {
  const std::int64_t block = kernels::conv::library_block();
  constexpr double least_work = 1 << 17;
  const Shape &x = call.shape(), &w = call.shape(1);
  if (!call.walker().may_choose_layouts() || !call.input(1).is_constant() ||
      call.type(0) != ElementType::f32 || call.type(1) != ElementType::f32 || x.rank() != 4 ||
      w.rank() != 4)
    return false;
  if (call.node().integer("group", 1) != 1 || x[1] != w[1] || w[0] % block != 0 ||
      w[1] % block != 0)
    return false;
  std::int64_t pixels = x[0];
  for (const std::int64_t extent : spatial.output) pixels *= std::max<std::int64_t>(extent, 0);
  const double work = static_cast<double>(pixels) * static_cast<double>(w.elements());
  // Other channels and outputs the kernel does not take that way.
  const bool whole_sixteens = w[0] % 16 == 0 && w[1] % 16 == 0;
  if (asks_for_winograd(call) && whole_sixteens && pixels >= kernels::conv::winograd_pixels)
    return false;
  return work >= least_work && w.elements() > x.elements() + pixels * w[0] &&
         current_device().info().type == DeviceType::cpu;
}

/// The weights in blocks, put so once; of the plain ones none stays on the device for this.
Tensor blocked_weights(const Call& call) {
  return call.walker().prepared(0, [&call] {
    const std::int64_t block = kernels::conv::library_block();
    const Value& w = call.input(1);
    const Shape& shape = w.shape();
    const Shape apart{shape[0] / block, block, shape[1] / block, block, shape[2], shape[3]};
    const Tensor parts =
        w.is_known() ? w.known().reshaped(apart).tensor() : reshape(w.tensor(), extents_of(apart));
    return transpose(parts, Axes{0, 2, 4, 5, 3, 1});
  });
}

/// `blocked`: the weights lie in blocks.
Tensor conv_by_kernel(const Call& call, const Spatial& spatial, const Tensor& weights,
                      bool blocked) {
  Axes low, high;
  for (const auto& [before, after] : spatial.pads) {
    low.push_back(before);
    high.push_back(after);
  }
  return Tensor{expr::apply_one(expr::find_op("conv"), {call.x(0).value(), weights.value()},
                                {{"strides", spatial.strides},
                                 {"padding_low", low},
                                 {"padding_high", high},
                                 {"input_dilation", Axes{}},
                                 {"kernel_dilation", spatial.dilations},
                                 {"feature_groups", call.node().integer("group", 1)},
                                 {"batch_groups", std::int64_t{1}},
                                 {"input_axes", Axes{}},
                                 {"kernel_axes", Axes{}},
                                 {"output_axes", Axes{}},
                                 {"flip", false},
                                 {"kernel_blocked", blocked},
                                 {"winograd", !blocked}})};
}

Values conv_rule(Call& call) {
  const Spatial spatial = Spatial::of(call, kernel_extents(call));
  if (likes_blocks(call, spatial))
    return {
        call.like(with_bias(call, conv_by_kernel(call, spatial, blocked_weights(call), true), 2))};
  if (asks_for_winograd(call)) {
    const Tensor y = conv_by_kernel(call, spatial, stored_weights(call, 1, 1), false);
    return {call.like(with_bias(call, y, 2))};
  }
  const Tensor y = conv(call.x(0), stored_weights(call, 1, 1),
                        {.strides = spatial.strides,
                         .padding = spatial.pads,
                         .kernel_dilation = spatial.dilations,
                         .feature_group_size = call.node().integer("group", 1)});
  return {call.like(with_bias(call, y, 2))};
}

/// The gradient of a convolution by its input: the operand with stride - 1 zeros between its elements, convolved with
/// the kernel turned round. https://onnx.ai/onnx/operators/onnx__ConvTranspose.html
Values conv_transpose_rule(Call& call) {
  const Node& node = call.node();
  const Axes extents = spatial_extents(call, call.shape());
  const Axes kernel = kernel_extents(call);
  const std::size_t n = extents.size();
  const Axes strides = node.integers("strides", Axes(n, 1));
  const Axes dilations = node.integers("dilations", Axes(n, 1));
  const Axes more = node.integers("output_padding", Axes(n, 0));
  const Axes pads = node.integers("pads", Axes(2 * n, 0));
  const std::string rule = node.text("auto_pad", "NOTSET");
  const auto* wanted = node.integers("output_shape");
  if (kernel.size() != n || strides.size() != n || dilations.size() != n || more.size() != n ||
      pads.size() != 2 * n || (wanted && wanted->size() < n))
    call.refuse(ErrorCode::invalid_parameter,
                "attributes must be for " + std::to_string(n) + " axes");
  std::vector<std::pair<std::int64_t, std::int64_t>> padding;
  for (std::size_t i = 0; i < n; ++i) {
    const std::int64_t reach = (kernel[i] - 1) * dilations[i];
    std::int64_t low = pads[i];
    std::int64_t high = pads[i + n];
    const bool same = rule == "SAME_UPPER" || rule == "SAME_LOWER";
    if (rule == "VALID") low = high = 0;
    if (wanted || same) {
      // A given extent decides about the padding.
      const std::int64_t extent =
          wanted ? (*wanted)[wanted->size() - n + i] : extents[i] * strides[i];
      const std::int64_t both = strides[i] * (extents[i] - 1) + more[i] + reach + 1 - extent;
      low = rule == "SAME_LOWER" ? both - both / 2 : both / 2;
      high = both - low;
    }
    padding.emplace_back(reach - low, reach - high + more[i]);
  }
  // [channels, outputs / groups, …] becomes [outputs, channels / groups, …].
  const std::int64_t groups = node.integer("group", 1);
  const Shape& w = call.shape(1);
  if (groups <= 0 || w[0] % groups != 0)
    call.refuse(ErrorCode::invalid_parameter, "channels are no multiple of the groups");
  Axes apart{groups, w[0] / groups, w[1]};
  Axes order{0, 2, 1};
  Axes joined{groups * w[1], w[0] / groups};
  Axes space;
  for (std::size_t i = 0; i < n; ++i) {
    apart.push_back(kernel[i]);
    order.push_back(static_cast<std::int64_t>(i) + 3);
    joined.push_back(kernel[i]);
    space.push_back(static_cast<std::int64_t>(i) + 2);
  }
  const Tensor turned = reverse(call.x(1), space);
  const Tensor weights = reshape(transpose(reshape(turned, apart), order), joined);
  const Tensor y = conv(call.x(0), weights,
                        {.padding = padding,
                         .input_dilation = strides,
                         .kernel_dilation = dilations,
                         .feature_group_size = groups});
  return {call.like(with_bias(call, y, 2))};
}

}  // namespace

void define(OperatorTable& table) {
  table.add({.name = "Conv",
             .since = {1, 11, 22},
             .least_inputs = 2,
             .most_inputs = 3,
             .types = alike(float_types),
             .attributes = {"auto_pad", "dilations", "group", "kernel_shape", "pads", "strides",
                            "winograd"},
             .lower = &conv_rule});
  table.add({.name = "ConvTranspose",
             .since = {1, 11, 22},
             .least_inputs = 2,
             .most_inputs = 3,
             .types = alike(float_types),
             .attributes = {"auto_pad", "dilations", "group", "kernel_shape", "output_padding",
                            "output_shape", "pads", "strides"},
             .lower = &conv_transpose_rule});
}

}  // namespace stoker::onnx::operators::convolution
