#include "stoker/kernels/boxes/boxes.hpp"

#include <utility>

#include "stoker/kernels/rules.hpp"
#include "stoker/kernels/single_output.hpp"

namespace stoker::kernels::boxes {
namespace {

Result<std::vector<TensorSpec>> infer(const std::string& op, const KernelCall& call,
                                      const Bins& bins) {
  const Shape& x = call.shape(0);
  const Shape& boxes = call.shape(1);
  if (call.dtype(1) != call.dtype())
    return rules::dtypes_differ(op, call.inputs[0], call.inputs[1]);
  if (call.dtype(2) != DType::s32)
    return Error{op,
                 ErrorCode::dtype_mismatch,
                 "the image of each box is s32, came " + call.inputs[2].to_string(),
                 {{"images", call.inputs[2].to_string()}}};
  if (x.rank() != 4 || boxes.rank() != 2 || boxes[1] != 4 || call.shape(2) != Shape{boxes[0]})
    return Error{op,
                 ErrorCode::shape_mismatch,
                 "expected images [n, channels, rows, columns], boxes [k, 4] and their images [k]",
                 {{"input", x.to_string()},
                  {"boxes", boxes.to_string()},
                  {"images", call.shape(2).to_string()}}};
  const std::int64_t extents[] = {boxes[0], x[1], bins.height, bins.width};
  STOKER_ASSIGN(const Shape shape, Shape::try_make(extents, op));
  if (!shape.empty() && x.empty())
    return Error{op,
                 ErrorCode::shape_mismatch,
                 "images without a pixel, and boxes in them",
                 {{"input", x.to_string()}, {"boxes", boxes.to_string()}}};
  return std::vector{TensorSpec{call.dtype(), shape}};
}

std::shared_ptr<const Shader> make_shader(const std::string& name, const Pooling& pooling) {
  Shader shader;
  shader.name = name;
  shader.file = pooling.shader;
  shader.bindings = {{.name = "x", .type = "T"},
                     {.name = "boxes", .type = "T"},
                     {.name = "images", .type = "s32"},
                     {.name = "y", .type = "T", .writes = true}};
  shader.push = {{"n"},       {"batch"},  {"channels"}, {"rows"},
                 {"columns"}, {"height"}, {"width"},    {"scale", PushType::f32}};
  shader.push.insert(shader.push.end(), pooling.push.begin(), pooling.push.end());
  shader.variants = rules::variants_of("T", rules::float_dtypes());
  return std::make_shared<const Shader>(std::move(shader));
}

Result<GpuPlan> gpu_plan(const Shader& shader, const Pooling& pooling, const KernelCall& call,
                         const TensorSpec& result) {
  STOKER_TRY(rules::gpu_indexable(shader.name, call.inputs));
  STOKER_TRY(rules::gpu_indexable(shader.name, {&result, 1}));
  const Bins bins = pooling.bins(call);
  const Shape& x = call.shape();
  const std::uint64_t n = result.elements();
  GpuPass pass;
  pass.shader = &shader;
  pass.variant = std::string{to_string(call.dtype())};
  pass.bindings = {input(0), input(1), input(2), output()};
  pass.push.u32(n).u32(x[0]).u32(x[1]).u32(x[2]).u32(x[3]).u32(bins.height).u32(bins.width);
  pass.push.f32(bins.scale);
  pass.groups = linear_groups_for(n, shader.local_size[0]);
  pooling.finish(call, pass);
  return GpuPlan{.passes = {std::move(pass)}, .scratch_bytes = {}};
}

}  // namespace

void pool_bins(Kernel& kernel, Pooling pooling) {
  kernel.family = "window";
  kernel.inputs = {3, 3};
  kernel.dtypes = rules::float_dtypes();
  kernel.infer = [op = kernel.name, bins = pooling.bins](const KernelCall& call) {
    return infer(op, call, bins(call));
  };
  const auto shader = make_shader(kernel.name, pooling);
  rules::use_shader(kernel, shader,
                    [pooling = std::move(pooling)](const Shader& own, const KernelCall& call,
                                                   const TensorSpec& result) {
                      return gpu_plan(own, pooling, call, result);
                    });
}

}  // namespace stoker::kernels::boxes
