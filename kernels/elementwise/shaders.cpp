#include "stoker/kernels/elementwise/shaders.hpp"

#include <algorithm>

#include "stoker/kernels/rules.hpp"
#include "stoker/kernels/scalar/glsl.hpp"
#include "stoker/kernels/strided_walk.hpp"

namespace stoker::kernels::elementwise {
namespace {

// Groups of four elements that a thread of flat.glsl computes.
constexpr std::size_t quads_per_thread = 4;

/// `R apply(T a, T b)`, the function `operation` of those that the dtype has; one operand is `a`.
std::string apply_text(const Group& group, DType dtype) {
  const std::string operands[] = {"a", "b"};
  std::string texts{scalar::series_definitions};
  std::string body;
  for (std::size_t i = 0; i < group.size(); ++i) {
    if (!on_gpus(*group[i], dtype)) continue;
    const DType result = result_of(*group[i], dtype);
    const ScalarGlsl glsl = group[i]->glsl(dtype, result);
    for (const std::string_view each : glsl.texts) {
      const std::string text = scalar::filled(each, dtype, result);
      if (texts.find(text) == texts.npos) texts += text + "\n";  // several may need it
    }
    // Precise: else drivers contract products and sums.
    body += "  if (operation == " + std::to_string(i) + ") {\n    " +
            (is_float(result) ? "precise " : "") +
            "R result = " + scalar::filled(glsl.expression, dtype, result, operands) +
            ";\n    return result;\n  }\n";
  }
  return texts + "R apply(T a, T b) {\n" + body + "  return R(0);\n}";
}

GpuPass flat_pass(const Shader& shader, std::uint32_t operation, std::size_t n,
                  const StridedWalk& walk) {
  GpuPass pass;
  pass.shader = &shader;
  pass.push.u32(n);
  const std::size_t quads = (n + 3) / 4;
  pass.groups =
      linear_groups_for((quads + quads_per_thread - 1) / quads_per_thread, shader.local_size[0]);
  pass.constants = {operation};
  for (std::size_t k = 0; k < 2 && shader.constants.size() > 1; ++k)
    pass.constants.push_back(walk.single(k) && n > 1);
  return pass;
}

GpuPass strided_pass(const Shader& shader, std::uint32_t operation, DType dtype, std::size_t n,
                     const StridedWalk& walk) {
  const auto axes = [&](const auto& values) { return std::span{values.data(), walk.rank}; };
  // Rows of a multiple of four elements keep every four inside one row, and every outer stride a
  // multiple of four.
  const bool one_row = walk.inner() % 4 == 0;
  const std::size_t unit = size_of(dtype) == 8 ? 1 : 4;
  GpuPass pass;
  pass.shader = &shader;
  pass.push.u32(n)
      .u32s(axes(walk.extents), 8, 1)
      .u32s(axes(walk.strides[0]), 8)
      .u32s(axes(walk.strides[1]), 8);
  pass.groups = linear_groups_for((n + unit - 1) / unit, shader.local_size[0]);
  pass.constants = {operation, static_cast<std::uint32_t>(walk.rank),
                    static_cast<std::uint32_t>(unit), one_row};
  return pass;
}

}  // namespace

bool on_gpus(const ScalarFunction& function, DType dtype) {
  return takes(function, dtype) &&
         !function.glsl(dtype, result_of(function, dtype)).expression.empty();
}

Shaders make_shaders(const Group& group) {
  const ScalarFunction& first = *group[0];
  const bool two = first.arity == 2;
  Shader flat;
  const std::string name{first.name};
  flat.name = "elementwise_flat_" + name;
  flat.file = "elementwise/flat.glsl";
  flat.bindings = {{"a", "T"}};
  if (two) flat.bindings.push_back({"b", "T"});
  flat.bindings.push_back({"y", "R", true});
  flat.push = {{"n"}};
  flat.constants = {{"operation"}};
  if (two) flat.constants.insert(flat.constants.end(), {{"a_single"}, {"b_single"}});
  for (const DType dtype : rules::all_dtypes())
    if (std::ranges::any_of(group, [&](const auto* each) { return on_gpus(*each, dtype); }))
      flat.variants.push_back({.name = std::string{to_string(dtype)},
                               .types = {{"T", dtype}, {"R", result_of(first, dtype)}},
                               .defines = {{"OPERANDS", two ? "2" : "1"}}});
  flat.prologue = [group](const ShaderVariant& variant) {
    return apply_text(group, variant.types[0].second);
  };
  if (!two) return {group, std::make_shared<const Shader>(std::move(flat)), nullptr};

  Shader strided = flat;
  strided.name = "elementwise_strided_" + name;
  strided.file = "elementwise/strided.glsl";
  strided.push = {{"n"},
                  {"extents", PushType::u32, 8},
                  {"a_strides", PushType::u32, 8},
                  {"b_strides", PushType::u32, 8}};
  strided.constants = {{"operation"}, {"rank"}, {"unit", 4}, {"one_row"}};
  return {group, std::make_shared<const Shader>(std::move(flat)),
          std::make_shared<const Shader>(std::move(strided))};
}

Result<GpuPlan> plan(std::string_view op, const ScalarFunction& function, const Shaders& shaders,
                     const KernelCall& call, const TensorSpec& result) {
  if (!on_gpus(function, call.dtype()))
    return Error{std::string{op},
                 ErrorCode::unsupported,
                 "GPUs have no " + std::string{function.name} + " of " +
                     std::string{to_string(call.dtype())} + "; the CPU device computes this",
                 {{"function", std::string{function.name}},
                  {"dtype", std::string{to_string(call.dtype())}}}};
  STOKER_TRY(rules::gpu_indexable(op, {&result, 1}));
  std::vector<Strides> strides;
  for (const TensorSpec& input : call.inputs)
    strides.push_back(broadcast_strides(input.shape, result.shape));
  const StridedWalk walk = strided_walk(result.shape, strides);
  const std::size_t n = result.elements();
  const auto operation = static_cast<std::uint32_t>(std::ranges::find(shaders.group, &function) -
                                                    shaders.group.begin());
  GpuPass pass = function.arity == 1 || walk.rank <= 1
                     ? flat_pass(*shaders.flat, operation, n, walk)
                     : strided_pass(*shaders.strided, operation, call.dtype(), n, walk);
  pass.variant = to_string(call.dtype());
  for (std::uint32_t k = 0; k < function.arity; ++k) pass.bindings.push_back(input(k));
  pass.bindings.push_back(output());
  return GpuPlan{.passes = {std::move(pass)}, .scratch_bytes = {}};
}

}  // namespace stoker::kernels::elementwise
