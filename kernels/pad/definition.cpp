#include <algorithm>

#include "stoker/kernels/indexing/indices.hpp"
#include "stoker/kernels/pad/options.hpp"
#include "stoker/kernels/pad/padding.hpp"
#include "stoker/kernels/rules.hpp"
#include "stoker/kernels/single_output.hpp"

namespace stoker::kernels::pad {
namespace {

Result<std::vector<TensorSpec>> infer(const KernelCall& call) {
  const TensorSpec& value = call.inputs[1];
  if (value.dtype != call.dtype()) return rules::dtypes_differ("pad", call.inputs[0], value);
  if (value.elements() != 1)
    return Error{"pad",
                 ErrorCode::shape_mismatch,
                 "the padding value is " + value.to_string() + ", expected a scalar",
                 {{"value", value.shape.to_string()}}};
  STOKER_ASSIGN(const Shape shape, padded_shape(call));
  return std::vector{TensorSpec{call.dtype(), shape}};
}

std::shared_ptr<const Shader> make_shader() {
  Shader shader;
  shader.name = "pad";
  shader.file = "pad/pad.glsl";
  shader.bindings = {{.name = "x", .type = "T"},
                     {.name = "value", .type = "T"},
                     {.name = "y", .type = "T", .writes = true}};
  shader.push = {
      {"n"}, {"extents", PushType::u32, 8}, {"from", PushType::u32, 8}, {"lows", PushType::s32, 8}};
  // Steps are no push fields: the usual 1 costs no division, and four lists would not fit.
  shader.constants = {{"rank", 1}, {"unit", 4}, {"wide"}};
  for (std::size_t axis = 0; axis < Shape::max_rank; ++axis)
    shader.constants.push_back({"step" + std::to_string(axis), 1});
  shader.variants = indexing::bits_variants();
  return std::make_shared<const Shader>(std::move(shader));
}

Result<GpuPlan> plan(const Shader& shader, const KernelCall& call, const TensorSpec& result) {
  STOKER_TRY(rules::gpu_indexable("pad", std::vector{call.inputs[0], result}));
  const Padding all = padding(call, result.shape);
  constexpr std::int64_t most = (std::int64_t{1} << 31) - 1;
  for (const Axis& axis : all.axes)
    if (axis.extent - axis.low > most)
      return Error{"pad",
                   ErrorCode::limit_exceeded,
                   "crops more entries than a GPU kernel can count",
                   {{"low", std::to_string(axis.low)}, {"limit", std::to_string(most)}}};
  const bool narrow = size_of(call.dtype()) < 8;
  const Axis& inner = all.inner();
  // Four 8-byte elements are more than a thread stores at once.
  const std::uint32_t unit = narrow ? 4 : 1;
  const bool wide = narrow && inner.step == 1 && inner.extent % 4 == 0 && inner.from % 4 == 0 &&
                    inner.low % 4 == 0;
  const std::size_t n = result.elements();
  GpuPass pass;
  pass.shader = &shader;
  pass.variant = to_string(indexing::bits_of(call.dtype()));
  pass.bindings = {input(0), input(1), output()};
  pass.constants = {static_cast<std::uint32_t>(all.axes.size()), unit, wide};
  pass.push.u32(n);
  const auto push_all = [&](std::int64_t Axis::*field, std::uint32_t rest) {
    std::vector<std::int64_t> values;
    for (const Axis& axis : all.axes) values.push_back(axis.*field);
    pass.push.u32s(values, 8, rest);
  };
  push_all(&Axis::extent, 1);
  push_all(&Axis::from, 1);
  push_all(&Axis::low, 0);
  for (std::size_t axis = 0; axis < Shape::max_rank; ++axis)
    pass.constants.push_back(static_cast<std::uint32_t>(
        axis < all.axes.size() ? std::min(all.axes[axis].step, most) : 1));
  pass.groups = linear_groups_for((n + unit - 1) / unit, shader.local_size[0]);
  return GpuPlan{.passes = {std::move(pass)}, .scratch_bytes = {}};
}

}  // namespace

Result<void> define(KernelRegistry& registry) {
  auto kernel = kernel_of<Pad>();
  kernel.family = "indexing";
  kernel.summary =
      "x with values inserted: interior between neighbours, low before the first entry and high "
      "after the last";
  kernel.source = "XLA operation semantics, Pad";
  kernel.inputs = {2, 2};
  kernel.dtypes = rules::all_dtypes();
  kernel.infer = infer;
  rules::use_shader(kernel, make_shader(), &plan);
  return registry.add(std::move(kernel));
}

}  // namespace stoker::kernels::pad
