// Features brought to a common scale, and labels as vectors.
//
//     Tensor z = normalize(x);                                  // mean 0, deviation 1, by column
//     NormalStats seen = normalize_stats(train_x, {"minmax"});  // measured once …
//     Tensor test_z = normalize_with_stats(test_x, seen);       // … and used for what comes later
//
// The methods:
//   standard  (x - mean) / deviation over `axes`, the deviation of the population (ddof 0)
//   minmax    (x - min) / (max - min) over `axes`
//   l2        x / sqrt(sum of squares over `axes`)
// Axes: [0] unless given, which makes each feature's own; of l2 all but the first, which makes each
// row's own (of a vector: all). A divisor of 0 counts as 1: a feature that is constant gives 0,
// a row of zeros stays one. Integers become f32.
//
// Pure functions, traced by jit(), but for one_hot() without a number of classes, which reads the
// labels; any thread. Errors are thrown: not_found for a method, shape_mismatch for scalars and
// unfitting statistics, invalid_parameter for axes, invalid_argument for statistics of l2 (it has
// none), dtype_mismatch for labels that are not integers.
#pragma once

#include <optional>
#include <string>

#include "stoker/api/tensor/core/axes.hpp"
#include "stoker/api/tensor/core/tensor.hpp"

namespace stoker::nn {

struct NormalizeOptions {
  std::string method = "standard";
  std::optional<Axes> axes = {};
};

/// What one set of rows says about all others; broadcasts with them.
struct NormalStats {
  std::string method;
  Tensor shift;    ///< mean or min
  Tensor divisor;  ///< deviation or max - min; 0 of a constant
};
template <class V> void visit_tensors(NormalStats& stats, V&& visitor) {
  visitor(stats.shift);
  visitor(stats.divisor);
}

[[nodiscard]] Tensor normalize(const Tensor& x, const NormalizeOptions& options = {});
[[nodiscard]] NormalStats normalize_stats(const Tensor& x, const NormalizeOptions& options = {});
[[nodiscard]] Tensor normalize_with_stats(const Tensor& x, const NormalStats& stats);

/// [.., n] in f32: 1 in the place that a label says, else 0; a label out of range gives zeros.
/// Without a number of classes it is the largest label + 1.
[[nodiscard]] Tensor one_hot(const Tensor& labels, std::optional<std::int64_t> num_classes = {});

}  // namespace stoker::nn
