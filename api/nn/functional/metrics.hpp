// Metrics: how good predictions are. They have no useful gradients: to train, see losses.hpp.
//
//     Tensor share = metrics::accuracy(labels, logits).value();      // of one batch
//     auto [right, rows] = metrics::accuracy(labels, logits);        // to add up over batches
//
// Each metric is a ratio. Over several batches, numerators and denominators are summed first, so
// the result is exact. metric.hpp chooses metrics by name and adds them up.
//
// A prediction is positive where it is above `threshold`, a target where it is above 0.5. Both have
// the same shape, except that a last axis of 1 may be missing.
//
// Pure functions; any thread. Errors are thrown: shape_mismatch, dtype_mismatch, invalid_parameter.
#pragma once

#include "stoker/api/tensor/core/tensor.hpp"

namespace stoker::nn::metrics {

/// Scalars: both u32; for mean_absolute_error a float and a u32.
struct Fraction {
  Tensor part;
  Tensor whole;
  /// part / whole as a float; 0 if whole is 0.
  [[nodiscard]] Tensor value() const;
};

/// The share of rows whose class is predicted correctly. With predictions [rows…, classes] the
/// predicted class is the largest, and the target is one-hot or an index; an index out of range is
/// never right. Predictions [rows…, 1] or [rows] are binary: positive above 0.5, or above 0 from
/// logits.
[[nodiscard]] Fraction accuracy(const Tensor& target, const Tensor& prediction,
                                bool from_logits = false);
/// The share of rows whose class is among the k largest predictions; ties share the better rank.
[[nodiscard]] Fraction top_k_categorical_accuracy(const Tensor& target, const Tensor& prediction,
                                                  std::int64_t k = 5);

// Counts, as u32 --------------------------------------------------------------------------------------
[[nodiscard]] Tensor true_positives(const Tensor& target, const Tensor& prediction,
                                    double threshold = 0.5);
[[nodiscard]] Tensor true_negatives(const Tensor& target, const Tensor& prediction,
                                    double threshold = 0.5);
[[nodiscard]] Tensor false_positives(const Tensor& target, const Tensor& prediction,
                                     double threshold = 0.5);
[[nodiscard]] Tensor false_negatives(const Tensor& target, const Tensor& prediction,
                                     double threshold = 0.5);

// Ratios of such counts ------------------------------------------------------------------------------
/// TP / (TP + FP).
[[nodiscard]] Fraction precision(const Tensor& target, const Tensor& prediction,
                                 double threshold = 0.5);
/// TP / (TP + FN).
[[nodiscard]] Fraction recall(const Tensor& target, const Tensor& prediction,
                              double threshold = 0.5);
/// The same as recall().
[[nodiscard]] Fraction sensitivity(const Tensor& target, const Tensor& prediction,
                                   double threshold = 0.5);
/// TN / (TN + FP).
[[nodiscard]] Fraction specificity(const Tensor& target, const Tensor& prediction,
                                   double threshold = 0.5);

/// part: Σ|p - t| over all elements; whole: their number.
[[nodiscard]] Fraction mean_absolute_error(const Tensor& target, const Tensor& prediction);

}  // namespace stoker::nn::metrics
