// Loss functions: one number for each row, or for each element where stated.
//
//     Tensor each = losses::categorical_cross_entropy(labels, logits, {.from_logits = true});
//     Tensor loss = losses::reduced(each, losses::Reduction::mean);
//
// `target` comes first. Predictions in f16, bf16 and integers are converted to f32. Rows are
// indexed by all axes but the last; means and sums below go over the last axis.
//
// The losses follow Axon (https://hexdocs.pm/axon/Axon.Losses.html). The formulas are written so
// that neither they nor their gradients overflow.
//
// Pure functions; any thread. Errors are thrown: shape_mismatch, dtype_mismatch, invalid_parameter.
#pragma once

#include "stoker/api/tensor/core/tensor.hpp"

namespace stoker::nn::losses {

/// How the values of rows or elements are combined.
enum class Reduction : std::uint8_t { none, mean, sum };
[[nodiscard]] Tensor reduced(const Tensor& each, Reduction how);

// Of classes ------------------------------------------------------------------------------------------
struct BinaryOptions {
  double negative_weight = 1;
  double positive_weight = 1;
  bool from_logits = false;  ///< else probabilities, clamped to [1e-7, 1 - 1e-7]
};
/// -t·log p·positive_weight - (1 - t)·log(1 - p)·negative_weight, the mean over the last axis.
[[nodiscard]] Tensor binary_cross_entropy(const Tensor& target, const Tensor& prediction,
                                          const BinaryOptions& options = {});

struct CategoricalOptions {
  bool from_logits = false;    ///< else probabilities, clamped to at least 1e-7
  double label_smoothing = 0;  ///< t becomes t·(1 - s) + s/classes
  Tensor class_weights = {};   ///< [classes]; default: 1 each
};
/// -Σ t·log p over the classes (the last axis); terms with t = 0 are 0 whatever p is. The target
/// has the prediction's shape, or holds integer class indices with one axis less (or a last axis of
/// 1). An index out of range gives NaN.
[[nodiscard]] Tensor categorical_cross_entropy(const Tensor& target, const Tensor& prediction,
                                               const CategoricalOptions& options = {});

/// t·(1 - smoothing) + smoothing/classes; the classes are the last axis.
[[nodiscard]] Tensor smoothed_labels(const Tensor& target, double smoothing = 0.1);

/// mean of max(0, 1 - t·p), t being -1 or 1.
[[nodiscard]] Tensor hinge(const Tensor& target, const Tensor& prediction);
/// max(0, 1 + max(0, the largest p of the other classes) - p of the right class); t is one-hot.
[[nodiscard]] Tensor categorical_hinge(const Tensor& target, const Tensor& prediction);
/// mean of log(1 + exp(-t·p)), t being -1 or 1.
[[nodiscard]] Tensor soft_margin(const Tensor& target, const Tensor& prediction);
/// Σ t·log(t/p), both clamped to [1e-7, 1].
[[nodiscard]] Tensor kl_divergence(const Tensor& target, const Tensor& prediction);

// Of numbers ------------------------------------------------------------------------------------------
/// mean of log cosh(p - t).
[[nodiscard]] Tensor log_cosh(const Tensor& target, const Tensor& prediction);
/// mean of p - t·log(p + 1e-7).
[[nodiscard]] Tensor poisson(const Tensor& target, const Tensor& prediction);
[[nodiscard]] Tensor mean_absolute_error(const Tensor& target, const Tensor& prediction);
[[nodiscard]] Tensor mean_squared_error(const Tensor& target, const Tensor& prediction);
/// For each element: ½d² where |d| ≤ delta, else delta·(|d| - ½delta).
[[nodiscard]] Tensor huber(const Tensor& target, const Tensor& prediction, double delta = 1);

struct CosineOptions {
  Axes axes = {1};
  double epsilon = 1e-6;
};
/// Σ t·p / max(|t|·|p|, epsilon): the similarity itself, which is largest for perfect predictions.
[[nodiscard]] Tensor cosine_similarity(const Tensor& target, const Tensor& prediction,
                                       const CosineOptions& options = {});

/// For each element: max(0, margin - t·(first - second)); t = 1 where `first` should be larger, -1
/// where `second` should.
[[nodiscard]] Tensor margin_ranking(const Tensor& target, const Tensor& first, const Tensor& second,
                                    double margin = 0);

// Of sequences ----------------------------------------------------------------------------------------
struct CtcOptions {
  Tensor lengths = {};       ///< [batch]: label counts; default: up to the first negative
  std::int64_t blank = 0;    ///< the class that is no label
  bool from_logits = false;  ///< else logarithms of probabilities
};
/// -log of the probability that the frames of the prediction [batch, frames, classes] spell the
/// labels of the target (integers, [batch, labels]) after repetitions and then blanks are removed
/// (Graves et al., "Connectionist temporal classification", ICML 2006). The result is [batch]:
/// infinity, with a gradient of 0, if there are too few frames; NaN for labels that are blank or
/// out of range and for invalid lengths.
[[nodiscard]] Tensor connectionist_temporal_classification(const Tensor& target,
                                                           const Tensor& prediction,
                                                           const CtcOptions& options = {});

}  // namespace stoker::nn::losses
