// The walk over boxes, bins and channels of kernels that pool bins of boxes. Compiled once per instruction set.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <type_traits>

#include "stoker/kernels/cpu/convert.hpp"
#include "stoker/kernels/cpu_plan.hpp"

namespace stoker::kernels::boxes::STOKER_ISA {

/// `Pool` says how a bin is pooled. It computes in A = cpu::Compute<T>, and is made of a call. A box from `low` to
/// `high` has `bins` along an axis on which the images have `extent` pixels; what one of them takes there is
///     auto along(A low, A high, std::int64_t bins, std::int64_t bin, std::int64_t extent) const
/// A bin of a channel, whose pixels begin at `plane`, is pooled from what it takes of rows and of columns by
///     A pooled(const T* plane, const auto& down, const auto& across) const
template <class T, class Pool> class Walk {
  using A = cpu::STOKER_ISA::Compute<T>;

 public:
  Walk(const KernelCall& call, const TensorSpec& result)
      : pool_{call},
        batch_{call.shape()[0]},
        channels_{call.shape()[1]},
        rows_{call.shape()[2]},
        columns_{call.shape()[3]},
        boxes_{result.shape[0]},
        height_{result.shape[2]},
        width_{result.shape[3]} {}

  /// Rows of bins of all boxes.
  [[nodiscard]] std::size_t items() const noexcept {
    return static_cast<std::size_t>(boxes_ * height_);
  }

  void run(const CpuArgs& args, SliceRange range) const {
    for (std::size_t item = range.begin; item < range.end; ++item) {
      const auto box = static_cast<std::int64_t>(item) / height_;
      const auto row = static_cast<std::int64_t>(item) % height_;
      const std::int64_t image =
          std::clamp<std::int64_t>(args.in<std::int32_t>(2)[box], 0, batch_ - 1);
      std::array<A, 4> corners{};
      cpu::STOKER_ISA::load_block(args.in<T>(1) + 4 * box, corners.data(), corners.size());
      const auto down = pool_.along(corners[1], corners[3], height_, row, rows_);
      for (std::int64_t column = 0; column < width_; ++column) {
        const auto across = pool_.along(corners[0], corners[2], width_, column, columns_);
        for (std::int64_t channel = 0; channel < channels_; ++channel) {
          const std::int64_t plane = image * channels_ + channel;
          const A pooled = pool_.pooled(args.in<T>(0) + plane * rows_ * columns_, down, across);
          T* const to =
              args.out<T>() + (((box * channels_ + channel) * height_ + row) * width_ + column);
          cpu::STOKER_ISA::store_block(&pooled, to, 1);
        }
      }
    }
  }

 private:
  const Pool pool_;
  const std::int64_t batch_, channels_, rows_, columns_, boxes_, height_, width_;
};

/// The CPU version of a kernel. `ns_of_bin` is a guess of what one bin of a channel takes.
template <template <class> class Pool>
[[nodiscard]] CpuPlan plan_of(const KernelCall& call, const TensorSpec& result, double ns_of_bin) {
  CpuPlan plan;
  plan.cost_ns = static_cast<double>(result.elements()) * ns_of_bin;
  visit_dtype(call.dtype(), [&]<class T>() {
    if constexpr (std::is_floating_point_v<cpu::STOKER_ISA::Compute<T>>) {
      const Walk<T, Pool<T>> walk{call, result};
      constexpr std::size_t ns_of_slice = 20'000;
      const std::uint32_t slices =
          std::min(slice_count(static_cast<std::size_t>(plan.cost_ns), ns_of_slice),
                   static_cast<std::uint32_t>(std::min<std::size_t>(walk.items(), 1 << 16)));
      plan.stages.push_back({slices, [=](const CpuArgs& args, std::uint32_t index) {
                               walk.run(args, slice_range(walk.items(), slices, index, 1));
                             }});
    }
  });
  return plan;
}

}  // namespace stoker::kernels::boxes::STOKER_ISA
