// Scales features to a common range, and encodes labels as vectors.
//
//     Tensor z = normalize(x);                                  // mean 0, deviation 1, by column
//     NormalStats seen = normalize_stats(train_x, {NormalizeMethod::minmax});  // measured once …
//     Tensor test_z = normalize_with_stats(test_x, seen);       // … and used for what comes later
//
// The methods:
//   standard  (x - mean) / deviation over `axes`, the deviation of the population (ddof 0)
//   minmax    (x - min) / (max - min) over `axes`
//   l2        x / sqrt(sum of squares over `axes`)
// Default axes: [0], so that each feature is scaled by its own statistics; for l2 all but the
// first, so that each row is (for a vector, all). A divisor of 0 counts as 1: a constant feature
// gives 0, a row of zeros stays zero. Integers become f32.
//
// Pure functions; any thread. jit() can trace all of them except one_hot() without a number of
// classes, which reads the labels. Throws shape_mismatch for scalars and statistics that do not
// fit, invalid_parameter for axes and for a method that is none of these, invalid_argument for
// statistics of l2 (it has none), dtype_mismatch for labels that are not integers.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>
#include <utility>

#include "stoker/api/tensor/core/axes.hpp"
#include "stoker/api/tensor/core/tensor.hpp"

namespace stoker::nn {

enum class NormalizeMethod : std::uint8_t { standard, minmax, l2 };
/// The words for them, which scripts take.
inline constexpr std::array<std::pair<std::string_view, NormalizeMethod>, 3> normalize_methods{
    {{"standard", NormalizeMethod::standard},
     {"minmax", NormalizeMethod::minmax},
     {"l2", NormalizeMethod::l2}}};

struct NormalizeOptions {
  NormalizeMethod method = NormalizeMethod::standard;
  std::optional<Axes> axes = {};
};

/// Statistics measured on one set of rows and applied to others; they broadcast with those.
struct NormalStats {
  NormalizeMethod method = NormalizeMethod::standard;
  Tensor shift;    ///< mean or min
  Tensor divisor;  ///< deviation or max - min; 0 for a constant feature
};
template <class V> void visit_tensors(NormalStats& stats, V&& visitor) {
  visitor(stats.shift);
  visitor(stats.divisor);
}

[[nodiscard]] Tensor normalize(const Tensor& x, const NormalizeOptions& options = {});
[[nodiscard]] NormalStats normalize_stats(const Tensor& x, const NormalizeOptions& options = {});
[[nodiscard]] Tensor normalize_with_stats(const Tensor& x, const NormalStats& stats);

/// f32 [.., n]: 1 at the label's index, 0 elsewhere; a label out of range gives zeros. By default
/// the number of classes is the largest label + 1.
[[nodiscard]] Tensor one_hot(const Tensor& labels, std::optional<std::int64_t> num_classes = {});

}  // namespace stoker::nn
