// Random cases for comparisons: shapes, dtypes and values, awkward ones among them.
//
// One generator with a seed; not for several threads.
#pragma once

#include <random>
#include <string_view>
#include <vector>

#include "stoker/api/tensor.hpp"

namespace stoker::compare {

/// Which numbers an operand takes.
enum class Range : std::uint8_t {
  any,       ///< everything that the dtype holds, infinities and NaN included
  finite,    ///< from small to large
  moderate,  ///< within ±4
  unit,      ///< within ±1
  small,     ///< within ±1/4
  share,     ///< from 0 to 1
  positive,  ///< from 1e-3 to 1e3
};

class Draw {
 public:
  /// `subnormal`: whether the device keeps numbers below the normal ones.
  Draw(std::uint64_t seed, bool subnormal) : random_{seed}, subnormal_{subnormal} {}

  [[nodiscard]] std::int64_t integer(std::int64_t low, std::int64_t high);
  [[nodiscard]] double real(double low, double high);
  [[nodiscard]] bool chance(double share) { return real(0, 1) < share; }
  template <class T> [[nodiscard]] const T& of(const std::vector<T>& all) {
    return all[static_cast<std::size_t>(integer(0, static_cast<std::int64_t>(all.size()) - 1))];
  }

  /// At most `rank` axes and about `elements` elements, with extents around powers of two and primes.
  [[nodiscard]] Shape shape(std::size_t rank = 4, std::int64_t elements = 3000);
  /// The same with at least one axis.
  [[nodiscard]] Shape array(std::size_t rank = 4, std::int64_t elements = 3000);
  [[nodiscard]] std::int64_t extent(std::int64_t most);
  /// One that broadcasts with `shape`.
  [[nodiscard]] Shape beside(const Shape& shape);

  [[nodiscard]] DType number();  ///< any but bool and complex ones
  [[nodiscard]] DType floating();
  [[nodiscard]] Tensor tensor(const TensorSpec& spec, Range range);
  /// Integers from `low` to `high`, which the dtype holds.
  [[nodiscard]] Tensor integers(const TensorSpec& spec, std::int64_t low, std::int64_t high);

 private:
  [[nodiscard]] double value(DType dtype, Range range);

  std::mt19937_64 random_;
  bool subnormal_;
};

}  // namespace stoker::compare
