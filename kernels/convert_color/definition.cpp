#include "stoker/kernels/convert_color/options.hpp"
#include "stoker/kernels/image/image.hpp"
#include "stoker/kernels/image/one_pass.hpp"
#include "stoker/kernels/kernel.hpp"
#include "stoker/kernels/rules.hpp"

namespace stoker::kernels::convert_color {
namespace {

Result<std::vector<TensorSpec>> infer(const KernelCall& call) {
  STOKER_ASSIGN(const image::Extent image, image::check("convert_color", call.inputs[0]));
  if (image.channels == 1)
    return Error{"convert_color",
                 ErrorCode::shape_mismatch,
                 "a grey image has no colours to convert: " + call.shape().to_string(),
                 {{"input", call.inputs[0].to_string()}}};
  return std::vector{call.inputs[0]};
}

std::shared_ptr<const Shader> make_shader() {
  Shader shader;
  shader.name = "convert_color";
  shader.file = "convert_color/convert_color.glsl";
  shader.bindings = {{.name = "x", .type = "T"}, {.name = "y", .type = "T", .writes = true}};
  shader.push = {{"pixels"}, {"channels"}, {"from"}, {"to"}};
  shader.variants = rules::variants_of("T", image::dtypes());
  return std::make_shared<const Shader>(std::move(shader));
}

Result<GpuPlan> gpu_plan(const Shader& shader, const KernelCall& call, const TensorSpec&) {
  STOKER_TRY(rules::gpu_indexable("convert_color", call.inputs));
  const image::Extent image = image::extent(call.shape());
  const auto pixels = static_cast<std::uint64_t>(image.height * image.width);
  PushValues push;
  push.u32(pixels).u32(image.channels);
  const auto given = options::from<ConvertColor>(call.params);
  push.u32(static_cast<std::uint64_t>(given.from)).u32(static_cast<std::uint64_t>(given.to));
  return image::one_pass(shader, std::string{to_string(call.dtype())}, push, (pixels + 3) / 4);
}

}  // namespace

Result<void> define(KernelRegistry& registry) {
  auto kernel = kernel_of<ConvertColor>();
  kernel.family = "image";
  kernel.summary =
      "the image converted to another colour space; channels are 0 to 1, in u8 0 to 255; H is a "
      "share of the full circle; Cb and Cr of grey are 0.5, in u8 128; alpha is kept";
  kernel.source =
      "HSV: A. R. Smith, Color Gamut Transform Pairs (1978); HSL: G. H. Joblove, D. Greenberg, "
      "Color Spaces for Computer Graphics (1978); YCbCr: ITU-R BT.601 in full range, as ITU-T "
      "T.871 (JFIF)";
  kernel.dtypes = image::dtypes();
  kernel.infer = infer;
  rules::use_shader(kernel, make_shader(), &gpu_plan);
  return registry.add(std::move(kernel));
}

}  // namespace stoker::kernels::convert_color
