#include "stoker/kernels/kernel.hpp"
#include "stoker/kernels/rules.hpp"
#include "stoker/kernels/window_reduce/operation.hpp"

namespace stoker::kernels::window_reduce {
namespace {

/// The dtype between two passes: 16-bit floats are rounded at the end only.
DType partial_dtype(DType dtype) {
  return is_float(dtype) && size_of(dtype) == 2 ? DType::f32 : dtype;
}

std::string variant_name(DType from, DType to) {
  return std::string{to_string(from)} + "_" + std::string{to_string(to)};
}

std::shared_ptr<const Shader> make_shader() {
  Shader shader;
  shader.name = "window_reduce_pass";
  shader.file = "window_reduce/pass.glsl";
  shader.bindings = {{.name = "x", .type = "S"}, {.name = "y", .type = "D", .writes = true}};
  shader.push = {{"n"},
                 {"inner"},
                 {"extent"},
                 {"results"},
                 {"window"},
                 {"stride", PushType::s32},
                 {"low", PushType::s32},
                 {"window_dilation", PushType::s32},
                 {"base_dilation", PushType::s32}};
  shader.constants = {{"operation"}, {"wide"}, {"dilated"}};
  for (const DType dtype : rules::numeric_dtypes()) {
    const DType partial = partial_dtype(dtype);
    const auto add = [&](DType from, DType to) {
      shader.variants.push_back({variant_name(from, to), {{"S", from}, {"D", to}}});
    };
    add(dtype, dtype);
    if (partial != dtype) {
      add(dtype, partial);
      add(partial, dtype);
    }
  }
  return std::make_shared<const Shader>(std::move(shader));
}

Result<GpuPlan> plan(const std::string& name, Operation operation, const Shader& shader,
                     const KernelCall& call, std::span<const TensorSpec> outputs) {
  STOKER_TRY(rules::gpu_indexable(name, call.inputs));
  STOKER_TRY(rules::gpu_indexable(name, outputs));
  STOKER_ASSIGN(const std::vector<WindowAxis> axes, call_axes(name, call));
  const std::vector<Pass> all = passes(axes);
  GpuPlan plan;
  DType from = call.dtype();
  PassBinding source = input(0);
  for (std::size_t i = 0; i < all.size(); ++i) {
    const auto& [outer, axis, inner] = all[i];
    // The shader counts places in 32 bits: what passes 2^31 must lie behind all elements.
    constexpr std::int64_t most = (std::int64_t{1} << 31) - 1;
    if (axis.in > 1 && axis.in - 1 > most / axis.base_dilation)
      return Error{name,
                   ErrorCode::unsupported,
                   "the GPU version takes axes that are, dilated, up to " + std::to_string(most) +
                       " places long; the CPU device computes this",
                   {{"extent", std::to_string(axis.in)},
                    {"base_dilation", std::to_string(axis.base_dilation)},
                    {"limit", std::to_string(most)}}};
    const bool last = i + 1 == all.size();
    const DType to = last ? call.dtype() : partial_dtype(call.dtype());
    const auto results = static_cast<std::size_t>(all[i].results());
    const TensorSpec between{to, Shape{all[i].results()}};
    STOKER_TRY(rules::gpu_indexable(name, {&between, 1}));
    PassBinding target = output();
    if (!last) {
      target = scratch(static_cast<std::uint32_t>(plan.scratch_bytes.size()));
      plan.scratch_bytes.push_back(results * size_of(to));
    }
    const bool wide = inner % 4 == 0;
    const std::size_t threads = results / (wide ? 4 : 1);
    GpuPass pass;
    pass.shader = &shader;
    pass.variant = variant_name(from, to);
    pass.bindings = {source, target};
    pass.push.u32(threads)
        .u32(static_cast<std::uint64_t>(inner / (wide ? 4 : 1)))
        .u32(static_cast<std::uint64_t>(axis.in))
        .u32(static_cast<std::uint64_t>(axis.out))
        .u32(static_cast<std::uint64_t>(axis.window))
        .s32(axis.stride)
        .s32(axis.low)
        .s32(axis.window_dilation)
        .s32(axis.base_dilation);
    pass.constants = {static_cast<std::uint32_t>(operation), wide, axis.base_dilation > 1};
    pass.groups = linear_groups_for(threads, shader.local_size[0]);
    pass.rounds = static_cast<std::uint64_t>(axis.window);
    plan.passes.push_back(std::move(pass));
    source = target;
    from = to;
  }
  return plan;
}

}  // namespace

Result<void> define(KernelRegistry& registry) {
  const std::shared_ptr<const Shader> shader = make_shader();
  for (const reduce::OperationName& entry : operations) {
    const std::string name{entry.kernel};
    auto kernel = kernel_of<WindowSum>();  // all have the same options
    kernel.name = name;
    kernel.family = "window";
    kernel.summary = entry.summary;
    kernel.dtypes = rules::numeric_dtypes();
    kernel.infer = [name](const KernelCall& call) -> Result<std::vector<TensorSpec>> {
      STOKER_ASSIGN(const std::vector<WindowAxis> axes, call_axes(name, call));
      STOKER_ASSIGN(const Shape shape, windows_shape(name, axes));
      return std::vector{TensorSpec{call.dtype(), shape}};
    };
    kernel.shaders = {shader};
    kernel.gpu = [name, operation = entry.operation, shader](
                     const KernelCall& call, std::span<const TensorSpec> outputs,
                     const GpuTraits&) { return plan(name, operation, *shader, call, outputs); };
    STOKER_TRY(registry.add(std::move(kernel)));
  }
  return {};
}

}  // namespace stoker::kernels::window_reduce
