#include "stoker/kernels/indexing/boxes.hpp"
#include "stoker/kernels/roi_align/options.hpp"
#include "stoker/kernels/rules.hpp"

namespace stoker::kernels::roi_align {
namespace {

constexpr const char* op = "roi_align";

Result<std::vector<TensorSpec>> infer(const KernelCall& call) {
  const auto given = options::from<RoiAlign>(call.params);
  return indexing::bins_of_boxes(op, call, given.height, given.width);
}

std::shared_ptr<const Shader> make_shader() {
  Shader shader;
  shader.name = op;
  shader.file = "roi_align/roi_align.glsl";
  shader.bindings = {{.name = "x", .type = "T"},
                     {.name = "boxes", .type = "T"},
                     {.name = "images", .type = "s32"},
                     {.name = "y", .type = "T", .writes = true}};
  shader.push = {{"n"},       {"batch"},      {"channels"}, {"rows"},
                 {"columns"}, {"height"},     {"width"},    {"samples"},
                 {"most"},    {"half_pixel"}, {"largest"},  {"scale", PushType::f32}};
  shader.variants = rules::variants_of("T", rules::float_dtypes());
  return std::make_shared<const Shader>(std::move(shader));
}

/// Of a bin's samples that lie in the image, with a round for each row and one to see its end: samples are at least
/// half a pixel apart, unless there are that many anyway.
std::uint64_t most_rounds(const RoiAlign& given, const Shape& x) {
  const auto along = [&](std::int64_t extent) {
    return static_cast<std::uint64_t>(given.samples > 0 ? given.samples : 2 * (extent + 3) + 3);
  };
  return along(x[2]) * (along(x[3]) + 2) + 1;
}

Result<GpuPlan> gpu_plan(const Shader& shader, const KernelCall& call, const TensorSpec& result) {
  STOKER_TRY(rules::gpu_indexable(op, call.inputs));
  STOKER_TRY(rules::gpu_indexable(op, {&result, 1}));
  const auto given = options::from<RoiAlign>(call.params);
  const Shape& x = call.shape();
  const std::uint64_t n = result.elements();
  if (n == 0) return GpuPlan{};
  GpuPass pass;
  pass.shader = &shader;
  pass.variant = std::string{to_string(call.dtype())};
  pass.bindings = {input(0), input(1), input(2), output()};
  pass.push.u32(n).u32(x[0]).u32(x[1]).u32(x[2]).u32(x[3]).u32(given.height).u32(given.width);
  pass.push.u32(given.samples).u32(RoiAlign::most_samples).u32(given.half_pixel ? 1 : 0);
  pass.push.u32(given.pool == RegionPool::max ? 1 : 0).f32(given.scale);
  pass.groups = linear_groups_for(n, shader.local_size[0]);
  pass.rounds = most_rounds(given, x);
  return GpuPlan{.passes = {std::move(pass)}, .scratch_bytes = {}};
}

}  // namespace

Result<void> define(KernelRegistry& registry) {
  auto kernel = kernel_of<RoiAlign>();
  kernel.family = "window";
  kernel.summary =
      "images in boxes [x1, y1, x2, y2] of images[k], each in height by width bins, whose bilinear "
      "samples are pooled; a sample more than a pixel outside of the image is 0";
  kernel.source = "K. He, G. Gkioxari, P. Dollar, R. Girshick, Mask R-CNN (2017)";
  kernel.inputs = {3, 3};
  kernel.dtypes = rules::float_dtypes();
  kernel.infer = infer;
  const auto shader = make_shader();
  kernel.shaders = {shader};
  kernel.gpu = [shader](const KernelCall& call, std::span<const TensorSpec> outputs,
                        const GpuTraits&) { return gpu_plan(*shader, call, outputs[0]); };
  return registry.add(std::move(kernel));
}

}  // namespace stoker::kernels::roi_align
