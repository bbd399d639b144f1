#include <algorithm>

#include "stoker/kernels/kernel.hpp"
#include "stoker/kernels/non_max_suppression/options.hpp"
#include "stoker/kernels/rules.hpp"

namespace stoker::kernels::non_max_suppression {
namespace {

constexpr const char* op = "non_max_suppression";

Result<std::vector<TensorSpec>> infer(const KernelCall& call) {
  const Shape& boxes = call.shape(0);
  const Shape& scores = call.shape(1);
  if (call.dtype(1) != call.dtype())
    return rules::dtypes_differ(op, call.inputs[0], call.inputs[1]);
  if (boxes.rank() != 3 || scores.rank() != 3 || boxes[2] != 4 || boxes[0] != scores[0] ||
      boxes[1] != scores[2])
    return Error{op,
                 ErrorCode::shape_mismatch,
                 "expected boxes [batch, n, 4] and scores [batch, classes, n]",
                 {{"boxes", boxes.to_string()}, {"scores", scores.to_string()}}};
  const auto given = options::from<NonMaxSuppression>(call.params);
  const std::int64_t extents[] = {scores[0], scores[1], given.most};
  STOKER_ASSIGN(const Shape chosen, Shape::try_make(extents, op));
  return std::vector<TensorSpec>{{DType::s32, chosen}, {DType::s32, Shape{scores[0], scores[1]}}};
}

std::shared_ptr<const Shader> make_shader() {
  Shader shader;
  shader.name = op;
  shader.file = "non_max_suppression/non_max_suppression.glsl";
  shader.bindings = {{.name = "boxes", .type = "f32"},
                     {.name = "scores", .type = "f32"},
                     {.name = "gone", .type = "u32", .writes = true},
                     {.name = "chosen", .type = "s32", .writes = true},
                     {.name = "counts", .type = "s32", .writes = true}};
  shader.push = {{"lists"},
                 {"classes"},
                 {"n"},
                 {"most"},
                 {"bounded"},
                 {"centers"},
                 {"overlap", PushType::f32},
                 {"least_score", PushType::f32}};
  shader.variants = {{.name = "f32"}};
  return std::make_shared<const Shader>(std::move(shader));
}

Result<GpuPlan> gpu_plan(const Shader& shader, const KernelCall& call,
                         std::span<const TensorSpec> outputs) {
  STOKER_TRY(rules::gpu_indexable(op, call.inputs));
  STOKER_TRY(rules::gpu_indexable(op, outputs));
  const auto given = options::from<NonMaxSuppression>(call.params);
  const Shape& scores = call.shape(1);
  const auto lists = static_cast<std::uint64_t>(scores[0] * scores[1]);
  GpuPlan plan;
  if (lists == 0) return plan;
  const auto n = static_cast<std::uint64_t>(scores[2]);
  const auto lanes = static_cast<std::uint64_t>(shader.local_size[0]);
  plan.scratch_bytes = {std::max<std::size_t>(1, lists * n) * sizeof(std::uint32_t)};
  // Where there is no box, there is nothing that could be bound, nor is it read.
  if (n == 0) plan.scratch_bytes.push_back(sizeof(std::uint32_t));
  GpuPass pass;
  pass.shader = &shader;
  pass.variant = "f32";
  pass.bindings = {n == 0 ? scratch(1) : input(0), n == 0 ? scratch(1) : input(1), scratch(0),
                   output(0), output(1)};
  pass.push.u32(lists).u32(scores[1]).u32(n).u32(given.most).u32(given.bounded ? 1 : 0);
  pass.push.u32(given.centers ? 1 : 0).f32(given.overlap).f32(given.least_score);
  pass.groups = linear_groups(lists);
  const std::uint64_t steps = std::min(n, static_cast<std::uint64_t>(given.most)) + 1;
  pass.rounds = steps * ((n + lanes - 1) / lanes + 8);
  plan.passes.push_back(std::move(pass));
  return plan;
}

}  // namespace

Result<void> define(KernelRegistry& registry) {
  auto kernel = kernel_of<NonMaxSuppression>();
  kernel.family = "sort";
  kernel.summary =
      "places of the boxes of each class, the best score first (of equal ones the first box), "
      "without those that overlap "
      "a better one, then zeros; and how many there are. A score that is no number is never chosen";
  kernel.inputs = {2, 2};
  kernel.dtypes = {DType::f32};
  kernel.infer = infer;
  const auto shader = make_shader();
  kernel.shaders = {shader};
  kernel.gpu = [shader](const KernelCall& call, std::span<const TensorSpec> outputs,
                        const GpuTraits&) { return gpu_plan(*shader, call, outputs); };
  return registry.add(std::move(kernel));
}

}  // namespace stoker::kernels::non_max_suppression
