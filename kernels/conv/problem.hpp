// What one general convolution has to do, worked out once from shapes and parameters.
#pragma once

#include <algorithm>
#include <array>

#include "stoker/kernels/call.hpp"

namespace stoker::kernels::conv {

/// One spatial axis. Output entry i and tap t meet the input's entry a / spread with
///     a = i · stride + t · tap_step − low
/// if a is a multiple of `spread` and the entry exists; else they meet a 0.
struct Axis {
  std::int64_t out = 1;
  std::int64_t in = 1;
  std::int64_t taps = 1;
  std::int64_t stride = 1;
  std::int64_t tap_step = 1;  ///< the kernel's dilation
  std::int64_t spread = 1;    ///< the input's dilation
  std::int64_t low = 0;       ///< negative: entries cropped
  // Steps in memory from one entry to the next, in elements; negative for a kernel read backwards.
  std::int64_t x_step = 0;
  std::int64_t k_step = 0;
  std::int64_t y_step = 0;

  /// Entries of the input between the first and the last one that a window covers, spread out.
  [[nodiscard]] std::int64_t reach() const noexcept { return (taps - 1) * tap_step + 1; }
  [[nodiscard]] Axis without_unused_steps() const noexcept {
    Axis result = *this;
    if (out == 1) result.stride = 1;
    if (taps == 1) result.tap_step = 1;
    if (in <= 1) result.spread = 1;
    return result;
  }
};

/// y[n, g, o, i…] = bias[g, o] + sum over c < channels and taps t… of x[n, g, c, (i…, t…)] · k[g, o, c, t…]
/// where n < images, g < groups, o < outputs. Where things lie is said by steps alone, so every order
/// of axes is read and written in place. Batch groups differ from feature groups in x_group only.
struct Problem {
  static constexpr std::size_t max_axes = Shape::max_rank - 2;

  std::int64_t images = 1;
  std::int64_t groups = 1;
  std::int64_t channels = 1;  ///< of one group
  std::int64_t outputs = 1;   ///< of one group
  /// Channels and outputs of a block of the kernel, which then has no steps. 0: no blocks.
  std::int64_t kernel_block = 0;
  bool batch_groups = false;  ///< groups are parts of the input's batch
  bool flipped = false;       ///< the kernel is read backwards along its spatial axes
  bool winograd = false;      ///< windows of 3×3 may be computed with fewer products
  bool bias = false;          ///< input 2 has a number for each output of each group, to be added

  std::int64_t x_image = 0, x_group = 0, x_channel = 0;
  std::int64_t k_group = 0, k_output = 0, k_channel = 0;
  std::int64_t y_image = 0, y_group = 0, y_output = 0;
  std::int64_t k_first = 0;  ///< where the kernel's first tap lies

  std::size_t rank = 0;  ///< axes that matter: one entry met by one tap is left out
  std::array<Axis, max_axes> axes;

  [[nodiscard]] std::int64_t pixels() const noexcept {
    std::int64_t product = 1;
    for (std::size_t i = 0; i < rank; ++i) product *= axes[i].out;
    return product;
  }
  [[nodiscard]] std::int64_t taps() const noexcept {
    std::int64_t product = 1;
    for (std::size_t i = 0; i < rank; ++i) product *= axes[i].taps;
    return product;
  }
  /// The last axis but one, and the last one, where there are at most two.
  [[nodiscard]] Axis down() const noexcept { return rank == 2 ? axes[0] : Axis{}; }
  [[nodiscard]] Axis across() const noexcept { return rank == 0 ? Axis{} : axes[rank - 1]; }
  /// Every output pixel meets exactly its own input pixel.
  [[nodiscard]] bool pointwise() const noexcept {
    return std::all_of(axes.begin(), axes.begin() + rank, [](const Axis& axis) {
      return axis.taps == 1 && axis.stride == 1 && axis.spread == 1 && axis.low == 0 &&
             axis.in == axis.out;
    });
  }
  /// Of the operands and the output.
  [[nodiscard]] std::int64_t x_elements() const noexcept {
    std::int64_t product = images * groups * channels;
    for (std::size_t i = 0; i < rank; ++i) product *= axes[i].in;
    return product;
  }
  [[nodiscard]] std::int64_t k_elements() const noexcept {
    return groups * outputs * channels * taps();
  }
  [[nodiscard]] std::int64_t y_elements() const noexcept {
    return images * groups * outputs * pixels();
  }
  /// Multiply-adds in all.
  [[nodiscard]] double work() const noexcept {
    return static_cast<double>(images * groups * outputs) * static_cast<double>(pixels()) *
           static_cast<double>(channels) * static_cast<double>(taps());
  }
};

/// Output pixels, of all images, that pay for the weights of Problem::winograd, which each run transforms.
inline constexpr std::int64_t winograd_pixels = 128;

/// Channels and outputs of a block that the CPU's library reads as it lies, on the processor that runs this.
/// Any thread.
[[nodiscard]] std::int64_t library_block() noexcept;

/// The same with a kernel [outputs, channels, taps…] in that order.
[[nodiscard]] Problem with_dense_kernel(Problem p) noexcept;

/// The output's spec, or why the inputs do not fit.
[[nodiscard]] Result<TensorSpec> infer(const KernelCall& call);

/// For a call that infer() has accepted and whose output is `output`.
[[nodiscard]] Problem describe(const KernelCall& call, const Shape& output);

}  // namespace stoker::kernels::conv
