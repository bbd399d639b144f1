#include "stoker/kernels/conv/problem.hpp"

#include <algorithm>
#include <utility>

#include "stoker/kernels/conv/options.hpp"
#include "stoker/kernels/processor.hpp"

namespace stoker::kernels::conv {
namespace {

using Order = std::array<std::size_t, Shape::max_rank>;

Error refuse(const KernelCall& call, ErrorCode code, std::string reason) {
  return Error{"conv",
               code,
               std::move(reason),
               {{"input", call.inputs[0].to_string()}, {"kernel", call.inputs[1].to_string()}}};
}

/// Where in memory each canonical axis lies, by the option `name`. Empty: in that order.
Result<Order> order(const KernelCall& call, const char* name, const Extents& option) {
  const std::size_t rank = call.shape().rank();
  const std::vector<std::int64_t>& given = option.list();
  Order result{};
  for (std::size_t i = 0; i < rank; ++i) result[i] = i;
  if (given.empty()) return result;
  std::array<bool, Shape::max_rank> seen{};
  bool fits = given.size() == rank;
  for (std::size_t i = 0; fits && i < rank; ++i) {
    fits = given[i] >= 0 && given[i] < static_cast<std::int64_t>(rank) &&
           !std::exchange(seen[static_cast<std::size_t>(given[i])], true);
    if (fits) result[i] = static_cast<std::size_t>(given[i]);
  }
  if (!fits)
    return refuse(call, ErrorCode::invalid_parameter,
                  std::string{name} + ": expected each axis from 0 to " + std::to_string(rank - 1) +
                      " once, got " + to_string(ParamValue{given}));
  return result;
}

/// The kernel as [outputs, channels, taps…].
struct KernelExtents {
  std::int64_t outputs = 0, channels = 0;
  std::int64_t block = 0;  ///< as Problem::kernel_block
  std::array<std::int64_t, Problem::max_axes> taps{};
};

Result<KernelExtents> kernel_extents(const KernelCall& call, const Conv& given) {
  const Shape& shape = call.shape(1);
  const std::size_t spatial = call.shape().rank() - 2;
  KernelExtents result;
  if (!given.kernel_blocked) {
    STOKER_ASSIGN(const Order k, order(call, "kernel_axes", given.kernel_axes));
    result.outputs = shape[k[0]];
    result.channels = shape[k[1]];
    for (std::size_t axis = 0; axis < spatial; ++axis) result.taps[axis] = shape[k[axis + 2]];
    return result;
  }
  result.block = shape[spatial + 2];
  const bool fits = (result.block == 8 || result.block == 16) &&
                    shape[spatial + 3] == result.block && given.feature_groups == 1 &&
                    given.batch_groups == 1 && !given.flip && given.kernel_axes.list().empty();
  if (!fits)
    return refuse(call, ErrorCode::invalid_parameter,
                  "kernel_blocked: the kernel ends with 8 channels and 8 outputs, or with 16 of "
                  "each, and there are no groups, no order of its axes and no flip");
  result.outputs = shape[0] * result.block;
  result.channels = shape[1] * result.block;
  for (std::size_t axis = 0; axis < spatial; ++axis) result.taps[axis] = shape[axis + 2];
  return result;
}

/// The option's entry of spatial axis `axis`.
std::int64_t entry(const Extents& option, std::size_t axis, std::int64_t fallback) {
  return option.list().empty() ? fallback : option.list()[axis];
}

Axis axis_of(const Conv& given, std::size_t axis, std::int64_t in, std::int64_t taps) {
  Axis result;
  result.in = in;
  result.taps = taps;
  result.stride = entry(given.strides, axis, 1);
  result.tap_step = entry(given.kernel_dilation, axis, 1);
  result.spread = entry(given.input_dilation, axis, 1);
  result.low = entry(given.padding_low, axis, 0);
  return result;
}

Result<std::int64_t> out_extent(const KernelCall& call, const Conv& given, std::size_t axis,
                                const Axis& of) {
  constexpr std::int64_t most = std::int64_t{1} << 40;
  if (of.in > most / of.spread || of.taps > most / of.tap_step)
    return refuse(call, ErrorCode::limit_exceeded,
                  "spatial axis " + std::to_string(axis) + " would become too long by dilation");
  const std::int64_t wide = of.in == 0 ? 0 : (of.in - 1) * of.spread + 1;
  const std::int64_t padded = wide + of.low + entry(given.padding_high, axis, 0);
  if (padded < 0)
    return refuse(call, ErrorCode::invalid_parameter,
                  "padding: spatial axis " + std::to_string(axis) + " is cropped to " +
                      std::to_string(padded) + " entries");
  const std::int64_t room = padded - (of.taps == 0 ? 0 : of.reach());
  return room < 0 ? 0 : room / of.stride + 1;
}

}  // namespace

std::int64_t library_block() noexcept { return processor::has_v4() ? 16 : 8; }

Result<TensorSpec> infer(const KernelCall& call) {
  const std::size_t rank = call.shape().rank();
  if (call.dtype(0) != call.dtype(1))
    return refuse(call, ErrorCode::dtype_mismatch,
                  "dtype mismatch: input " + call.inputs[0].to_string() + ", kernel " +
                      call.inputs[1].to_string());
  const auto given = options::from<Conv>(call.params);
  const std::size_t more_axes = given.kernel_blocked ? 2 : 0;
  if (rank + more_axes != call.shape(1).rank() || rank < 3)
    return refuse(call, ErrorCode::shape_mismatch,
                  "input and kernel have batch (or output), channels and the same one to six "
                  "spatial axes: input " +
                      call.shape().to_string() + ", kernel " + call.shape(1).to_string());
  for (const auto& [name, option] : {std::pair{"strides", &given.strides},
                                     {"padding_low", &given.padding_low},
                                     {"padding_high", &given.padding_high},
                                     {"input_dilation", &given.input_dilation},
                                     {"kernel_dilation", &given.kernel_dilation}}) {
    const std::size_t entries = option->list().size();
    if (entries != 0 && entries != rank - 2)
      return refuse(call, ErrorCode::invalid_parameter,
                    std::string{name} + ": expected one entry for each of " +
                        std::to_string(rank - 2) + " spatial axes, got " + std::to_string(entries));
  }
  STOKER_ASSIGN(const Order x, order(call, "input_axes", given.input_axes));
  STOKER_ASSIGN(const KernelExtents k, kernel_extents(call, given));
  STOKER_ASSIGN(const Order y, order(call, "output_axes", given.output_axes));
  const std::int64_t features = given.feature_groups, batches = given.batch_groups;
  const std::int64_t batch = call.shape()[x[0]], channels = call.shape()[x[1]];
  const std::int64_t outputs = k.outputs, taken = k.channels;
  if (features != 1 && batches != 1)
    return refuse(call, ErrorCode::invalid_parameter,
                  "feature groups (" + std::to_string(features) + ") and batch groups (" +
                      std::to_string(batches) + ") exclude each other");
  if (channels % features != 0 || channels / features != taken)
    return refuse(call, ErrorCode::shape_mismatch,
                  "shape mismatch: the input has " + std::to_string(channels) + " channels in " +
                      std::to_string(features) + " groups, the kernel takes " +
                      std::to_string(taken) + ": input " + call.shape().to_string() + ", kernel " +
                      call.shape(1).to_string());
  if (outputs % (features * batches) != 0)
    return refuse(call, ErrorCode::shape_mismatch,
                  "shape mismatch: " + std::to_string(outputs) + " outputs do not divide into " +
                      std::to_string(features * batches) + " groups: kernel " +
                      call.shape(1).to_string());
  if (batch % batches != 0)
    return refuse(call, ErrorCode::shape_mismatch,
                  "shape mismatch: a batch of " + std::to_string(batch) + " does not divide into " +
                      std::to_string(batches) + " groups: input " + call.shape().to_string());
  std::array<std::int64_t, Shape::max_rank> extents{};
  extents[y[0]] = batch / batches;
  extents[y[1]] = outputs;
  for (std::size_t axis = 0; axis + 2 < rank; ++axis) {
    const Axis of = axis_of(given, axis, call.shape()[x[axis + 2]], k.taps[axis]);
    STOKER_ASSIGN(extents[y[axis + 2]], out_extent(call, given, axis, of));
  }
  STOKER_ASSIGN(const Shape shape, Shape::try_make(std::span{extents}.first(rank), "conv"));
  return TensorSpec{call.dtype(), shape};
}

Problem describe(const KernelCall& call, const Shape& output) {
  const auto given = options::from<Conv>(call.params);
  const Order x = order(call, "input_axes", given.input_axes).value();
  const KernelExtents k = kernel_extents(call, given).value();
  const Order y = order(call, "output_axes", given.output_axes).value();
  const auto in = call.shape().strides(), out = output.strides();
  Problem p;
  p.kernel_block = k.block;
  p.winograd = given.winograd;
  p.batch_groups = given.batch_groups > 1;
  p.groups = std::max(given.batch_groups, given.feature_groups);
  p.images = output[y[0]];
  p.channels = k.channels;
  p.outputs = k.outputs / p.groups;
  p.x_image = in[x[0]];
  p.x_channel = in[x[1]];
  p.x_group = p.batch_groups ? p.images * p.x_image : p.channels * p.x_channel;
  std::array<std::int64_t, Problem::max_axes> k_steps{};
  if (p.kernel_block == 0) {
    const Order axes = order(call, "kernel_axes", given.kernel_axes).value();
    const auto steps = call.shape(1).strides();
    p.k_output = steps[axes[0]];
    p.k_channel = steps[axes[1]];
    p.k_group = p.outputs * p.k_output;
    for (std::size_t axis = 0; axis + 2 < output.rank(); ++axis)
      k_steps[axis] = steps[axes[axis + 2]];
  }
  p.y_image = out[y[0]];
  p.y_output = out[y[1]];
  p.y_group = p.outputs * p.y_output;
  for (std::size_t axis = 0; axis + 2 < output.rank(); ++axis) {
    Axis of = axis_of(given, axis, call.shape()[x[axis + 2]], k.taps[axis]);
    of.out = output[y[axis + 2]];
    of.x_step = in[x[axis + 2]];
    of.k_step = k_steps[axis];
    of.y_step = out[y[axis + 2]];
    of = of.without_unused_steps();
    if (of.out == 1 && of.taps == 1 && of.in == 1 && of.low == 0) continue;
    if (given.flip && of.taps > 1) {
      p.flipped = true;
      p.k_first += (of.taps - 1) * of.k_step;
      of.k_step = -of.k_step;
    }
    p.axes[p.rank++] = of;
  }
  return p;
}

Problem with_dense_kernel(Problem p) noexcept {
  std::int64_t step = 1;
  for (std::size_t axis = p.rank; axis-- > 0; step *= p.axes[axis].taps) p.axes[axis].k_step = step;
  p.k_channel = step;
  p.k_output = p.channels * p.k_channel;
  p.k_group = p.outputs * p.k_output;
  p.k_first = 0;
  p.flipped = false;
  p.kernel_block = 0;
  return p;
}

}  // namespace stoker::kernels::conv
