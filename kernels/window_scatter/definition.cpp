// CPU versions: v1 v3. Wider vectors win nothing here and take long to compile.
#include <algorithm>

#include "stoker/kernels/kernel.hpp"
#include "stoker/kernels/rules.hpp"
#include "stoker/kernels/window_scatter/options.hpp"
#include "stoker/kernels/window_scatter/scatter.hpp"

namespace stoker::kernels::window_scatter {
namespace {

using window_reduce::WindowAxis;

// Axes whose numbers fit the push fields, where a window's extent and stride share a word.
constexpr std::size_t most_axes = 5;
constexpr std::int64_t most_in_half = 65535;

struct Shaders {
  std::shared_ptr<const Shader> choose;
  std::shared_ptr<const Shader> add;
};

Shaders make_shaders() {
  Shader choose;
  choose.name = "window_scatter_choose";
  choose.file = "window_scatter/choose.glsl";
  choose.bindings = {{.name = "x", .type = "T"}, {.name = "chosen", .type = "u32", .writes = true}};
  choose.push = {{"n"},
                 {"extents", PushType::u32, most_axes},
                 {"windows", PushType::u32, most_axes},
                 {"sizes_strides", PushType::u32, most_axes},
                 {"lows", PushType::u32, most_axes}};
  choose.constants = {{"rank", 1}, {"smallest"}};
  choose.variants = rules::variants_of("T", rules::numeric_dtypes());
  Shader add = choose;
  add.name = "window_scatter_add";
  add.file = "window_scatter/add.glsl";
  add.bindings = {{.name = "source", .type = "T"},
                  {.name = "start", .type = "T"},
                  {.name = "chosen", .type = "u32"},
                  {.name = "y", .type = "T", .writes = true}};
  add.constants = {{"rank", 1}};
  return {std::make_shared<const Shader>(std::move(choose)),
          std::make_shared<const Shader>(std::move(add))};
}

GpuPass make_pass(const Shader& shader, DType dtype, std::span<const WindowAxis> axes,
                  std::size_t threads) {
  GpuPass pass;
  pass.shader = &shader;
  pass.variant = to_string(dtype);
  pass.push.u32(threads);
  const auto list = [&](auto&& number) {
    std::vector<std::int64_t> values;
    for (const WindowAxis& axis : axes) values.push_back(number(axis));
    pass.push.u32s(values, most_axes);
  };
  list([](const WindowAxis& axis) { return axis.in; });
  list([](const WindowAxis& axis) { return axis.out; });
  list([](const WindowAxis& axis) { return axis.window | axis.stride << 16; });
  list([](const WindowAxis& axis) { return axis.low; });
  pass.constants = {static_cast<std::uint32_t>(axes.size())};
  pass.groups = linear_groups_for(threads, shader.local_size[0]);
  return pass;
}

/// GpuPass::rounds of a thread that meets `count(axis)` along each.
template <class Count> std::uint64_t rounds(std::span<const WindowAxis> axes, Count&& count) {
  constexpr std::uint64_t many = std::uint64_t{1} << 40;
  std::uint64_t product = 1;
  for (const WindowAxis& axis : axes)
    product = std::min(product * static_cast<std::uint64_t>(count(axis)), many);
  return product;
}

Result<GpuPlan> plan(const std::string& name, bool smallest, const Shaders& shaders,
                     const KernelCall& call) {
  STOKER_TRY(rules::gpu_indexable(name, call.inputs));
  STOKER_ASSIGN(const std::vector<WindowAxis> axes, scatter_axes(name, call));
  if (axes.size() > most_axes)
    return Error{name,
                 ErrorCode::unsupported,
                 "the GPU version takes windows along at most " + std::to_string(most_axes) +
                     " groups of axes; the CPU device computes this",
                 {{"axes", std::to_string(axes.size())}, {"limit", std::to_string(most_axes)}}};
  for (const WindowAxis& axis : axes)
    if (std::max(axis.window, axis.stride) > most_in_half)
      return Error{name,
                   ErrorCode::unsupported,
                   "the GPU version takes window extents and strides up to " +
                       std::to_string(most_in_half) + "; the CPU device computes this",
                   {{"window", std::to_string(axis.window)},
                    {"stride", std::to_string(axis.stride)},
                    {"limit", std::to_string(most_in_half)}}};
  const std::size_t windows = call.inputs[1].elements();
  GpuPlan plan;
  plan.scratch_bytes = {std::max<std::size_t>(windows, 1) * 4};
  if (windows > 0) {
    plan.passes.push_back(make_pass(*shaders.choose, call.dtype(), axes, windows));
    plan.passes.back().constants.push_back(smallest);
    plan.passes.back().bindings = {input(0), scratch(0)};
    plan.passes.back().rounds =
        rounds(axes, [](const WindowAxis& axis) { return std::min(axis.window, axis.in); });
  }
  plan.passes.push_back(make_pass(*shaders.add, call.dtype(), axes, call.inputs[0].elements()));
  plan.passes.back().bindings = {input(1), input(2), scratch(0), output()};
  // The windows that hold an element.
  plan.passes.back().rounds = rounds(axes, [](const WindowAxis& axis) {
    return std::min((axis.window - 1) / axis.stride + 1, axis.out);
  });
  return plan;
}

}  // namespace

Result<void> define(KernelRegistry& registry) {
  const Shaders shaders = make_shaders();
  for (const bool smallest : {false, true}) {
    auto kernel = smallest ? kernel_of<WindowScatterMin>() : kernel_of<WindowScatterMax>();
    const std::string name = kernel.name;
    kernel.family = "window";
    kernel.summary =
        std::string{
            "y = init, with the element of source that belongs to each window of x added at the "
            "window's "} +
        (smallest ? "smallest" : "largest") +
        " element, the first of equals; NaN counts as that element; padding is never chosen";
    kernel.inputs = {3, 3};
    kernel.dtypes = rules::numeric_dtypes();
    kernel.infer = [name](const KernelCall& call) -> Result<std::vector<TensorSpec>> {
      STOKER_TRY(scatter_axes(name, call));
      return std::vector{call.inputs[0]};
    };
    kernel.shaders = {shaders.choose, shaders.add};
    kernel.gpu = [name, smallest, shaders](const KernelCall& call, std::span<const TensorSpec>,
                                           const GpuTraits&) {
      return plan(name, smallest, shaders, call);
    };
    STOKER_TRY(registry.add(std::move(kernel)));
  }
  return {};
}

}  // namespace stoker::kernels::window_scatter
