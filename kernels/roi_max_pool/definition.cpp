#include "stoker/kernels/indexing/boxes.hpp"
#include "stoker/kernels/roi_max_pool/options.hpp"
#include "stoker/kernels/rules.hpp"

namespace stoker::kernels::roi_max_pool {
namespace {

constexpr const char* op = "roi_max_pool";

Result<std::vector<TensorSpec>> infer(const KernelCall& call) {
  const auto given = options::from<RoiMaxPool>(call.params);
  return indexing::bins_of_boxes(op, call, given.height, given.width);
}

std::shared_ptr<const Shader> make_shader() {
  Shader shader;
  shader.name = op;
  shader.file = "roi_max_pool/roi_max_pool.glsl";
  shader.bindings = {{.name = "x", .type = "T"},
                     {.name = "boxes", .type = "T"},
                     {.name = "images", .type = "s32"},
                     {.name = "y", .type = "T", .writes = true}};
  shader.push = {{"n"},       {"batch"},  {"channels"}, {"rows"},
                 {"columns"}, {"height"}, {"width"},    {"scale", PushType::f32}};
  shader.variants = rules::variants_of("T", rules::float_dtypes());
  return std::make_shared<const Shader>(std::move(shader));
}

Result<GpuPlan> gpu_plan(const Shader& shader, const KernelCall& call, const TensorSpec& result) {
  STOKER_TRY(rules::gpu_indexable(op, call.inputs));
  STOKER_TRY(rules::gpu_indexable(op, {&result, 1}));
  const auto given = options::from<RoiMaxPool>(call.params);
  const Shape& x = call.shape();
  const std::uint64_t n = result.elements();
  if (n == 0) return GpuPlan{};
  GpuPass pass;
  pass.shader = &shader;
  pass.variant = std::string{to_string(call.dtype())};
  pass.bindings = {input(0), input(1), input(2), output()};
  pass.push.u32(n).u32(x[0]).u32(x[1]).u32(x[2]).u32(x[3]).u32(given.height).u32(given.width);
  pass.push.f32(given.scale);
  pass.groups = linear_groups_for(n, shader.local_size[0]);
  // A bin may be the whole image. Each row takes a round of its own, and one more to see the end of its pixels.
  pass.rounds = static_cast<std::uint64_t>(x[2]) * static_cast<std::uint64_t>(x[3] + 2) + 1;
  return GpuPlan{.passes = {std::move(pass)}, .scratch_bytes = {}};
}

}  // namespace

Result<void> define(KernelRegistry& registry) {
  auto kernel = kernel_of<RoiMaxPool>();
  kernel.family = "window";
  kernel.summary =
      "the largest pixel, without those that are NaN, of each of height by width bins of boxes "
      "[x1, y1, x2, y2] of images[k], whose corners are rounded to pixels that belong to the box; "
      "0 where a bin has no pixel of the image, minus infinity where all are NaN";
  kernel.source = "R. Girshick, Fast R-CNN (2015)";
  kernel.inputs = {3, 3};
  kernel.dtypes = rules::float_dtypes();
  kernel.infer = infer;
  const auto shader = make_shader();
  kernel.shaders = {shader};
  kernel.gpu = [shader](const KernelCall& call, std::span<const TensorSpec> outputs,
                        const GpuTraits&) { return gpu_plan(*shader, call, outputs[0]); };
  return registry.add(std::move(kernel));
}

}  // namespace stoker::kernels::roi_max_pool
