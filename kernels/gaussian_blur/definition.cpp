#include "stoker/kernels/gaussian_blur/options.hpp"
#include "stoker/kernels/image/blur_gpu.hpp"
#include "stoker/kernels/image/image.hpp"
#include "stoker/kernels/image/one_pass.hpp"
#include "stoker/kernels/kernel.hpp"

namespace stoker::kernels::gaussian_blur {

Result<void> define(KernelRegistry& registry) {
  auto kernel = kernel_of<GaussianBlur>();
  kernel.family = "image";
  kernel.summary =
      "y = x convolved with a (2 radius + 1)-wide Gaussian in both directions; every channel, "
      "alpha "
      "included, is blurred by itself";
  kernel.source = "sigma from radius: OpenCV 4.6, getGaussianKernel";
  kernel.dtypes = image::dtypes();
  image::keep_shape(kernel);
  const image::BlurShaders shaders = image::blur_shaders("gaussian_blur", false);
  kernel.shaders = shaders.all();
  kernel.gpu = [shaders](const KernelCall& call, std::span<const TensorSpec>, const GpuTraits&) {
    const auto blur = image::Blur::of(options::from<GaussianBlur>(call.params));
    return image::blur_gpu_plan("gaussian_blur", shaders, call, blur, 0.0);
  };
  return registry.add(std::move(kernel));
}

}  // namespace stoker::kernels::gaussian_blur
