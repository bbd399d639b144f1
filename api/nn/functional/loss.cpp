#include "stoker/api/nn/functional/loss.hpp"

#include "stoker/api/nn/graph/named_table.hpp"
#include "stoker/api/tensor/views/manipulation.hpp"
#include "stoker/runtime/base/never_destroyed.hpp"

namespace stoker::nn {
namespace {

/// Of rows or elements.
using Rows = std::function<Tensor(const Tensor& target, const Tensor& prediction)>;
using Table = NamedTable<Loss>;

template <class O> Table::Entry entry(const char* summary, std::function<Rows(const O&)> make) {
  return Table::entry<O>(summary, [make = std::move(make)](const O& options) {
    return Loss{{},
                [rows = make(options), how = options.reduction](const Tensor& t, const Tensor& p) {
                  return losses::reduced(rows(t, p), how);
                }};
  });
}

template <class O>
Table::Entry plain(const char* summary, Tensor (*function)(const Tensor&, const Tensor&)) {
  return entry<O>(summary, [function](const O&) -> Rows { return function; });
}

template <class O> Rows make_categorical(const O& options) {
  losses::CategoricalOptions how;
  how.from_logits = options.from_logits;
  how.label_smoothing = options.label_smoothing;
  return [how](const Tensor& t, const Tensor& p) {
    return losses::categorical_cross_entropy(t, p, how);
  };
}

Rows make_binary(const losses::BinaryCrossEntropy& options) {
  const losses::BinaryOptions how{.negative_weight = options.negative_weight,
                                  .positive_weight = options.positive_weight,
                                  .from_logits = options.from_logits};
  return
      [how](const Tensor& t, const Tensor& p) { return losses::binary_cross_entropy(t, p, how); };
}

Rows make_huber(const losses::Huber& options) {
  const double delta = options.delta;
  if (delta == 0)
    throw Error{"huber",
                ErrorCode::invalid_parameter,
                "delta: expected more than 0, got 0",
                {{"parameter", "delta"}}};
  return [delta](const Tensor& t, const Tensor& p) { return losses::huber(t, p, delta); };
}

Rows make_cosine(const losses::CosineSimilarity& options) {
  if (options.eps == 0)
    throw Error{"cosine_similarity",
                ErrorCode::invalid_parameter,
                "eps: expected more than 0, got 0",
                {{"parameter", "eps"}}};
  const losses::CosineOptions how{.axes = options.axes.list(), .epsilon = options.eps};
  return [how](const Tensor& t, const Tensor& p) { return losses::cosine_similarity(t, p, how); };
}

Rows make_margin_ranking(const losses::MarginRanking& options) {
  return [margin = options.margin](const Tensor& t, const Tensor& p) {
    if (p.rank() == 0 || p.shape()[p.rank() - 1] != 2)
      throw Error{"margin_ranking",
                  ErrorCode::shape_mismatch,
                  "expected both scores in a last axis of 2, got " + p.shape().to_string(),
                  {{"prediction", p.shape().to_string()}}};
    const auto score = [&](std::int64_t i) {
      return squeeze(slice_along_axis(p, i, 1, -1), Axes{-1});
    };
    return losses::margin_ranking(t, score(0), score(1), margin);
  };
}

Rows make_ctc(const losses::ConnectionistTemporalClassification& options) {
  losses::CtcOptions how;
  how.blank = options.blank;
  how.from_logits = options.from_logits;
  return [how](const Tensor& t, const Tensor& p) {
    return losses::connectionist_temporal_classification(t, p, how);
  };
}

const Table& table() {
  static constinit NeverDestroyed<Table> all;
  return all.get([] {
    return Table{
        "loss",
        {
            entry<losses::BinaryCrossEntropy>(
                "the mean over the last axis of -t·log p - (1 - t)·log(1 - p), weighted",
                &make_binary),
            entry<losses::CategoricalCrossEntropy>(
                "-Σ t·log p over the classes; targets are one-hot or the index of the class",
                &make_categorical<losses::CategoricalCrossEntropy>),
            entry<losses::CrossEntropy>("categorical_cross_entropy of logits",
                                        &make_categorical<losses::CrossEntropy>),
            plain<losses::CategoricalHinge>(
                "max(0, 1 + max((1 - t)·p) - Σ t·p) over the classes; t is one-hot",
                &losses::categorical_hinge),
            entry<losses::ConnectionistTemporalClassification>(
                "-log of the probability that the frames spell the labels; a negative number ends "
                "the labels",
                &make_ctc),
            entry<losses::CosineSimilarity>(
                "Σ t·p / max(|t|·|p|, eps); unlike a loss, it grows as predictions improve",
                &make_cosine),
            plain<losses::Hinge>("the mean of max(0, 1 - t·p), where t is -1 or 1", &losses::hinge),
            entry<losses::Huber>(
                "for each element d²/2 where |d| ≤ delta, else delta·(|d| - delta/2)", &make_huber),
            plain<losses::KlDivergence>("Σ t·log(t/p)", &losses::kl_divergence),
            plain<losses::LogCosh>("the mean of log cosh(p - t)", &losses::log_cosh),
            plain<losses::Mae>("mean_absolute_error", &losses::mean_absolute_error),
            entry<losses::MarginRanking>(
                "max(0, margin - t·(first - second)); the prediction [.., 2] holds both scores",
                &make_margin_ranking),
            plain<losses::MeanAbsoluteError>("the mean of |p - t|", &losses::mean_absolute_error),
            plain<losses::MeanSquaredError>("the mean of (p - t)²", &losses::mean_squared_error),
            plain<losses::Mse>("mean_squared_error", &losses::mean_squared_error),
            plain<losses::Poisson>("the mean of p - t·log(p + 1e-7)", &losses::poisson),
            plain<losses::SoftMargin>("the mean of log(1 + e^(-t·p)), where t is -1 or 1",
                                      &losses::soft_margin),
        }};
  });
}

}  // namespace

Loss loss(const LossName& wanted) {
  Loss made = table().make(wanted);
  made.text = wanted.text();
  return made;
}

std::vector<NamedKind> loss_kinds() { return table().kinds(); }

}  // namespace stoker::nn
