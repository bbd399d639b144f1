#include "stoker/kernels/equalize/options.hpp"
#include "stoker/kernels/histogram/counting.hpp"
#include "stoker/kernels/image/image.hpp"
#include "stoker/kernels/image/one_pass.hpp"
#include "stoker/kernels/kernel.hpp"
#include "stoker/kernels/rules.hpp"

namespace stoker::kernels::equalize {
namespace {

struct Shaders {
  histogram::CountShaders count;
  std::shared_ptr<const Shader> table;
  std::shared_ptr<const Shader> apply;
};

Shaders make_shaders() {
  Shader table;
  table.name = "equalize_table";
  table.file = "equalize/table.glsl";
  table.bindings = {{.name = "counts", .type = "u32"},
                    {.name = "levels", .type = "u32", .writes = true}};
  table.push = {{"pixels"}, {"colours"}};
  table.variants = {{.name = "u32"}};
  Shader apply;
  apply.name = "equalize_apply";
  apply.file = "equalize/apply.glsl";
  apply.bindings = {{.name = "x", .type = "u8"},
                    {.name = "levels", .type = "u32"},
                    {.name = "y", .type = "u8", .writes = true}};
  apply.push = {{"n"}, {"channels"}};
  apply.variants = {{.name = "u8"}};
  return {histogram::count_shaders(), std::make_shared<const Shader>(std::move(table)),
          std::make_shared<const Shader>(std::move(apply))};
}

/// Every value of a byte in a bin of its own.
constexpr histogram::Bins every_value{.count = 256, .low = 0, .high = 255, .scale = 1};

Result<GpuPlan> gpu_plan(const Shaders& shaders, const KernelCall& call) {
  STOKER_TRY(rules::gpu_indexable("equalize", call.inputs));
  const image::Extent image = image::extent(call.shape());
  const auto n = static_cast<std::uint64_t>(image.elements());
  const auto table_bytes = static_cast<std::size_t>(image.channels) * 256 * sizeof(std::uint32_t);
  GpuPlan plan;
  plan.scratch_bytes = {table_bytes, table_bytes};
  histogram::add_count(plan, shaders.count, call, every_value, scratch(0));
  PushValues counted;
  counted.u32(image.height * image.width).u32(image.colours());
  plan.passes.push_back({shaders.table.get(),
                         "u32",
                         {scratch(0), scratch(1)},
                         counted,
                         linear_groups(static_cast<std::uint64_t>(image.channels))});
  PushValues push;
  push.u32(n).u32(image.channels);
  plan.passes.push_back({shaders.apply.get(),
                         "u8",
                         {input(0), scratch(1), output()},
                         push,
                         linear_groups_for((n + 3) / 4, shaders.apply->local_size[0])});
  return plan;
}

}  // namespace

Result<void> define(KernelRegistry& registry) {
  auto kernel = kernel_of<Equalize>();
  kernel.family = "image";
  kernel.summary =
      "each colour channel with its histogram made even: y = 255 (c(x) - c(min)) / (n - c(min)), "
      "where c(x) of the n values are at most x; alpha, and a channel that has one value only, are "
      "kept";
  kernel.source = "R. C. Gonzalez, R. E. Woods, Digital Image Processing (2018), 3.3";
  kernel.dtypes = {DType::u8};
  image::keep_shape(kernel);
  const Shaders shaders = make_shaders();
  kernel.shaders = shaders.count.all();
  kernel.shaders.push_back(shaders.table);
  kernel.shaders.push_back(shaders.apply);
  kernel.gpu = [shaders](const KernelCall& call, std::span<const TensorSpec>, const GpuTraits&) {
    return gpu_plan(shaders, call);
  };
  return registry.add(std::move(kernel));
}

}  // namespace stoker::kernels::equalize
