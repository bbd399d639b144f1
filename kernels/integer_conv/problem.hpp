// What one convolution of 8-bit integers has to do, worked out once for every backend.
#pragma once

#include "stoker/kernels/conv/options.hpp"
#include "stoker/kernels/conv/problem.hpp"
#include "stoker/kernels/integer_conv/options.hpp"
#include "stoker/kernels/integer_matmul/problem.hpp"

namespace stoker::kernels::integer_conv {

using integer_matmul::Side;

/// Of kernel_blocked: outputs and channels of a block, and those of its channels that are neighbours.
inline constexpr std::int64_t kernel_block = 16, kernel_fours = 4;

/// `x` has one zero point or none; the lines of `k` are the outputs of all groups.
struct Problem {
  conv::Problem conv;
  Side x, k;
  bool kernel_blocked = false;

  /// Axis 0, 1 or 2 of space: those that conv::Problem leaves out come first, with one entry.
  [[nodiscard]] conv::Axis axis(std::size_t i) const noexcept {
    const std::size_t first = 3 - conv.rank;
    return i < first ? conv::Axis{} : conv.axes[i - first];
  }
  [[nodiscard]] std::int64_t outputs() const noexcept { return conv.groups * conv.outputs; }
  [[nodiscard]] std::int64_t channels() const noexcept { return conv.groups * conv.channels; }
  /// Products that make one output.
  [[nodiscard]] std::int64_t terms() const noexcept { return conv.channels * conv.taps(); }
  /// Where the kernel has the weight of an output of all groups, a channel and a tap, counted through space.
  [[nodiscard]] std::int64_t weight_at(std::int64_t output, std::int64_t channel,
                                       std::int64_t tap) const noexcept {
    const std::int64_t taps = conv.taps();
    if (!kernel_blocked) return (output * conv.channels + channel) * taps + tap;
    constexpr std::int64_t b = kernel_block, fours = kernel_fours;
    return ((output / b * (conv.channels / b) + channel / b) * taps + tap) * b * b +
           (channel % b / fours * b + output % b) * fours + channel % fours;
  }
};

/// The same options of conv.
[[nodiscard]] Conv as_conv(const IntegerConv& given);

/// The shape of the kernel as [outputs, channels, space], also where it is blocked.
[[nodiscard]] Result<Shape> kernel_shape(const KernelCall& call);

/// The output's spec, or why the inputs do not fit. Shapes are conv's, with one to three spatial axes; s8 and u8 may be
/// mixed, and zero points have the dtype of their operand and one element, those of k also one for each output.
[[nodiscard]] Result<TensorSpec> infer(const KernelCall& call);

/// For a call that infer() has accepted and whose output is `output`.
[[nodiscard]] Problem describe(const KernelCall& call, const Shape& output);

}  // namespace stoker::kernels::integer_conv
