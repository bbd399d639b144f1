// The GPU version of the separable Gaussian blur, for gaussian_blur and sharpen.
//
// Up to a halo of max_tile_halo elements one dispatch does both directions: a group blurs its tile
// downwards into shared memory and across from there. Beyond, two dispatches with an f32 image
// between them. Both compute in f32.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "stoker/kernels/call.hpp"
#include "stoker/kernels/image/gaussian.hpp"
#include "stoker/kernels/shader/gpu_plan.hpp"

namespace stoker::image {

/// Radius times channels; the shared memory of the smallest device Vulkan allows holds this much.
inline constexpr std::int64_t max_tile_halo = 96;

struct BlurShaders {
  std::shared_ptr<const Shader> tile;
  std::shared_ptr<const Shader> down;
  std::shared_ptr<const Shader> across;

  [[nodiscard]] std::vector<std::shared_ptr<const Shader>> all() const {
    return {tile, down, across};
  }
};

/// Shaders named `kernel`_tile and so on. With `sharpen` the last step writes
/// x + strength · (x − blurred) in place of the blurred value, and keeps alpha.
[[nodiscard]] BlurShaders blur_shaders(const std::string& kernel, bool sharpen);

/// Precondition: check() accepted input 0. `strength` is read by sharpening shaders only.
[[nodiscard]] Result<GpuPlan> blur_gpu_plan(std::string_view op, const BlurShaders& shaders,
                                            const KernelCall& call, const Blur& blur,
                                            double strength);

}  // namespace stoker::image
