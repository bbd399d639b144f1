#include "stoker/kernels/conv2d/problem.hpp"

#include <string>
#include <vector>

#include "stoker/kernels/conv2d/options.hpp"

namespace stoker::kernels::conv2d {
namespace {

Error refuse(const KernelCall& call, ErrorCode code, std::string reason) {
  std::vector<Detail> details{{"input", call.inputs[0].to_string()},
                              {"weights", call.inputs[1].to_string()}};
  if (call.inputs.size() == 3) details.push_back({"bias", call.inputs[2].to_string()});
  return Error{"conv2d", code, std::move(reason), std::move(details)};
}

/// The option `name`: one value for each of `count` places, or one for all of them, or (padding) one
/// for each axis.
Result<std::vector<std::int64_t>> values(const char* name, const Extents& given,
                                         std::size_t count) {
  std::vector<std::int64_t> list = given.list();
  if (list.size() == 1) list.assign(count, list[0]);
  if (count == 4 && list.size() == 2) list = {list[0], list[1], list[0], list[1]};
  if (list.size() == count) return list;
  return Error{"conv2d",
               ErrorCode::invalid_parameter,
               std::string{name} + ": expected " + (count == 4 ? "1, 2 or 4" : "1 or 2") +
                   " values, got " + std::to_string(list.size()),
               {{"parameter", name}, {"got", std::to_string(list.size())}}};
}

Result<void> check_inputs(const KernelCall& call, std::int64_t groups) {
  for (std::size_t i = 1; i < call.inputs.size(); ++i)
    if (call.dtype(i) != call.dtype(0))
      return refuse(call, ErrorCode::dtype_mismatch,
                    "dtype mismatch: input " + call.inputs[0].to_string() + ", " +
                        (i == 1 ? "weights " : "bias ") + call.inputs[i].to_string());
  const Shape& x = call.shape(0);
  const Shape& w = call.shape(1);
  if (x.rank() != 4)
    return refuse(call, ErrorCode::shape_mismatch,
                  "expected an input [images, channels, height, width], got " + x.to_string());
  if (w.rank() != 4)
    return refuse(
        call, ErrorCode::shape_mismatch,
        "expected weights [outputs, channels / groups, height, width], got " + w.to_string());
  if (x[1] % groups != 0 || x[1] / groups != w[1])
    return refuse(call, ErrorCode::shape_mismatch,
                  "the input has " + std::to_string(x[1]) + " channels, the weights take " +
                      std::to_string(w[1]) + " in each of " + std::to_string(groups) + " groups");
  if (w[0] % groups != 0)
    return refuse(
        call, ErrorCode::shape_mismatch,
        std::to_string(w[0]) + " outputs do not divide into " + std::to_string(groups) + " groups");
  if (w[2] == 0 || w[3] == 0)
    return refuse(call, ErrorCode::shape_mismatch, "the weights are empty: " + w.to_string());
  if (call.inputs.size() == 3 && call.shape(2) != Shape{w[0]})
    return refuse(
        call, ErrorCode::shape_mismatch,
        "expected a bias [" + std::to_string(w[0]) + "], got " + call.shape(2).to_string());
  return {};
}

/// An axis of the padded input, of which `before` zeros come first.
Result<conv::Axis> axis_of(const KernelCall& call, std::size_t axis, std::int64_t stride,
                           std::int64_t dilation, std::int64_t before, std::int64_t behind) {
  const Shape& x = call.shape(0);
  const Shape& w = call.shape(1);
  conv::Axis result;
  result.in = x[axis];
  result.taps = w[axis];
  result.stride = stride;
  result.tap_step = dilation;
  result.low = before;
  // So that everything below stays within 64 bits.
  constexpr std::int64_t most = std::int64_t{1} << 60;
  if (result.taps > most / dilation)
    return refuse(call, ErrorCode::shape_mismatch,
                  "the weights " + w.to_string() + " become too long by dilation");
  // What is left of the padded input beside one whole kernel.
  const std::int64_t room = result.in + before + behind - result.reach();
  if (room < 0)
    return refuse(
        call, ErrorCode::shape_mismatch,
        "the weights " + w.to_string() + " do not fit into the padded input " + x.to_string());
  result.out = room / stride + 1;
  return result;
}

}  // namespace

Result<conv::Problem> describe(const KernelCall& call) {
  const auto given = options::from<Conv2d>(call.params);
  STOKER_TRY(check_inputs(call, given.groups));
  STOKER_ASSIGN(const auto stride, values("stride", given.stride, 2));
  STOKER_ASSIGN(const auto dilation, values("dilation", given.dilation, 2));
  STOKER_ASSIGN(const auto padding, values("padding", given.padding, 4));
  STOKER_ASSIGN(conv::Axis down, axis_of(call, 2, stride[0], dilation[0], padding[0], padding[2]));
  STOKER_ASSIGN(conv::Axis across,
                axis_of(call, 3, stride[1], dilation[1], padding[1], padding[3]));
  const Shape& x = call.shape(0);
  const Shape& w = call.shape(1);
  // The steps below are products of extents: within 64 bits if all three tensors can be counted.
  const std::int64_t extents[] = {x[0], w[0], down.out, across.out};
  STOKER_TRY(Shape::try_make(extents, "conv2d"));
  down.x_step = across.in;
  down.k_step = across.taps;
  down.y_step = across.out;
  across.x_step = across.k_step = across.y_step = 1;

  conv::Problem p;
  p.groups = given.groups;
  p.images = x[0];
  p.channels = w[1];
  p.outputs = w[0] / p.groups;
  p.bias = call.inputs.size() == 3;
  p.x_channel = down.in * across.in;
  p.x_group = p.channels * p.x_channel;
  p.x_image = p.groups * p.x_group;
  p.k_channel = down.taps * across.taps;
  p.k_output = p.channels * p.k_channel;
  p.k_group = p.outputs * p.k_output;
  p.y_output = down.out * across.out;
  p.y_group = p.outputs * p.y_output;
  p.y_image = p.groups * p.y_group;
  p.rank = 2;
  p.axes[0] = down.without_unused_steps();
  p.axes[1] = across.without_unused_steps();
  return p;
}

}  // namespace stoker::kernels::conv2d
