// The input of a convolution as its loops read it: channels last, with the padding around it, so that every window lies
// inside.
//
// Compiled once per instruction set. Immutable; any thread.
#pragma once

#include <array>

#include "stoker/kernels/integer_conv/bytes.hpp"
#include "stoker/kernels/integer_conv/problem.hpp"

namespace stoker::kernels::integer_conv::STOKER_ISA {

class Canvas {
 public:
  explicit Canvas(const Problem& problem)
      : channels_{problem.channels()},
        image_step_{problem.conv.x_image},
        channel_step_{problem.conv.x_channel} {
    for (std::size_t i = 0; i < 3; ++i) {
      const conv::Axis axis = problem.axis(i);
      extents_[i] = (axis.out - 1) * axis.stride + axis.reach();
      spans_[i] = {axis.in, extents_[i], axis.low, axis.x_step};
    }
    // Rows that follow each other without padding are one long row.
    for (int round = 0; round < 2; ++round) {
      Span& row = spans_[2];
      const Span& above = spans_[1];
      if (row.low != 0 || row.in != row.extent || (above.in > 1 && above.step != row.in * row.step))
        break;
      row = {above.in * row.in, above.extent * row.extent, above.low * row.extent, row.step};
      spans_[1] = spans_[0];
      spans_[0] = {1, 1, 0, 0};
    }
    // Threads share long ones.
    const std::int64_t row = spans_[2].extent * channels_;
    pieces_ = std::clamp<std::int64_t>(row >> 16, 1, spans_[2].extent);
  }

  /// Of space, the outermost axis first.
  [[nodiscard]] const std::array<std::int64_t, 3>& extents() const noexcept { return extents_; }
  [[nodiscard]] std::int64_t image_elements() const noexcept {
    return extents_[0] * extents_[1] * extents_[2] * channels_;
  }
  /// What is copied at once: pieces of rows.
  [[nodiscard]] std::int64_t pieces_of_image() const noexcept {
    return spans_[0].extent * spans_[1].extent * pieces_;
  }

  /// Piece `piece`, counted through all images, to where it belongs behind `to`; each byte xor `flip`, `padding`
  /// elsewhere.
  void copy(const std::uint8_t* x, std::int64_t piece, std::uint8_t flip, std::uint8_t padding,
            std::uint8_t* to) const noexcept {
    const Inside<std::uint8_t> of = inside(x, piece);
    to += of.at * channels_;
    std::memset(to, padding, static_cast<std::size_t>(of.first * channels_));
    std::memset(to + of.last * channels_, padding,
                static_cast<std::size_t>((of.size - of.last) * channels_));
    const std::int64_t step = spans_[2].step, count = of.last - of.first;
    to += of.first * channels_;
    if (step == 1 || count == 1)
      return transpose_bytes(of.from, channel_step_, channels_, count, flip, to, channels_);
    for (std::int64_t i = 0; i < count; ++i)
      for (std::int64_t c = 0; c < channels_; ++c)
        to[i * channels_ + c] =
            static_cast<std::uint8_t>(of.from[i * step + c * channel_step_] ^ flip);
  }
  /// The same in 16 bits: what is left without `zero`, and 0 elsewhere.
  template <class S>
  void widen(const S* x, std::int64_t piece, int zero, std::int16_t* to) const noexcept {
    const Inside<S> of = inside(x, piece);
    to += of.at * channels_;
    std::fill_n(to, of.first * channels_, std::int16_t{0});
    std::fill_n(to + of.last * channels_, (of.size - of.last) * channels_, std::int16_t{0});
    for (std::int64_t i = of.first; i < of.last; ++i)
      for (std::int64_t c = 0; c < channels_; ++c)
        to[i * channels_ + c] = static_cast<std::int16_t>(
            of.from[(i - of.first) * spans_[2].step + c * channel_step_] - zero);
  }

 private:
  struct Span {
    std::int64_t in, extent, low, step;
  };
  /// A piece of `size` entries, the first of which is entry `at` of all images. The input has those from `first` up to
  /// `last`; `from` is where the first of them lies.
  template <class S> struct Inside {
    const S* from;
    std::int64_t at, size, first, last;
  };
  template <class S> [[nodiscard]] Inside<S> inside(const S* x, std::int64_t piece) const noexcept {
    const std::int64_t row = piece / pieces_;
    const std::int64_t rows = spans_[0].extent * spans_[1].extent;
    const std::int64_t d = row % rows / spans_[1].extent - spans_[0].low;
    const std::int64_t h = row % spans_[1].extent - spans_[1].low;
    const Span& w = spans_[2];
    const std::int64_t begin = w.extent * (piece % pieces_) / pieces_;
    const std::int64_t end = w.extent * (piece % pieces_ + 1) / pieces_;
    Inside<S> of{x, row * w.extent + begin, end - begin, 0, 0};
    if (d < 0 || d >= spans_[0].in || h < 0 || h >= spans_[1].in) return of;
    const std::int64_t first = std::clamp(w.low, begin, end);
    const std::int64_t last = std::clamp(w.low + w.in, first, end);
    of.from = x + row / rows * image_step_ + d * spans_[0].step + h * spans_[1].step +
              (first - w.low) * w.step;
    of.first = first - begin;
    of.last = last - begin;
    return of;
  }

  std::int64_t channels_, image_step_, channel_step_;
  std::array<std::int64_t, 3> extents_;
  std::array<Span, 3> spans_;
  std::int64_t pieces_ = 1;
};

}  // namespace stoker::kernels::integer_conv::STOKER_ISA
