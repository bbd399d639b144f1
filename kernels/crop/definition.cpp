#include "stoker/kernels/crop/options.hpp"
#include "stoker/kernels/image/image.hpp"
#include "stoker/kernels/image/one_pass.hpp"
#include "stoker/kernels/image/units.hpp"
#include "stoker/kernels/kernel.hpp"
#include "stoker/kernels/rules.hpp"

namespace stoker::kernels::crop {
namespace {

Result<std::vector<TensorSpec>> infer(const KernelCall& call) {
  STOKER_ASSIGN(const image::Extent image, image::check("crop", call.inputs[0]));
  const auto given = options::from<Crop>(call.params);
  const auto check_axis = [&](const char* start_name, std::int64_t start, const char* length_name,
                              std::int64_t length, std::int64_t extent) -> Result<void> {
    if (start <= extent && length <= extent - start) return {};
    return Error{"crop",
                 ErrorCode::invalid_parameter,
                 std::string{start_name} + " + " + length_name + " = " + std::to_string(start) +
                     " + " + std::to_string(length) + " lies outside the image, whose " +
                     length_name + " is " + std::to_string(extent),
                 {{"parameter", length_name}, {"input", call.inputs[0].to_string()}}};
  };
  STOKER_TRY(check_axis("x", given.x, "width", given.width, image.width));
  STOKER_TRY(check_axis("y", given.y, "height", given.height, image.height));
  const Shape shape{given.height, given.width, image.channels};
  return std::vector<TensorSpec>{{call.dtype(), shape}};
}

std::shared_ptr<const Shader> make_shader() {
  Shader shader;
  shader.name = "crop";
  shader.file = "crop/crop.glsl";
  shader.bindings = {{.name = "x", .type = "T"}, {.name = "y", .type = "T", .writes = true}};
  shader.push = {{"n"}, {"row_in"}, {"row_out"}, {"start"}, {"wide"}};
  shader.variants = rules::variants_of("T", image::unit_dtypes());
  return std::make_shared<const Shader>(std::move(shader));
}

Result<GpuPlan> gpu_plan(const Shader& shader, const KernelCall& call, const TensorSpec& result) {
  const image::Extent image = image::extent(call.shape());
  const std::uint64_t pixel = static_cast<std::uint64_t>(image.channels) * size_of(call.dtype());
  const std::uint64_t row_in = static_cast<std::uint64_t>(image.width) * pixel;
  const std::uint64_t row_out = static_cast<std::uint64_t>(result.shape[1]) * pixel;
  const auto given = options::from<Crop>(call.params);
  const std::uint64_t start =
      static_cast<std::uint64_t>(given.y) * row_in + static_cast<std::uint64_t>(given.x) * pixel;
  const image::Unit unit = image::widest_unit({row_in, row_out, start});
  STOKER_TRY(image::check_units("crop", call.inputs[0], unit));

  PushValues push;
  const std::uint64_t units = result.bytes() / unit.bytes;
  push.u32(units).u32(row_in / unit.bytes).u32(row_out / unit.bytes).u32(start / unit.bytes);
  push.u32(unit.quads ? 1 : 0);
  return image::one_pass(shader, std::string{to_string(unit.dtype)}, push, (units + 3) / 4);
}

}  // namespace

Result<void> define(KernelRegistry& registry) {
  auto kernel = kernel_of<Crop>();
  kernel.aliases = {"video_crop"};
  kernel.family = "image";
  kernel.summary =
      "a part of the image: width columns and height rows, with the upper left corner at (x, y)";
  kernel.dtypes = rules::all_dtypes();
  kernel.infer = infer;
  rules::use_shader(kernel, make_shader(), &gpu_plan);
  return registry.add(std::move(kernel));
}

}  // namespace stoker::kernels::crop
