#include <algorithm>

#include "stoker/kernels/cast/options.hpp"
#include "stoker/kernels/cast/same_bits.hpp"
#include "stoker/kernels/copy/copy.hpp"
#include "stoker/kernels/kernel.hpp"
#include "stoker/kernels/rules.hpp"

namespace stoker::kernels::cast {
namespace {

// Groups of four elements that a thread of cast.glsl converts.
constexpr std::size_t quads_per_thread = 4;

std::string variant_name(DType from, DType to) {
  return std::string{to_string(from)} + "_" + std::string{to_string(to)};
}

std::shared_ptr<const Shader> make_shader() {
  Shader shader;
  shader.name = "cast";
  shader.file = "cast/cast.glsl";
  shader.bindings = {{.name = "x", .type = "S"}, {.name = "y", .type = "D", .writes = true}};
  shader.push = {{"n"}};
  for (const DType from : rules::all_dtypes())
    for (const DType to : rules::all_dtypes())
      if (!same_bits(from, to))
        shader.variants.push_back({variant_name(from, to), {{"S", from}, {"D", to}}});
  return std::make_shared<const Shader>(std::move(shader));
}

Result<GpuPlan> plan(const Shader& shader, const Shader& copy_shader, const TensorSpec& from,
                     const TensorSpec& to) {
  if (same_bits(from.dtype, to.dtype)) return copy::gpu_plan("cast", copy_shader, from);
  STOKER_TRY(rules::gpu_indexable("cast", {&from, 1}));
  const std::size_t n = from.elements();
  const std::size_t quads = (n + 3) / 4;
  GpuPass pass;
  pass.shader = &shader;
  pass.variant = variant_name(from.dtype, to.dtype);
  pass.bindings = {input(0), output()};
  pass.push.u32(n);
  pass.groups =
      linear_groups_for((quads + quads_per_thread - 1) / quads_per_thread, shader.local_size[0]);
  return GpuPlan{.passes = {std::move(pass)}, .scratch_bytes = {}};
}

}  // namespace

Result<void> define(KernelRegistry& registry) {
  auto kernel = kernel_of<Cast>();
  kernel.family = "memory";
  kernel.summary =
      "y = x in another dtype; floats round to nearest even; a float that becomes an integer is "
      "truncated and limited to its range, and NaN becomes 0; integers wrap; bool is x != 0";
  kernel.dtypes = rules::all_dtypes();
  kernel.infer = [](const KernelCall& call) -> Result<std::vector<TensorSpec>> {
    const DType dtype = options::from<Cast>(call.params).dtype;
    return std::vector{TensorSpec{dtype, call.shape()}};
  };
  const std::shared_ptr<const Shader> shader = make_shader();
  const std::shared_ptr<const Shader> copy_shader = copy::shader();
  kernel.shaders = {shader, copy_shader};
  kernel.gpu = [shader, copy_shader](const KernelCall& call, std::span<const TensorSpec> outputs,
                                     const GpuTraits&) {
    return plan(*shader, *copy_shader, call.inputs[0], outputs[0]);
  };
  return registry.add(std::move(kernel));
}

}  // namespace stoker::kernels::cast
