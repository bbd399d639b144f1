#include "stoker/kernels/image/blur_gpu.hpp"
#include "stoker/kernels/image/gaussian.hpp"
#include "stoker/kernels/image/image.hpp"
#include "stoker/kernels/kernel.hpp"

namespace stoker::kernels::sharpen {

Result<void> define(KernelRegistry& registry) {
  Kernel kernel;
  kernel.name = "sharpen";
  kernel.family = "image";
  kernel.summary =
      "unsharp mask: y = x + strength (x - gaussian_blur(x)) on colours; alpha is kept";
  kernel.params = image::gaussian_params();
  kernel.params.insert(kernel.params.begin(),
                       {.name = "strength",
                        .type = ParamType::real,
                        .fallback = ParamValue{1.0},
                        .doc = "how much of the difference is added; 0 is the identity",
                        .min = 0,
                        .max = 100});
  kernel.dtypes = image::dtypes();
  kernel.infer = [](const KernelCall& call) -> Result<std::vector<TensorSpec>> {
    STOKER_TRY(image::check("sharpen", call.inputs[0]));
    return std::vector{call.inputs[0]};
  };
  const image::BlurShaders shaders = image::blur_shaders("sharpen", true);
  kernel.shaders = shaders.all();
  kernel.gpu = [shaders](const KernelCall& call, std::span<const TensorSpec>, const GpuTraits&) {
    return image::blur_gpu_plan("sharpen", shaders, call, call.params.real("strength"));
  };
  return registry.add(std::move(kernel));
}

}  // namespace stoker::kernels::sharpen
