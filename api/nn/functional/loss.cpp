#include "stoker/api/nn/functional/loss.hpp"

#include "stoker/api/nn/graph/named_table.hpp"
#include "stoker/api/tensor/views/manipulation.hpp"
#include "stoker/runtime/base/never_destroyed.hpp"

namespace stoker::nn {
namespace {

/// Of rows or elements.
using Rows = std::function<Tensor(const Tensor& target, const Tensor& prediction)>;
using Table = NamedTable<Loss>;

template <class O> Table::Entry entry(std::function<Rows(const O&)> make) {
  return Table::entry<O>([make = std::move(make)](const O& options) {
    return Loss{{},
                [rows = make(options), how = options.reduction](const Tensor& t, const Tensor& p) {
                  return losses::reduced(rows(t, p), how);
                }};
  });
}

template <class O> Table::Entry plain(Tensor (*function)(const Tensor&, const Tensor&)) {
  return entry<O>([function](const O&) -> Rows { return function; });
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
    return Table{"loss",
                 {
                     entry<losses::BinaryCrossEntropy>(&make_binary),
                     entry<losses::CategoricalCrossEntropy>(
                         &make_categorical<losses::CategoricalCrossEntropy>),
                     entry<losses::CrossEntropy>(&make_categorical<losses::CrossEntropy>),
                     plain<losses::CategoricalHinge>(&losses::categorical_hinge),
                     entry<losses::ConnectionistTemporalClassification>(&make_ctc),
                     entry<losses::CosineSimilarity>(&make_cosine),
                     plain<losses::Hinge>(&losses::hinge),
                     entry<losses::Huber>(&make_huber),
                     plain<losses::KlDivergence>(&losses::kl_divergence),
                     plain<losses::LogCosh>(&losses::log_cosh),
                     plain<losses::Mae>(&losses::mean_absolute_error),
                     entry<losses::MarginRanking>(&make_margin_ranking),
                     plain<losses::MeanAbsoluteError>(&losses::mean_absolute_error),
                     plain<losses::MeanSquaredError>(&losses::mean_squared_error),
                     plain<losses::Mse>(&losses::mean_squared_error),
                     plain<losses::Poisson>(&losses::poisson),
                     plain<losses::SoftMargin>(&losses::soft_margin),
                 }};
  });
}

}  // namespace

Loss loss(const LossName& wanted) {
  Loss made = table().make(wanted);
  made.text = wanted.text();
  return made;
}

std::vector<std::string> loss_names() {
  std::vector<std::string> names;
  for (const Table::Entry& one : table().entries()) names.push_back(one.name);
  return names;
}

}  // namespace stoker::nn
