#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "stoker/kernels/boxes/pool_bins.hpp"
#include "stoker/kernels/roi_align/options.hpp"

namespace stoker::kernels::roi_align::STOKER_ISA {
namespace {

namespace cpu = stoker::kernels::cpu::STOKER_ISA;

/// The samples of a bin along one axis: sample i is at start + (i + 0.5) step.
template <class A> struct Samples {
  A start = 0;
  A step = 0;
  A count = 1;
  std::int64_t first = 0;  ///< those from here to `last` may lie in the image
  std::int64_t last = 0;
};

/// Where a sample lies between two pixels, and what the second counts.
template <class A> struct Between {
  std::int64_t first = 0;
  std::int64_t second = 0;
  A share = 0;
};

template <class T> class BilinearSamples {
  using A = cpu::Compute<T>;

 public:
  explicit BilinearSamples(const KernelCall& call)
      : how_{options::from<RoiAlign>(call.params)},
        rows_{call.shape()[2]},
        columns_{call.shape()[3]} {}

  [[nodiscard]] Samples<A> along(A low, A high, std::int64_t bins, std::int64_t bin,
                                 std::int64_t extent) const {
    const A scale = static_cast<A>(how_.scale);
    const A offset = how_.half_pixel ? A(0.5) : A(0);
    const A from = low * scale - offset;
    A size = high * scale - offset - from;
    if (!how_.half_pixel) size = std::max(size, A(1));
    size /= static_cast<A>(bins);
    Samples<A> made;
    if (how_.samples > 0) made.count = static_cast<A>(how_.samples);
    made.start = from + static_cast<A>(bin) * size;
    if (!std::isfinite(made.start) || !std::isfinite(size)) return made;
    if (how_.samples == 0)
      made.count = std::clamp(std::ceil(size), A(1), static_cast<A>(RoiAlign::most_samples));
    made.step = size / made.count;
    const auto whole = [&](A at) {
      return static_cast<std::int64_t>(std::clamp(at, A(0), made.count));
    };
    made.last = static_cast<std::int64_t>(made.count);
    if (made.step > 0) {
      // What divides by little may be infinite, and is clamped. One more on each side for what is rounded.
      made.first = whole(std::floor((-1 - made.start) / made.step - A(0.5)) - 1);
      made.last = whole(std::ceil((static_cast<A>(extent) - made.start) / made.step - A(0.5)) + 2);
    }
    return made;
  }

  [[nodiscard]] A pooled(const T* plane, const Samples<A>& down, const Samples<A>& across) const {
    A total = 0;
    A greatest = -std::numeric_limits<A>::infinity();
    std::int64_t visited = 0;
    Between<A> y;
    Between<A> x;
    for (std::int64_t a = down.first; a < down.last; ++a) {
      if (!between(down, a, rows_, y)) continue;
      const T* const above = plane + y.first * columns_;
      const T* const below = plane + y.second * columns_;
      for (std::int64_t b = across.first; b < across.last; ++b) {
        if (!between(across, b, columns_, x)) continue;
        const std::array<A, 4> parts{(1 - y.share) * (1 - x.share) * value(above + x.first),
                                     (1 - y.share) * x.share * value(above + x.second),
                                     y.share * (1 - x.share) * value(below + x.first),
                                     y.share * x.share * value(below + x.second)};
        for (const A part : parts) {
          total += part;
          if (part > greatest) greatest = part;
        }
        ++visited;
      }
    }
    const A count = down.count * across.count;
    // Samples outside are 0.
    if (static_cast<A>(visited) < count) greatest = std::max(greatest, A(0));
    return how_.pool == RegionPool::max ? greatest : total / count;
  }

 private:
  /// False for a place more than a pixel outside of the image.
  [[nodiscard]] static bool between(const Samples<A>& axis, std::int64_t sample,
                                    std::int64_t extent, Between<A>& made) {
    A at = axis.start + (static_cast<A>(sample) + A(0.5)) * axis.step;
    if (at < -1 || at > static_cast<A>(extent)) return false;
    at = std::max(at, A(0));
    made.first = std::min(static_cast<std::int64_t>(at), extent - 1);
    made.second = std::min(made.first + 1, extent - 1);
    made.share = made.second > made.first ? at - static_cast<A>(made.first) : A(0);
    return true;
  }

  [[nodiscard]] static A value(const T* at) {
    A read = 0;
    cpu::load_block(at, &read, 1);
    return read;
  }

  const RoiAlign how_;
  const std::int64_t rows_, columns_;
};

Result<CpuPlan> plan(const KernelCall& call, std::span<const TensorSpec> outputs) {
  constexpr double ns_of_bin = 40;  // of a few samples
  return boxes::STOKER_ISA::plan_of<BilinearSamples>(call, outputs[0], ns_of_bin);
}

}  // namespace

void implement(CpuTable& table) { table.set("roi_align", &plan); }

}  // namespace stoker::kernels::roi_align::STOKER_ISA
