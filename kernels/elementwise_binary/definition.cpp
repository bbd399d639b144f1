#include <algorithm>

#include "stoker/kernels/elementwise_binary/operation.hpp"
#include "stoker/kernels/kernel.hpp"
#include "stoker/kernels/rules.hpp"
#include "stoker/kernels/strided_walk.hpp"

namespace stoker::kernels::elementwise_binary {
namespace {

// Groups of four elements that a thread of flat.glsl computes.
constexpr std::size_t quads_per_thread = 4;

Result<std::vector<TensorSpec>> infer(const std::string& name, const KernelCall& call) {
  const TensorSpec& lhs = call.inputs[0];
  const TensorSpec& rhs = call.inputs[1];
  if (lhs.dtype != rhs.dtype) return rules::dtypes_differ(name, lhs, rhs);
  const std::optional<Shape> shape = broadcast(lhs.shape, rhs.shape);
  if (!shape)
    return Error{name,
                 ErrorCode::shape_mismatch,
                 "shapes do not broadcast: " + lhs.shape.to_string() + ", " + rhs.shape.to_string(),
                 {{"lhs", lhs.shape.to_string()}, {"rhs", rhs.shape.to_string()}}};
  return std::vector{TensorSpec{lhs.dtype, *shape}};
}

struct Shaders {
  std::shared_ptr<const Shader> flat;
  std::shared_ptr<const Shader> strided;
};

Shaders make_shaders() {
  Shader flat;
  flat.name = "elementwise_binary_flat";
  flat.file = "elementwise_binary/flat.glsl";
  flat.bindings = {{"a", "T"}, {"b", "T"}, {"y", "T", true}};
  flat.push = {{"n"}};
  flat.constants = {{"operation"}, {"a_single"}, {"b_single"}};
  flat.variants = rules::variants_of("T", rules::numeric_dtypes());

  Shader strided = flat;
  strided.name = "elementwise_binary_strided";
  strided.file = "elementwise_binary/strided.glsl";
  strided.push = {{"n"},
                  {"extents", PushType::u32, 8},
                  {"a_strides", PushType::u32, 8},
                  {"b_strides", PushType::u32, 8}};
  strided.constants = {{"operation"}, {"rank"}, {"unit", 4}, {"one_row"}};
  return {std::make_shared<const Shader>(std::move(flat)),
          std::make_shared<const Shader>(std::move(strided))};
}

GpuPass flat_pass(const Shader& shader, Operation operation, std::size_t n,
                  const StridedWalk& walk) {
  GpuPass pass;
  pass.shader = &shader;
  pass.push.u32(n);
  const std::size_t quads = (n + 3) / 4;
  pass.groups =
      linear_groups_for((quads + quads_per_thread - 1) / quads_per_thread, shader.local_size[0]);
  pass.constants = {static_cast<std::uint32_t>(operation), walk.single(0) && n > 1,
                    walk.single(1) && n > 1};
  return pass;
}

GpuPass strided_pass(const Shader& shader, Operation operation, DType dtype, std::size_t n,
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
  pass.constants = {static_cast<std::uint32_t>(operation), static_cast<std::uint32_t>(walk.rank),
                    static_cast<std::uint32_t>(unit), one_row};
  return pass;
}

Result<GpuPlan> plan(const std::string& name, Operation operation, const Shaders& shaders,
                     const KernelCall& call, const TensorSpec& result) {
  STOKER_TRY(rules::gpu_indexable(name, {&result, 1}));
  const Strides strides[] = {broadcast_strides(call.shape(0), result.shape),
                             broadcast_strides(call.shape(1), result.shape)};
  const StridedWalk walk = strided_walk(result.shape, strides);
  const std::size_t n = result.elements();
  GpuPass pass = walk.rank <= 1 ? flat_pass(*shaders.flat, operation, n, walk)
                                : strided_pass(*shaders.strided, operation, result.dtype, n, walk);
  pass.variant = to_string(result.dtype);
  pass.bindings = {input(0), input(1), output()};
  return GpuPlan{.passes = {std::move(pass)}, .scratch_bytes = {}};
}

}  // namespace

Result<void> define(KernelRegistry& registry) {
  const Shaders shaders = make_shaders();
  for (const OperationName& entry : operations) {
    const std::string name{entry.kernel};
    Kernel kernel;
    kernel.name = name;
    kernel.aliases = {std::string{entry.alias}};
    kernel.family = "elementwise";
    kernel.summary = entry.summary;
    kernel.inputs = {2, 2};
    kernel.dtypes = rules::numeric_dtypes();
    kernel.in_place = true;
    kernel.infer = [name](const KernelCall& call) { return infer(name, call); };
    kernel.shaders = {shaders.flat, shaders.strided};
    kernel.gpu = [name, operation = entry.operation, shaders](
                     const KernelCall& call, std::span<const TensorSpec> outputs,
                     const GpuTraits&) { return plan(name, operation, shaders, call, outputs[0]); };
    STOKER_TRY(registry.add(std::move(kernel)));
  }
  return {};
}

}  // namespace stoker::kernels::elementwise_binary
