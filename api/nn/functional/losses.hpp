// How far predictions are from targets: one number for each row, or element where that is said.
//
//     Tensor each = losses::categorical_cross_entropy(labels, logits, {.from_logits = true});
//     Tensor loss = losses::reduced(each, losses::Reduction::mean);
//
// `target` comes first. Predictions of f16 and bf16 and integers count as f32. Rows are all axes but the
// last, which is what a mean or sum below goes over.
//
// The losses follow Axon (https://hexdocs.pm/axon/Axon.Losses.html). The formulas are written so that neither
// they nor their gradients overflow.
//
// Pure functions; any thread. Errors are thrown: shape_mismatch, dtype_mismatch, invalid_parameter.
#pragma once

#include "stoker/api/tensor/core/tensor.hpp"

namespace stoker::nn::losses {

/// What rows or elements come to.
enum class Reduction : std::uint8_t { none, mean, sum };
[[nodiscard]] Tensor reduced(const Tensor& each, Reduction how);

// Of classes ------------------------------------------------------------------------------------------
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
/// -Σ t·log p over the classes, the last axis, where t = 0 counts as 0 whatever p is. The target is like
/// the prediction, or integers of one axis less (or with a last axis of 1): the index of the class. An
/// index that is no class gives NaN.
[[nodiscard]] Tensor categorical_cross_entropy(const Tensor& target, const Tensor& prediction,
                                               const CategoricalOptions& options = {});

/// t·(1 - smoothing) + smoothing/classes; the classes are the last axis.
[[nodiscard]] Tensor smoothed_labels(const Tensor& target, double smoothing = 0.1);

/// mean of max(0, 1 - t·p), t being -1 or 1.
[[nodiscard]] Tensor hinge(const Tensor& target, const Tensor& prediction);
/// max(0, 1 + the largest p of other classes, or 0, - p of the right one), t one-hot.
[[nodiscard]] Tensor categorical_hinge(const Tensor& target, const Tensor& prediction);
/// mean of log(1 + exp(-t·p)), t being -1 or 1.
[[nodiscard]] Tensor soft_margin(const Tensor& target, const Tensor& prediction);
/// Σ t·log(t/p), both kept within [1e-7, 1].
[[nodiscard]] Tensor kl_divergence(const Tensor& target, const Tensor& prediction);

// Of numbers ------------------------------------------------------------------------------------------
/// mean of log cosh(p - t).
[[nodiscard]] Tensor log_cosh(const Tensor& target, const Tensor& prediction);
/// mean of p - t·log(p + 1e-7).
[[nodiscard]] Tensor poisson(const Tensor& target, const Tensor& prediction);
[[nodiscard]] Tensor mean_absolute_error(const Tensor& target, const Tensor& prediction);
[[nodiscard]] Tensor mean_squared_error(const Tensor& target, const Tensor& prediction);
/// Of each element: ½d² where |d| ≤ delta, else delta·(|d| - ½delta).
[[nodiscard]] Tensor huber(const Tensor& target, const Tensor& prediction, double delta = 1);

struct CosineOptions {
  Axes axes = {1};
  double epsilon = 1e-6;
};
/// Σ t·p / max(|t|·|p|, epsilon): similarity, which is largest where nothing is lost.
[[nodiscard]] Tensor cosine_similarity(const Tensor& target, const Tensor& prediction,
                                       const CosineOptions& options = {});

/// Of each element: max(0, margin - t·(first - second)); t = 1 where `first` should be the larger one,
/// -1 where `second` should.
[[nodiscard]] Tensor margin_ranking(const Tensor& target, const Tensor& first, const Tensor& second,
                                    double margin = 0);

// Of sequences ----------------------------------------------------------------------------------------
struct CtcOptions {
  Tensor lengths = {};  ///< [batch]: labels of each target; none: those before the first negative
  std::int64_t blank = 0;    ///< the class that is no label
  bool from_logits = false;  ///< else logarithms of probabilities
};
/// -log of the probability that the frames of the prediction [batch, frames, classes] spell the labels of
/// the target [batch, labels], integers, once repetitions and then blanks are left out (Graves et al.,
/// "Connectionist temporal classification", ICML 2006). One for each of the batch: infinity, with a
/// gradient of 0, if there are too few frames, NaN for labels that are blank or no class and for lengths
/// that do not fit.
[[nodiscard]] Tensor connectionist_temporal_classification(const Tensor& target,
                                                           const Tensor& prediction,
                                                           const CtcOptions& options = {});

}  // namespace stoker::nn::losses
