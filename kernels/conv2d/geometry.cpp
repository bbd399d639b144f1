#include "stoker/kernels/conv2d/geometry.hpp"

#include <string>
#include <vector>

namespace stoker::kernels::conv2d {
namespace {

Error refuse(const KernelCall& call, ErrorCode code, std::string reason) {
  std::vector<Detail> details{{"input", call.inputs[0].to_string()},
                              {"weights", call.inputs[1].to_string()}};
  if (call.inputs.size() == 3) details.push_back({"bias", call.inputs[2].to_string()});
  return Error{"conv2d", code, std::move(reason), std::move(details)};
}

/// A list parameter with one value for each of `count` places, or one for all of them, or (padding)
/// one for each axis.
Result<std::vector<std::int64_t>> values(const KernelCall& call, const char* name,
                                         std::size_t count) {
  std::vector<std::int64_t> list = call.params.integers(name);
  if (list.size() == 1) list.assign(count, list[0]);
  if (count == 4 && list.size() == 2) list = {list[0], list[1], list[0], list[1]};
  if (list.size() == count) return list;
  return Error{"conv2d",
               ErrorCode::invalid_parameter,
               std::string{name} + ": expected " + (count == 4 ? "1, 2 or 4" : "1 or 2") +
                   " values, got " + std::to_string(list.size()),
               {{"parameter", name}, {"got", std::to_string(list.size())}}};
}

Result<void> check_inputs(const KernelCall& call) {
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
  const std::int64_t groups = call.params.integer("groups");
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

}  // namespace

Result<Geometry> describe(const KernelCall& call) {
  STOKER_TRY(check_inputs(call));
  STOKER_ASSIGN(const auto stride, values(call, "stride", 2));
  STOKER_ASSIGN(const auto dilation, values(call, "dilation", 2));
  STOKER_ASSIGN(const auto padding, values(call, "padding", 4));
  const Shape& x = call.shape(0);
  const Shape& w = call.shape(1);
  Geometry g;
  g.images = x[0];
  g.channels = x[1];
  g.in_h = x[2];
  g.in_w = x[3];
  g.out_channels = w[0];
  g.kernel_h = w[2];
  g.kernel_w = w[3];
  g.stride_h = stride[0];
  g.stride_w = stride[1];
  g.dilation_h = dilation[0];
  g.dilation_w = dilation[1];
  g.pad_top = padding[0];
  g.pad_left = padding[1];
  g.pad_bottom = padding[2];
  g.pad_right = padding[3];
  g.groups = call.params.integer("groups");
  g.bias = call.inputs.size() == 3;

  // So that everything below stays within 64 bits.
  constexpr std::int64_t most = std::int64_t{1} << 60;
  if (g.kernel_h > most / g.dilation_h || g.kernel_w > most / g.dilation_w)
    return refuse(call, ErrorCode::shape_mismatch,
                  "the weights " + w.to_string() + " become too long by dilation");
  // What is left of the padded input beside one whole kernel.
  const std::int64_t free_h =
      g.in_h + g.pad_top + g.pad_bottom - g.dilation_h * (g.kernel_h - 1) - 1;
  const std::int64_t free_w =
      g.in_w + g.pad_left + g.pad_right - g.dilation_w * (g.kernel_w - 1) - 1;
  if (free_h < 0 || free_w < 0)
    return refuse(
        call, ErrorCode::shape_mismatch,
        "the weights " + w.to_string() + " do not fit into the padded input " + x.to_string());
  g.out_h = free_h / g.stride_h + 1;
  g.out_w = free_w / g.stride_w + 1;
  return g;
}

}  // namespace stoker::kernels::conv2d
