#include "stoker/kernels/brightness_contrast/options.hpp"
#include "stoker/kernels/image/by_dtype.hpp"
#include "stoker/kernels/image/image.hpp"
#include "stoker/kernels/image/lanes.hpp"
#include "stoker/kernels/image/pointwise.hpp"

namespace stoker::kernels::brightness_contrast::STOKER_ISA {
namespace {

using namespace image::STOKER_ISA;

/// y = x · factor + offset by vectors; with alpha, every fourth lane is left alone. Vectors begin at
/// multiples of four elements.
struct Line {
  Floats factor;
  Floats offset;

  Line(float f, float o, bool has_alpha) noexcept {
    for (std::size_t i = 0; i < lanes; ++i) {
      const bool alpha = has_alpha && i % 4 == 3;
      factor[i] = alpha ? 1.0F : f;
      offset[i] = alpha ? 0.0F : o;
    }
  }

  template <class T> void apply(const T* from, T* to, std::size_t n) const noexcept {
    over_row<lanes, 4>(n, [&](auto blocks, std::size_t start, auto part) {
      for (std::size_t i = start; i < start + blocks() * lanes; i += lanes)
        store(to + i, load(from + i, part) * factor + offset, part);
    });
  }
};

template <class T> CpuPlan plan_for(const KernelCall& call) {
  const auto given = options::from<BrightnessContrast>(call.params);
  const double white = std::is_same_v<T, std::uint8_t> ? 255.0 : 1.0;
  const auto factor = static_cast<float>(given.contrast);
  const auto offset = static_cast<float>(white * (0.5 - 0.5 * given.contrast + given.brightness));
  const bool alpha = image::extent(call.shape()).has_alpha();
  return pointwise_plan<T>(call, Line{factor, offset, alpha}, std::size_t{1} << 16,
                           0.1 * sizeof(T));
}

Result<CpuPlan> plan(const KernelCall& call, std::span<const TensorSpec>) {
  return by_dtype(call.dtype(), [&]<class T>() { return plan_for<T>(call); });
}

}  // namespace

void implement(CpuTable& table) { table.set("brightness_contrast", plan); }

}  // namespace stoker::kernels::brightness_contrast::STOKER_ISA
