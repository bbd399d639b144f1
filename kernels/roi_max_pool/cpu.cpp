#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <type_traits>

#include "stoker/kernels/cpu/convert.hpp"
#include "stoker/kernels/cpu_plan.hpp"
#include "stoker/kernels/roi_max_pool/options.hpp"

namespace stoker::kernels::roi_max_pool::STOKER_ISA {
namespace {

namespace cpu = stoker::kernels::cpu::STOKER_ISA;

/// Pixels from the first on and before the last.
struct Pixels {
  std::int64_t first, last;
};

template <class T> class Regions {
  using A = cpu::Compute<T>;

 public:
  Regions(const RoiMaxPool& how, const Shape& x, std::int64_t boxes)
      : how_{how}, batch_{x[0]}, channels_{x[1]}, rows_{x[2]}, columns_{x[3]}, boxes_{boxes} {}

  /// Rows of bins of all boxes.
  [[nodiscard]] std::size_t items() const noexcept {
    return static_cast<std::size_t>(boxes_ * how_.height);
  }

  void run(const CpuArgs& args, SliceRange range) const {
    for (std::size_t item = range.begin; item < range.end; ++item) {
      const auto box = static_cast<std::int64_t>(item) / how_.height;
      const auto row = static_cast<std::int64_t>(item) % how_.height;
      const std::int64_t image =
          std::clamp<std::int64_t>(args.in<std::int32_t>(2)[box], 0, batch_ - 1);
      std::array<A, 4> corners{};
      cpu::load_block(args.in<T>(1) + 4 * box, corners.data(), corners.size());
      const Pixels down = bin_of(corners[1], corners[3], how_.height, row, rows_);
      for (std::int64_t column = 0; column < how_.width; ++column) {
        const Pixels across = bin_of(corners[0], corners[2], how_.width, column, columns_);
        for (std::int64_t channel = 0; channel < channels_; ++channel) {
          const std::int64_t plane = image * channels_ + channel;
          const A most = largest(args.in<T>(0) + plane * rows_ * columns_, down, across);
          T* const to = args.out<T>() +
                        (((box * channels_ + channel) * how_.height + row) * how_.width + column);
          cpu::store_block(&most, to, 1);
        }
      }
    }
  }

 private:
  /// The nearest pixel, halves away from 0. What is further away is outside of any image.
  [[nodiscard]] std::int64_t pixel_at(A at) const {
    constexpr A most = A(1 << 30);
    at *= static_cast<A>(static_cast<float>(how_.scale));  // as shaders are given it
    return static_cast<std::int64_t>(at >= -most ? std::round(std::min(at, most)) : -most);
  }

  /// In whole numbers, so that no edge is rounded.
  [[nodiscard]] Pixels bin_of(A low, A high, std::int64_t bins, std::int64_t bin,
                              std::int64_t extent) const {
    const std::int64_t from = pixel_at(low);
    const std::int64_t size = std::max<std::int64_t>(pixel_at(high) - from + 1, 1);
    const auto in_image = [&](std::int64_t along) {
      return std::clamp<std::int64_t>(from + along, 0, extent);
    };
    return {in_image(bin * size / bins), in_image(((bin + 1) * size + bins - 1) / bins)};
  }

  [[nodiscard]] A largest(const T* plane, const Pixels& down, const Pixels& across) const {
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

  const RoiMaxPool how_;
  const std::int64_t batch_, channels_, rows_, columns_, boxes_;
};

template <class T> CpuPlan plan_for(const KernelCall& call, const TensorSpec& result) {
  const Regions<T> regions{options::from<RoiMaxPool>(call.params), call.shape(), call.shape(1)[0]};
  CpuPlan plan;
  if (result.elements() == 0) return plan;
  // As if each box took a quarter of the image.
  const double bins = static_cast<double>(result.shape[2] * result.shape[3]);
  const double pixels = static_cast<double>(call.shape()[2] * call.shape()[3]) / 4 / bins;
  constexpr double ns_of_bin = 20;
  plan.cost_ns = static_cast<double>(result.elements()) * (ns_of_bin + 0.2 * pixels);
  constexpr std::size_t ns_of_slice = 20'000;
  const std::uint32_t slices = std::min(
      slice_count(static_cast<std::size_t>(plan.cost_ns), ns_of_slice),
      static_cast<std::uint32_t>(std::min<std::size_t>(regions.items(), std::size_t{1} << 16)));
  plan.stages.push_back({slices, [=](const CpuArgs& args, std::uint32_t index) {
                           regions.run(args, slice_range(regions.items(), slices, index, 1));
                         }});
  return plan;
}

Result<CpuPlan> plan(const KernelCall& call, std::span<const TensorSpec> outputs) {
  CpuPlan made;
  visit_dtype(call.dtype(), [&]<class T>() {
    if constexpr (std::is_floating_point_v<cpu::Compute<T>>) made = plan_for<T>(call, outputs[0]);
  });
  return made;
}

}  // namespace

void implement(CpuTable& table) { table.set("roi_max_pool", &plan); }

}  // namespace stoker::kernels::roi_max_pool::STOKER_ISA
