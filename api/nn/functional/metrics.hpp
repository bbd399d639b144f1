// How good predictions are, in numbers for people. They have no useful gradients: see losses.hpp.
//
//     Tensor share = metrics::accuracy(labels, logits).value();      // of one batch
//     auto [right, rows] = metrics::accuracy(labels, logits);        // to add up over batches
//
// Each metric is a ratio. Over several batches, numerators and denominators are summed first, so the result
// is exact. metric.hpp chooses metrics by name and adds them up.
//
// A prediction says yes where it is above `threshold`, a target where it is above 0.5; both have the same
// shape, but for a last axis of 1.
//
// Pure functions; any thread. Errors are thrown: shape_mismatch, dtype_mismatch, invalid_parameter.
#pragma once

#include "stoker/api/tensor/core/tensor.hpp"

namespace stoker::nn::metrics {

/// Scalars: u32, or of mean_absolute_error a float and u32.
struct Fraction {
  Tensor part;
  Tensor whole;
  /// part / whole as a float, and 0 of nothing.
  [[nodiscard]] Tensor value() const;
};

/// Rows whose class is the predicted one. With predictions [rows…, classes] it is the largest, and the
/// target is one-hot or the index (class_index.hpp); an index that is no class is never right. With
/// predictions [rows…, 1] or [rows] it is yes or no: above 0.5, or above 0 from logits.
[[nodiscard]] Fraction accuracy(const Tensor& target, const Tensor& prediction,
                                bool from_logits = false);
/// Rows whose class is one of the k that are predicted most; classes that are equal share the better
/// place.
[[nodiscard]] Fraction top_k_categorical_accuracy(const Tensor& target, const Tensor& prediction,
                                                  std::int64_t k = 5);

// How often, as u32 ----------------------------------------------------------------------------------
[[nodiscard]] Tensor true_positives(const Tensor& target, const Tensor& prediction,
                                    double threshold = 0.5);
[[nodiscard]] Tensor true_negatives(const Tensor& target, const Tensor& prediction,
                                    double threshold = 0.5);
[[nodiscard]] Tensor false_positives(const Tensor& target, const Tensor& prediction,
                                     double threshold = 0.5);
[[nodiscard]] Tensor false_negatives(const Tensor& target, const Tensor& prediction,
                                     double threshold = 0.5);

// And how often among those --------------------------------------------------------------------------
/// Of what was predicted: TP / (TP + FP).
[[nodiscard]] Fraction precision(const Tensor& target, const Tensor& prediction,
                                 double threshold = 0.5);
/// Of what is so: TP / (TP + FN).
[[nodiscard]] Fraction recall(const Tensor& target, const Tensor& prediction,
                              double threshold = 0.5);
/// recall().
[[nodiscard]] Fraction sensitivity(const Tensor& target, const Tensor& prediction,
                                   double threshold = 0.5);
/// Of what is not so: TN / (TN + FP).
[[nodiscard]] Fraction specificity(const Tensor& target, const Tensor& prediction,
                                   double threshold = 0.5);

/// Σ|p - t| of all elements; the whole is how many there are.
[[nodiscard]] Fraction mean_absolute_error(const Tensor& target, const Tensor& prediction);

}  // namespace stoker::nn::metrics
