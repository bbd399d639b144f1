// Convolutions of 8-bit integers by our own loops, in 16 bits: for processors where oneDNN's would not be
// exact, and for what it has no fast way for.
#pragma once

#include "stoker/kernels/integer_conv/canvas.hpp"
#include "stoker/kernels/integer_matmul/dots.hpp"
#include "stoker/kernels/integer_matmul/lines.hpp"

namespace stoker::kernels::integer_conv::STOKER_ISA {

using integer_matmul::STOKER_ISA::aligned;
using integer_matmul::STOKER_ISA::zero_of;

struct Windows {
  Problem problem;
  Canvas canvas{problem};
  /// Elements that neighbouring taps have side by side, on the canvas and in the weights.
  struct Run {
    std::int64_t at;  ///< from the window's first element
    std::int64_t length;
  };
  std::vector<Run> runs = runs_of();
  std::size_t weights_at = 0;  ///< scratch: the canvas, then the weights as [output, tap, channel]

  [[nodiscard]] std::vector<Run> runs_of() const {
    const std::int64_t channels = problem.channels(), each = problem.conv.channels;
    const auto& extents = canvas.extents();
    const conv::Axis d = problem.axis(0), h = problem.axis(1), w = problem.axis(2);
    std::vector<Run> made;
    for (std::int64_t a = 0; a < d.taps; ++a)
      for (std::int64_t b = 0; b < h.taps; ++b)
        for (std::int64_t c = 0; c < w.taps; ++c) {
          const std::int64_t at =
              ((a * d.tap_step * extents[1] + b * h.tap_step) * extents[2] + c * w.tap_step) *
              channels;
          if (!made.empty() && made.back().at + made.back().length == at)
            made.back().length += each;
          else
            made.push_back({at, each});
        }
    return made;
  }

  /// The weights of output `o`, taps before channels, without their zero point.
  void widen_weights(const CpuArgs& args, std::int64_t o) const noexcept {
    const std::int64_t taps = problem.conv.taps(), channels = problem.conv.channels;
    const int zero = zero_of(problem.k, args, o);
    auto* const to =
        reinterpret_cast<std::int16_t*>(args.scratch + weights_at) + o * taps * channels;
    const auto copy = [&](const auto* from) {
      for (std::int64_t c = 0; c < channels; ++c)
        for (std::int64_t t = 0; t < taps; ++t)
          to[t * channels + c] = static_cast<std::int16_t>(from[problem.weight_at(o, c, t)] - zero);
    };
    problem.k.is_signed ? copy(args.in<std::int8_t>(1)) : copy(args.in<std::uint8_t>(1));
  }

  /// All outputs of one row of pixels, counted through all images.
  void run(const CpuArgs& args, std::int64_t row) const noexcept {
    const conv::Problem& p = problem.conv;
    const conv::Axis d = problem.axis(0), h = problem.axis(1), w = problem.axis(2);
    const std::int64_t image = row / (d.out * h.out);
    const std::int64_t z = row / h.out % d.out, y = row % h.out;
    const auto& extents = canvas.extents();
    const auto* const x =
        reinterpret_cast<const std::int16_t*>(args.scratch) + image * canvas.image_elements() +
        (z * d.stride * extents[1] + y * h.stride) * extents[2] * problem.channels();
    const auto* const weights = reinterpret_cast<const std::int16_t*>(args.scratch + weights_at);
    std::uint32_t* const to =
        args.out<std::uint32_t>() + image * p.y_image + (z * h.out + y) * w.out;
    constexpr std::int64_t most = 16;  // outputs at a time
    for (std::int64_t i = 0; i < w.out; ++i)
      for (std::int64_t o = 0, count = 0; o < problem.outputs(); o += count) {
        // Those of one group.
        const std::int64_t group = o / p.outputs;
        count = std::min(most, (group + 1) * p.outputs - o);
        std::uint32_t sums[most] = {};
        const std::int16_t* k = weights + o * problem.terms();
        const std::int16_t* const from = x + i * w.stride * problem.channels() + group * p.channels;
        for (const Run& one : runs) {
          integer_matmul::STOKER_ISA::add_dots(from + one.at, k, problem.terms(), one.length, count,
                                               sums);
          k += one.length;
        }
        for (std::int64_t j = 0; j < count; ++j) to[(o + j) * p.pixels() + i] = sums[j];
      }
  }
};

/// For a problem with at least one output, and terms.
[[nodiscard]] inline CpuPlan windows_plan(const Problem& problem) {
  auto made = std::make_shared<Windows>(Windows{.problem = problem});
  const Canvas& canvas = made->canvas;
  const std::int64_t images = problem.conv.images;
  made->weights_at = aligned(static_cast<std::size_t>(images * canvas.image_elements()) * 2);
  CpuPlan plan;
  plan.scratch_bytes =
      made->weights_at + static_cast<std::size_t>(problem.outputs() * problem.terms()) * 2;
  const std::shared_ptr<const Windows> windows = made;
  const std::int64_t pieces = images * canvas.pieces_of_image();
  const auto units = static_cast<std::size_t>(pieces + problem.outputs());
  const auto copies = static_cast<std::uint32_t>(
      std::min<std::size_t>(units, slice_count(plan.scratch_bytes, std::size_t{64} << 10)));
  plan.stages.push_back(
      {copies, [=](const CpuArgs& args, std::uint32_t index) {
         const SliceRange range = slice_range(units, copies, index, 1);
         auto* const to = reinterpret_cast<std::int16_t*>(args.scratch);
         const Side& x = windows->problem.x;
         for (auto i = static_cast<std::int64_t>(range.begin);
              i < static_cast<std::int64_t>(range.end); ++i) {
           if (i >= pieces)
             windows->widen_weights(args, i - pieces);
           else if (x.is_signed)
             windows->canvas.widen(args.in<std::int8_t>(0), i, zero_of(x, args), to);
           else
             windows->canvas.widen(args.in<std::uint8_t>(0), i, zero_of(x, args), to);
         }
       }});
  const auto rows = static_cast<std::size_t>(images * problem.axis(0).out * problem.axis(1).out);
  const auto slices = static_cast<std::uint32_t>(std::min<std::size_t>(
      rows, slice_count(static_cast<std::size_t>(problem.conv.work()), std::size_t{1} << 19)));
  plan.stages.push_back({slices, [=](const CpuArgs& args, std::uint32_t index) {
                           const SliceRange range = slice_range(rows, slices, index, 1);
                           for (std::size_t row = range.begin; row < range.end; ++row)
                             windows->run(args, static_cast<std::int64_t>(row));
                         }});
  return plan;
}

}  // namespace stoker::kernels::integer_conv::STOKER_ISA
