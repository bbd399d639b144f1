// Losses, chosen as options.
//
//     Loss huber = loss(losses::Huber{.delta = 0.5});
//     Model model{network, {.loss = losses::CrossEntropy{.label_smoothing = 0.1}}};
//
// Each is a function of losses.hpp with its options (except tensors), reduced to a scalar over rows
// and any other remaining axes. As text: "huber(delta=0.5)".
//
// Pure functions; any thread. Errors are thrown: not_found for an unknown name, invalid_parameter
// for options out of range; calling a loss throws the errors that losses.hpp lists.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "stoker/api/nn/functional/losses.hpp"
#include "stoker/api/nn/graph/choice.hpp"

namespace stoker::nn {

struct Loss {
  std::string text;  ///< the text it was made from
  /// Returns a scalar: f64 for f64 predictions, else f32.
  std::function<Tensor(const Tensor& target, const Tensor& prediction)> of;
};

using LossName = Choice<struct LossFamily>;
[[nodiscard]] Loss loss(const LossName& wanted);
/// All losses, sorted by name.
[[nodiscard]] std::vector<NamedKind> loss_kinds();

namespace losses {

template <class O, class V> void visit_reduction(O& o, V&& visit) {
  visit("reduction", o.reduction,
        one_of<Reduction>({{"mean", Reduction::mean}, {"sum", Reduction::sum}}),
        "how the losses of rows are combined");
}

/// Losses without options of their own.
template <KindName Kind> struct LossOf {
  using Family = LossName;
  static constexpr const char* kind = Kind.text;
  Reduction reduction = Reduction::mean;
};
template <KindName Kind, class V> void visit_options(LossOf<Kind>& o, V&& visit) {
  visit_reduction(o, visit);
}
using CategoricalHinge = LossOf<"categorical_hinge">;
using Hinge = LossOf<"hinge">;
using KlDivergence = LossOf<"kl_divergence">;
using LogCosh = LossOf<"log_cosh">;
using MeanAbsoluteError = LossOf<"mean_absolute_error">;
using MeanSquaredError = LossOf<"mean_squared_error">;
using Poisson = LossOf<"poisson">;
using SoftMargin = LossOf<"soft_margin">;
/// mean_absolute_error and mean_squared_error.
using Mae = LossOf<"mae">;
using Mse = LossOf<"mse">;

struct BinaryCrossEntropy {
  using Family = LossName;
  static constexpr const char* kind = "binary_cross_entropy";
  double negative_weight = 1;
  double positive_weight = 1;
  bool from_logits = false;
  Reduction reduction = Reduction::mean;
};
template <class V> void visit_options(BinaryCrossEntropy& o, V&& visit) {
  visit("negative_weight", o.negative_weight, anything, "weight of targets that are 0");
  visit("positive_weight", o.positive_weight, anything, "weight of targets that are 1");
  visit("from_logits", o.from_logits, anything, "predictions are logits, else probabilities");
  visit_reduction(o, visit);
}

template <class O, class V> void visit_categorical(O& o, V&& visit) {
  visit("from_logits", o.from_logits, anything, "predictions are logits, else probabilities");
  visit("label_smoothing", o.label_smoothing, within(0, 1), "s: t becomes t·(1 - s) + s/classes");
  visit_reduction(o, visit);
}

struct CategoricalCrossEntropy {
  using Family = LossName;
  static constexpr const char* kind = "categorical_cross_entropy";
  bool from_logits = false;
  double label_smoothing = 0;
  Reduction reduction = Reduction::mean;
};
template <class V> void visit_options(CategoricalCrossEntropy& o, V&& visit) {
  visit_categorical(o, visit);
}

/// categorical_cross_entropy with from_logits = true by default, as in ExBurn.
struct CrossEntropy {
  using Family = LossName;
  static constexpr const char* kind = "cross_entropy";
  bool from_logits = true;
  double label_smoothing = 0;
  Reduction reduction = Reduction::mean;
};
template <class V> void visit_options(CrossEntropy& o, V&& visit) { visit_categorical(o, visit); }

/// The target is negative after each sequence's last label.
struct ConnectionistTemporalClassification {
  using Family = LossName;
  static constexpr const char* kind = "connectionist_temporal_classification";
  std::int64_t blank = 0;
  bool from_logits = false;
  Reduction reduction = Reduction::mean;
};
template <class V> void visit_options(ConnectionistTemporalClassification& o, V&& visit) {
  visit("blank", o.blank, at_least(0), "the class that stands for no label");
  visit("from_logits", o.from_logits, anything,
        "predictions are logits, else logarithms of probabilities");
  visit_reduction(o, visit);
}

struct CosineSimilarity {
  using Family = LossName;
  static constexpr const char* kind = "cosine_similarity";
  Extents axes = 1;
  double eps = 1e-6;
  Reduction reduction = Reduction::mean;
};
template <class V> void visit_options(CosineSimilarity& o, V&& visit) {
  visit("axes", o.axes, anything, "the axes of the sums");
  visit("eps", o.eps, at_least(0), "smallest divisor, more than 0");
  visit_reduction(o, visit);
}

struct Huber {
  using Family = LossName;
  static constexpr const char* kind = "huber";
  double delta = 1;
  Reduction reduction = Reduction::mean;
};
template <class V> void visit_options(Huber& o, V&& visit) {
  visit("delta", o.delta, at_least(0), "|d| up to which the loss is quadratic, more than 0");
  visit_reduction(o, visit);
}

/// The prediction is [.., 2]: both scores.
struct MarginRanking {
  using Family = LossName;
  static constexpr const char* kind = "margin_ranking";
  double margin = 0;
  Reduction reduction = Reduction::mean;
};
template <class V> void visit_options(MarginRanking& o, V&& visit) {
  visit("margin", o.margin, anything, "distance that the two scores should have");
  visit_reduction(o, visit);
}

}  // namespace losses

}  // namespace stoker::nn
