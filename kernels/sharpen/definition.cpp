#include "stoker/kernels/image/blur_gpu.hpp"
#include "stoker/kernels/image/image.hpp"
#include "stoker/kernels/image/one_pass.hpp"
#include "stoker/kernels/kernel.hpp"
#include "stoker/kernels/sharpen/options.hpp"

namespace stoker::kernels::sharpen {

Result<void> define(KernelRegistry& registry) {
  auto kernel = kernel_of<Sharpen>();
  kernel.family = "image";
  kernel.summary =
      "unsharp mask: y = x + strength (x - gaussian_blur(x)) on colours; alpha is kept";
  kernel.dtypes = image::dtypes();
  image::keep_shape(kernel);
  const image::BlurShaders shaders = image::blur_shaders("sharpen", true);
  kernel.shaders = shaders.all();
  kernel.gpu = [shaders](const KernelCall& call, std::span<const TensorSpec>, const GpuTraits&) {
    const auto given = options::from<Sharpen>(call.params);
    return image::blur_gpu_plan("sharpen", shaders, call, image::Blur::of(given), given.strength);
  };
  return registry.add(std::move(kernel));
}

}  // namespace stoker::kernels::sharpen
