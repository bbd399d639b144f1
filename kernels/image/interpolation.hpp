// Values between neighbours along one axis: filters, where outputs look, and what each input counts there.
//
// Input k lies at place k. Values; any thread.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace stoker::image {

/// A filter: what a neighbour counts by its distance. All count 1 at 0 and 0 at other whole distances.
struct Interpolation {
  enum class Form : std::uint8_t {
    linear,   ///< 1 − |d|
    cubic,    ///< R. Keys, Cubic Convolution Interpolation (1981)
    lanczos,  ///< sinc(d) sinc(d ⁄ reach): C. Duchon, J. Appl. Meteorol. 18 (1979)
  };
  Form form = Form::linear;
  std::int64_t reach = 1;  ///< neighbours at this distance and beyond count nothing
  double coefficient = 0;  ///< of cubic, Keys' a

  [[nodiscard]] static constexpr Interpolation linear() noexcept { return {}; }
  [[nodiscard]] static constexpr Interpolation cubic(double a = -0.5) noexcept {
    return {Form::cubic, 2, a};
  }
  [[nodiscard]] static constexpr Interpolation lanczos(std::int64_t radius) noexcept {
    return {Form::lanczos, radius, 0};
  }

  /// At a distance of either sign.
  [[nodiscard]] double weight(double distance) const noexcept;
};

/// Keys' cubic at a distance d in [0, 1], and at one in [1, 2]. V is a number or a tensor.
template <class V> [[nodiscard]] V cubic_within_one(double a, const V& d) {
  return ((a + 2) * d - (a + 3)) * d * d + 1;
}
template <class V> [[nodiscard]] V cubic_within_two(double a, const V& d) {
  return ((a * d - 5 * a) * d + 8 * a) * d - 4 * a;
}

/// Where output `i` of `out` looks if outputs and `in` inputs cover the same range with their centres at halves:
/// (i + 1/2) · in ⁄ out − 1/2.
[[nodiscard]] double half_pixel_place(std::int64_t i, std::int64_t in, std::int64_t out) noexcept;
/// The input that this place lies in: floor((i + 1/2) · in ⁄ out). Precondition: in and out fit in 31 bits.
[[nodiscard]] std::int64_t half_pixel_nearest(std::int64_t i, std::int64_t in,
                                              std::int64_t out) noexcept;
/// How much wider an antialiased filter is: the ratio in ⁄ out where an axis shrinks, else 1.
[[nodiscard]] double filter_stretch(std::int64_t in, std::int64_t out, bool antialias) noexcept;

/// What a filter finds past an edge.
enum class Beyond : std::uint8_t {
  edge,     ///< the input at the edge again: the weight is added to that one's
  nothing,  ///< no input, so that the others count more
};

/// What the outputs of an axis take of its inputs.
class AxisWeights {
 public:
  /// A filter that is `stretch` times as wide, on an axis of `in` inputs. Preconditions: both ≥ 1.
  AxisWeights(const Interpolation& filter, double stretch, std::int64_t in, Beyond beyond);

  /// How many inputs an output takes, at most all.
  [[nodiscard]] std::int64_t taps() const noexcept {
    return static_cast<std::int64_t>(weights_.size());
  }

  /// The weights of taps() consecutive inputs from `first` on, all of which exist.
  struct Taps {
    std::int64_t first;
    std::span<const double> weights;  ///< until the next call
  };
  /// For an output that looks at `place`. The weights sum to 1, or are all 0 where no input counts.
  [[nodiscard]] Taps at(double place);

 private:
  Interpolation filter_;
  double stretch_;
  std::int64_t in_;
  Beyond beyond_;
  std::int64_t side_;  ///< inputs at each side of a place that may count
  std::vector<double> weights_;
};

}  // namespace stoker::image
