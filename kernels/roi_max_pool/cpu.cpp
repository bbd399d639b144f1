#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "stoker/kernels/boxes/pool_bins.hpp"
#include "stoker/kernels/roi_max_pool/options.hpp"

namespace stoker::kernels::roi_max_pool::STOKER_ISA {
namespace {

namespace cpu = stoker::kernels::cpu::STOKER_ISA;

/// Pixels from the first on and before the last.
struct Pixels {
  std::int64_t first, last;
};

template <class T> class LargestPixel {
  using A = cpu::Compute<T>;

 public:
  explicit LargestPixel(const KernelCall& call)
      : scale_{static_cast<float>(options::from<RoiMaxPool>(call.params).scale)},
        columns_{call.shape()[3]} {}

  /// In whole numbers, so that no edge is rounded.
  [[nodiscard]] Pixels along(A low, A high, std::int64_t bins, std::int64_t bin,
                             std::int64_t extent) const {
    const std::int64_t from = pixel_at(low);
    const std::int64_t size = std::max<std::int64_t>(pixel_at(high) - from + 1, 1);
    const auto in_image = [&](std::int64_t behind) {
      return std::clamp<std::int64_t>(from + behind, 0, extent);
    };
    return {in_image(bin * size / bins), in_image(((bin + 1) * size + bins - 1) / bins)};
  }

  [[nodiscard]] A pooled(const T* plane, const Pixels& down, const Pixels& across) const {
    if (down.first >= down.last || across.first >= across.last) return 0;
    A greatest = -std::numeric_limits<A>::infinity();
    std::array<A, 64> pixels;
    for (std::int64_t row = down.first; row < down.last; ++row)
      for (std::int64_t at = across.first; at < across.last;) {
        const std::int64_t count = std::min<std::int64_t>(across.last - at, std::ssize(pixels));
        cpu::load_block(plane + row * columns_ + at, pixels.data(),
                        static_cast<std::size_t>(count));
        for (std::int64_t i = 0; i < count; ++i)
          if (pixels[static_cast<std::size_t>(i)] > greatest)
            greatest = pixels[static_cast<std::size_t>(i)];
        at += count;
      }
    return greatest;
  }

 private:
  /// The nearest pixel, halves away from 0. What is further away is outside of any image.
  [[nodiscard]] std::int64_t pixel_at(A at) const {
    constexpr A most = A(1 << 30);
    at *= static_cast<A>(scale_);
    return static_cast<std::int64_t>(at >= -most ? std::round(std::min(at, most)) : -most);
  }

  const float scale_;  // as shaders are given it
  const std::int64_t columns_;
};

Result<CpuPlan> plan(const KernelCall& call, std::span<const TensorSpec> outputs) {
  const Shape& x = call.shape();
  const Shape& y = outputs[0].shape;
  // As if each box took a quarter of the image.
  const double pixels = static_cast<double>(x[2] * x[3]) / 4 / static_cast<double>(y[2] * y[3]);
  return boxes::STOKER_ISA::plan_of<LargestPixel>(call, outputs[0], 20 + 0.2 * pixels);
}

}  // namespace

void implement(CpuTable& table) { table.set("roi_max_pool", &plan); }

}  // namespace stoker::kernels::roi_max_pool::STOKER_ISA
