// How far predictions are from targets: one number for each row, or element where that is said.
//
// `target` comes first. Predictions of f16 and bf16 count as f32. Rows are all axes but the last, which
// is what a mean or sum below goes over.
//
// Rows of ../shared/op-checklist.md: but for margin_ranking, A-047, X-069. The sources of
// formulas are there; those from logits are written so that they neither overflow nor lose small numbers.
//
// Pure functions; any thread. Errors are thrown: shape_mismatch, dtype_mismatch, invalid_parameter.
#pragma once

#include "stoker/api/tensor.hpp"

namespace stoker::nn::losses {

struct BinaryOptions {
  double negative_weight = 1;
  double positive_weight = 1;
  bool from_logits = false;  ///< else probabilities, which are kept within [1e-7, 1 - 1e-7]
};
/// -t·log p·positive_weight - (1 - t)·log(1 - p)·negative_weight, the mean over the last axis.
[[nodiscard]] Tensor binary_cross_entropy(const Tensor& target, const Tensor& prediction,
                                          const BinaryOptions& options = {});

struct CategoricalOptions {
  bool from_logits = false;    ///< else probabilities, which are kept above 1e-7
  double label_smoothing = 0;  ///< t becomes t·(1 - s) + s/classes
  Tensor class_weights = {};   ///< [classes]; none: 1 each
};
/// -Σ t·log p over the classes, the last axis. The target is like the prediction, or integers of one axis
/// less (or with a last axis of 1): the index of the class. An index that is no class gives NaN.
[[nodiscard]] Tensor categorical_cross_entropy(const Tensor& target, const Tensor& prediction,
                                               const CategoricalOptions& options = {});

/// mean of max(0, 1 - t·p), t being -1 or 1.
[[nodiscard]] Tensor hinge(const Tensor& target, const Tensor& prediction);
/// max(0, 1 + the largest p of other classes - p of the right one), t one-hot.
[[nodiscard]] Tensor categorical_hinge(const Tensor& target, const Tensor& prediction);
/// mean of log(1 + exp(-t·p)).
[[nodiscard]] Tensor soft_margin(const Tensor& target, const Tensor& prediction);
/// Σ t·log(t/p), both kept within [1e-7, 1].
[[nodiscard]] Tensor kl_divergence(const Tensor& target, const Tensor& prediction);
/// mean of log cosh(p - t).
[[nodiscard]] Tensor log_cosh(const Tensor& target, const Tensor& prediction);
/// mean of p - t·log(p + 1e-7).
[[nodiscard]] Tensor poisson(const Tensor& target, const Tensor& prediction);
[[nodiscard]] Tensor mean_absolute_error(const Tensor& target, const Tensor& prediction);
[[nodiscard]] Tensor mean_squared_error(const Tensor& target, const Tensor& prediction);
/// Of each element: ½d² where |d| ≤ delta, else delta·(|d| - ½delta).
[[nodiscard]] Tensor huber(const Tensor& target, const Tensor& prediction, double delta = 1);
/// Σ t·p / (|t|·|p|), lengths of at least 1e-6: similarity, which is largest where nothing is lost.
[[nodiscard]] Tensor cosine_similarity(const Tensor& target, const Tensor& prediction);

/// t·(1 - smoothing) + smoothing/classes.
[[nodiscard]] Tensor smoothed_labels(const Tensor& target, double smoothing = 0.1);

}  // namespace stoker::nn::losses
