#include <algorithm>
#include <bit>

#include "stoker/kernels/arg_reduce/options.hpp"
#include "stoker/kernels/kernel.hpp"
#include "stoker/kernels/rows/axis_rows.hpp"
#include "stoker/kernels/rules.hpp"

namespace stoker::kernels::arg_reduce {
namespace {

// Threads that keep a large GPU busy, and elements that one of them takes at least.
constexpr std::int64_t enough_threads = 65536;
constexpr std::int64_t least_share = 16;
constexpr std::int64_t group_size = 256;

std::int64_t ceil_div(std::int64_t a, std::int64_t b) { return (a + b - 1) / b; }

std::shared_ptr<const Shader> make_shader() {
  Shader shader;
  shader.name = "arg_reduce";
  shader.file = "arg_reduce/arg_reduce.glsl";
  shader.bindings = {{.name = "x", .type = "T"},
                     {.name = "candidates", .type = "s32"},
                     {.name = "y", .type = "s32", .writes = true}};
  shader.push = {{"items"}, {"length"}, {"inner"}, {"count"}, {"piece"}, {"pieces"}};
  shader.constants = {{"smallest"}, {"last"}, {"chosen"}, {"lanes", 1}, {"wide"}};
  shader.variants = rules::variants_of("T", rules::all_dtypes());
  return std::make_shared<const Shader>(std::move(shader));
}

/// One pass: of `count` candidates for each row, which are all elements or what the pass before
/// chose, every piece leaves one.
struct Step {
  std::int64_t count;
  std::int64_t piece;
  std::int64_t pieces;
  std::int64_t lanes;  // threads that share a piece
};

Step next_step(const rows::AxisRows& r, std::int64_t count) {
  const std::int64_t rows = r.outer * r.inner;
  // Threads of a team read neighbours, so rows want teams; columns are neighbours by themselves.
  const auto team = [&](std::int64_t piece) -> std::int64_t {
    if (r.inner > 1) return 1;
    const auto wanted = static_cast<std::uint64_t>(ceil_div(piece, least_share));
    return std::min(static_cast<std::int64_t>(std::bit_ceil(wanted)), group_size);
  };
  const std::int64_t lanes = team(count);
  const std::int64_t wanted =
      std::min(ceil_div(enough_threads, rows * lanes), count / (least_share * lanes));
  if (wanted <= 1) return {count, count, 1, lanes};
  const std::int64_t piece = ceil_div(ceil_div(count, wanted), 4) * 4;
  return {count, piece, ceil_div(count, piece), team(piece)};
}

Result<GpuPlan> plan(const std::string& name, bool smallest, const Shader& shader,
                     const KernelCall& call) {
  STOKER_TRY(rules::gpu_indexable(name, call.inputs));
  const auto given = options::from<Argmax>(call.params);  // argmin has the same options
  STOKER_ASSIGN(const rows::AxisRows r, rows::along(name, call, given.axis));
  const bool last = given.tie_break == TieBreak::high;
  GpuPlan plan;
  PassBinding candidates = input(0);
  bool chosen = false;
  for (std::int64_t count = r.length, pieces = 0; pieces != 1; count = pieces) {
    const Step step = next_step(r, count);
    pieces = step.pieces;
    const std::int64_t items = r.outer * pieces * r.inner;
    PassBinding target = output();
    if (pieces > 1) {
      target = scratch(static_cast<std::uint32_t>(plan.scratch_bytes.size()));
      plan.scratch_bytes.push_back(static_cast<std::size_t>(items) * 4);
    }
    GpuPass pass;
    pass.shader = &shader;
    pass.variant = to_string(call.dtype());
    pass.bindings = {input(0), candidates, target};
    for (const std::int64_t value : {items, r.length, r.inner, step.count, step.piece, pieces})
      pass.push.u32(static_cast<std::uint64_t>(value));
    const bool wide = !chosen && r.inner == 1 && r.length % 4 == 0;
    pass.constants = {smallest, last, chosen, static_cast<std::uint32_t>(step.lanes), wide};
    pass.groups =
        linear_groups_for(static_cast<std::uint64_t>(items * step.lanes), shader.local_size[0]);
    plan.passes.push_back(std::move(pass));
    candidates = target;
    chosen = true;
  }
  return plan;
}

Result<std::vector<TensorSpec>> infer(const std::string& name, const KernelCall& call) {
  const auto given = options::from<Argmax>(call.params);
  STOKER_ASSIGN(const rows::AxisRows r, rows::along(name, call, given.axis));
  const Shape& shape = call.shape();
  if (r.length == 0)
    return Error{name,
                 ErrorCode::shape_mismatch,
                 "axis " + std::to_string(r.axis) + " has no elements to choose from: input " +
                     shape.to_string(),
                 {{"axis", std::to_string(r.axis)}, {"input", shape.to_string()}}};
  if (r.length > INT32_MAX)
    return Error{name,
                 ErrorCode::limit_exceeded,
                 "positions along axis " + std::to_string(r.axis) + " do not fit s32",
                 {{"limit", std::to_string(INT32_MAX)}, {"extent", std::to_string(r.length)}}};
  if (shape.rank() == 0) return std::vector{TensorSpec{DType::s32, shape}};
  return std::vector{
      TensorSpec{DType::s32, given.keepdims ? shape.with(r.axis, 1) : shape.without(r.axis)}};
}

}  // namespace

Result<void> define(KernelRegistry& registry) {
  const std::shared_ptr<const Shader> shader = make_shader();
  for (const bool smallest : {false, true}) {
    auto kernel = smallest ? kernel_of<Argmin>() : kernel_of<Argmax>();
    const std::string name = kernel.name;
    kernel.family = "reduction";
    kernel.summary = std::string{"position (s32) of the "} + (smallest ? "smallest" : "largest") +
                     " element along an axis; that of the first NaN if there is one";
    kernel.dtypes = rules::all_dtypes();
    kernel.infer = [name](const KernelCall& call) { return infer(name, call); };
    kernel.shaders = {shader};
    kernel.gpu = [name, smallest, shader](const KernelCall& call, std::span<const TensorSpec>,
                                          const GpuTraits&) {
      return plan(name, smallest, *shader, call);
    };
    STOKER_TRY(registry.add(std::move(kernel)));
  }
  return {};
}

}  // namespace stoker::kernels::arg_reduce
