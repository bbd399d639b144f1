#include "stoker/kernels/reduce/gpu.hpp"

#include <algorithm>
#include <bit>
#include <set>

#include "stoker/kernels/rules.hpp"

namespace stoker::kernels::reduce {
namespace {

// Groups that keep a large GPU busy; more pieces than that only add work to the second pass.
constexpr std::int64_t enough_groups = 2048;
// Elements that are worth a group of their own.
constexpr std::int64_t least_piece = 8192;
// Up to this inner extent threads stride over whole rows (narrow.glsl).
constexpr std::int64_t narrow_inner = 32;
constexpr std::int64_t group_size = 256;
// Elements one thread of a team sums before the team adds up.
constexpr std::int64_t elements_per_member = 16;

std::int64_t ceil_div(std::int64_t a, std::int64_t b) { return (a + b - 1) / b; }

std::string variant_name(DType from, DType to) {
  return std::string{to_string(from)} + "_" + std::string{to_string(to)};
}

/// Every (source, result) pair that some operation's passes need.
std::vector<ShaderVariant> variants() {
  std::set<std::pair<DType, DType>> pairs;
  for (const Operation operation :
       {Operation::sum, Operation::max, Operation::mean, Operation::any})
    for (const DType dtype : rules::all_dtypes()) {
      if (operation == Operation::max && dtype == DType::boolean) continue;
      const DType partial = partial_dtype(operation, dtype);
      const DType result = result_dtype(operation, dtype);
      pairs.insert({{dtype, partial}, {dtype, result}, {partial, partial}, {partial, result}});
    }
  std::vector<ShaderVariant> list;
  for (const auto& [from, to] : pairs)
    list.push_back({variant_name(from, to), {{"S", from}, {"D", to}}});
  return list;
}

/// How `reduced` is cut: pieces of `length` each, the last one shorter.
struct Cut {
  std::int64_t pieces = 1;
  std::int64_t length = 0;
};

/// `groups` is how many groups the uncut step has, `width` how many elements one of them meets for
/// each step along the reduced axis.
Cut cut(std::int64_t reduced, std::int64_t groups, std::int64_t width) {
  const std::int64_t wanted = std::min(ceil_div(enough_groups, std::max<std::int64_t>(groups, 1)),
                                       reduced * width / least_piece);
  if (wanted <= 1) return {1, reduced};
  const std::int64_t length = ceil_div(ceil_div(reduced, wanted), 4) * 4;
  return {ceil_div(reduced, length), length};
}

std::uint32_t code(Operation operation) {
  return static_cast<std::uint32_t>(operation == Operation::mean ? Operation::sum : operation);
}

Planned plan_rows(const Shader& shader, Operation operation, const Step& step, bool four) {
  Planned result;
  const auto [pieces, length] = cut(step.reduced, step.outer, 1);
  result.pieces = pieces;
  const auto lanes = static_cast<std::int64_t>(std::bit_ceil(static_cast<std::uint64_t>(
      std::clamp<std::int64_t>(ceil_div(length, elements_per_member), 1, group_size))));
  const std::int64_t items = step.outer * pieces;
  result.pass.shader = &shader;
  for (const std::int64_t value : {items, step.reduced, length, pieces})
    result.pass.push.u32(static_cast<std::uint64_t>(value));
  result.pass.groups =
      linear_groups(static_cast<std::uint64_t>(ceil_div(items, group_size / lanes)));
  result.pass.constants = {code(operation), static_cast<std::uint32_t>(lanes),
                           four && step.reduced % 4 == 0};
  return result;
}

Planned plan_narrow(const Shader& shader, Operation operation, const Step& step) {
  Planned result;
  const auto [pieces, length] = cut(step.reduced, step.outer, step.inner);
  result.pieces = pieces;
  const std::int64_t items = step.outer * pieces;
  result.pass.shader = &shader;
  for (const std::int64_t value : {items, step.reduced, length, pieces, step.inner})
    result.pass.push.u32(static_cast<std::uint64_t>(value));
  result.pass.groups = linear_groups(static_cast<std::uint64_t>(items));
  result.pass.constants = {code(operation)};
  return result;
}

Planned plan_columns(const Shader& shader, Operation operation, const Step& step, bool four) {
  Planned result;
  const bool wide = four && step.inner % 4 == 0;
  const std::int64_t row_lanes = step.reduced > 16 ? 8 : 1;
  const std::int64_t across = group_size / row_lanes;  // threads side by side
  const std::int64_t threads = step.outer * step.inner / (wide ? 4 : 1);
  const auto [pieces, length] =
      cut(step.reduced, ceil_div(threads, across), across * (wide ? 4 : 1));
  result.pieces = pieces;
  const std::int64_t items = threads * pieces;
  result.pass.shader = &shader;
  for (const std::int64_t value : {items, step.reduced, length, pieces, step.inner})
    result.pass.push.u32(static_cast<std::uint64_t>(value));
  result.pass.groups = linear_groups(static_cast<std::uint64_t>(ceil_div(items, across)));
  result.pass.constants = {code(operation), static_cast<std::uint32_t>(row_lanes), wide};
  return result;
}

std::shared_ptr<const Shader> make_shader(const char* name, std::vector<PushField> push,
                                          std::vector<SpecConstant> constants) {
  Shader shader;
  shader.name = std::string{"reduce_"} + name;
  shader.file = std::string{"reduce/"} + name + ".glsl";
  shader.bindings = {{.name = "x", .type = "S"}, {.name = "y", .type = "D", .writes = true}};
  shader.push = std::move(push);
  shader.push.push_back({"count"});
  shader.constants = std::move(constants);
  shader.variants = variants();
  return std::make_shared<const Shader>(std::move(shader));
}

}  // namespace

Shaders make_shaders() {
  return {make_shader("rows", {{"items"}, {"reduced"}, {"length"}, {"pieces"}},
                      {{"operation"}, {"lanes", 256}, {"wide"}}),
          make_shader("columns", {{"items"}, {"reduced"}, {"length"}, {"pieces"}, {"inner"}},
                      {{"operation"}, {"row_lanes", 8}, {"wide"}}),
          make_shader("narrow", {{"items"}, {"reduced"}, {"length"}, {"pieces"}, {"inner"}},
                      {{"operation"}})};
}

Walk walk_of(const Step& step) noexcept {
  if (step.inner == 1) return Walk::rows;
  const bool narrow = step.inner <= narrow_inner && step.reduced * step.inner >= 2 * group_size;
  return narrow ? Walk::narrow : Walk::columns;
}

const std::shared_ptr<const Shader>& shader_for(const Shaders& shaders, Walk walk) noexcept {
  if (walk == Walk::rows) return shaders.rows;
  return walk == Walk::narrow ? shaders.narrow : shaders.columns;
}

Planned plan_step(const Shader& shader, Operation operation, const Step& step, bool four) {
  const Walk walk = walk_of(step);
  if (walk == Walk::rows) return plan_rows(shader, operation, step, four);
  if (walk == Walk::narrow) return plan_narrow(shader, operation, step);
  return plan_columns(shader, operation, step, four);
}

void add_passes(GpuPlan& plan, Operation operation, const Shaders& shaders, Stored from,
                std::span<const Step> steps, DType partial, DType result, std::int64_t count) {
  for (std::size_t i = 0; i < steps.size(); ++i) {
    // A step that was cut leaves its pieces as the reduced axis of a smaller step.
    Step step = steps[i];
    for (bool done = false; !done;) {
      Planned planned = plan_step(*shader_for(shaders, walk_of(step)), operation, step);
      done = planned.pieces == 1;
      const bool last = done && i + 1 == steps.size();
      const DType to = last ? result : partial;
      planned.pass.variant = variant_name(from.dtype, to);
      planned.pass.push.u32(
          static_cast<std::uint64_t>(last && operation == Operation::mean ? count : 1));
      PassBinding target = output();
      if (!last) {
        target = scratch(static_cast<std::uint32_t>(plan.scratch_bytes.size()));
        plan.scratch_bytes.push_back(
            static_cast<std::size_t>(step.outer * planned.pieces * step.inner) * size_of(partial));
      }
      planned.pass.bindings = {from.where, target};
      plan.passes.push_back(std::move(planned.pass));
      from = {target, to};
      step.reduced = planned.pieces;
    }
  }
}

Result<GpuPlan> gpu_plan(std::string_view op, Operation operation, const Shaders& shaders,
                         const KernelCall& call, const TensorSpec& result) {
  STOKER_TRY(rules::gpu_indexable(op, call.inputs));
  STOKER_ASSIGN(const std::vector<bool> reduced, reduced_axes(op, call));
  const Steps all = steps(call.shape(), reduced);
  GpuPlan plan;
  add_passes(plan, operation, shaders, {input(0), call.dtype()}, all.steps,
             partial_dtype(operation, call.dtype()), result.dtype, all.count);
  return plan;
}

}  // namespace stoker::kernels::reduce
