#include "stoker/kernels/image/image.hpp"
#include "stoker/kernels/image/one_pass.hpp"
#include "stoker/kernels/kernel.hpp"
#include "stoker/kernels/median/options.hpp"
#include "stoker/kernels/rules.hpp"

namespace stoker::kernels::median {
namespace {

constexpr std::int64_t max_radius = 3;  // as in options.hpp

/// One variant for each dtype and radius: "u8_2".
std::string variant_name(DType dtype, std::int64_t radius) {
  return std::string{to_string(dtype)} + "_" + std::to_string(radius);
}

std::shared_ptr<const Shader> make_shader() {
  Shader shader;
  shader.name = "median";
  shader.file = "median/median.glsl";
  shader.bindings = {{.name = "x", .type = "T"}, {.name = "y", .type = "T", .writes = true}};
  shader.push = {{"n"}, {"height"}, {"width"}, {"channels"}, {"border"}};
  for (std::int64_t radius = 1; radius <= max_radius; ++radius)
    for (ShaderVariant& variant : rules::variants_of("T", image::dtypes())) {
      variant.name += "_" + std::to_string(radius);
      variant.defines = {{"RADIUS", std::to_string(radius)}};
      shader.variants.push_back(std::move(variant));
    }
  return std::make_shared<const Shader>(std::move(shader));
}

Result<GpuPlan> gpu_plan(const Shader& shader, const KernelCall& call, const TensorSpec&) {
  STOKER_TRY(rules::gpu_indexable("median", call.inputs));
  const image::Extent image = image::extent(call.shape());
  const auto n = static_cast<std::uint64_t>(image.elements());
  const auto given = options::from<Median>(call.params);
  PushValues push;
  push.u32(n).u32(image.height).u32(image.width).u32(image.channels);
  push.u32(static_cast<std::uint64_t>(given.border));
  return image::one_pass(shader, variant_name(call.dtype(), given.radius), push, n);
}

}  // namespace

Result<void> define(KernelRegistry& registry) {
  auto kernel = kernel_of<Median>();
  kernel.family = "image";
  kernel.summary =
      "the median of the (2 radius + 1)^2 values around each pixel, for every colour channel by "
      "itself; alpha is kept";
  kernel.source = "J. W. Tukey, Exploratory Data Analysis (1977)";
  kernel.dtypes = image::dtypes();
  image::keep_shape(kernel);
  rules::use_shader(kernel, make_shader(), &gpu_plan);
  return registry.add(std::move(kernel));
}

}  // namespace stoker::kernels::median
