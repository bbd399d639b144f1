#include "stoker/api/nn/functional/loss.hpp"

#include "stoker/api/nn/functional/losses.hpp"
#include "stoker/api/nn/graph/named_table.hpp"
#include "stoker/api/tensor/views/manipulation.hpp"
#include "stoker/runtime/base/never_destroyed.hpp"

namespace stoker::nn {
namespace {

/// Of rows or elements.
using Rows = std::function<Tensor(const Tensor& target, const Tensor& prediction)>;
using Table = NamedTable<Loss>;

ParamSpec real(const char* name, double fallback) {
  return {.name = name, .type = ParamType::real, .fallback = fallback, .doc = "see losses.hpp"};
}
ParamSpec within(const char* name, double fallback, double low, std::optional<double> high = {}) {
  ParamSpec spec = real(name, fallback);
  spec.min = low;
  spec.max = high;
  return spec;
}
ParamSpec integer(const char* name, std::int64_t fallback) {
  return {.name = name,
          .type = ParamType::integer,
          .fallback = fallback,
          .doc = "see losses.hpp",
          .min = 0};
}
ParamSpec flag(const char* name, bool fallback) {
  return {.name = name, .type = ParamType::boolean, .fallback = fallback, .doc = "see losses.hpp"};
}

Table::Entry entry(const char* name, std::vector<ParamSpec> options,
                   std::function<Rows(const ParamSet&)> make) {
  options.push_back({.name = "reduction",
                     .type = ParamType::text,
                     .fallback = std::string{"mean"},
                     .doc = "over rows",
                     .choices = {"mean", "sum"}});
  return {name, std::move(options), [make = std::move(make)](const ParamSet& given) {
            const auto how =
                given.text("reduction") == "sum" ? losses::Reduction::sum : losses::Reduction::mean;
            return Loss{{}, [rows = make(given), how](const Tensor& t, const Tensor& p) {
                          return losses::reduced(rows(t, p), how);
                        }};
          }};
}

Table::Entry plain(const char* name, Tensor (*function)(const Tensor&, const Tensor&)) {
  return entry(name, {}, [function](const ParamSet&) -> Rows { return function; });
}

Table::Entry categorical(const char* name, bool from_logits) {
  return entry(name, {flag("from_logits", from_logits), within("label_smoothing", 0, 0, 1)},
               [](const ParamSet& options) -> Rows {
                 losses::CategoricalOptions how;
                 how.from_logits = options.flag("from_logits");
                 how.label_smoothing = options.real("label_smoothing");
                 return [how](const Tensor& t, const Tensor& p) {
                   return losses::categorical_cross_entropy(t, p, how);
                 };
               });
}

Rows make_binary(const ParamSet& options) {
  const losses::BinaryOptions how{.negative_weight = options.real("negative_weight"),
                                  .positive_weight = options.real("positive_weight"),
                                  .from_logits = options.flag("from_logits")};
  return
      [how](const Tensor& t, const Tensor& p) { return losses::binary_cross_entropy(t, p, how); };
}

Rows make_huber(const ParamSet& options) {
  const double delta = options.real("delta");
  if (delta == 0)
    throw Error{"huber",
                ErrorCode::invalid_parameter,
                "delta: expected more than 0, got 0",
                {{"parameter", "delta"}}};
  return [delta](const Tensor& t, const Tensor& p) { return losses::huber(t, p, delta); };
}

Rows make_cosine(const ParamSet& options) {
  const losses::CosineOptions how{.axes = options.integers("axes"), .epsilon = options.real("eps")};
  return [how](const Tensor& t, const Tensor& p) { return losses::cosine_similarity(t, p, how); };
}

Rows make_margin_ranking(const ParamSet& options) {
  return [margin = options.real("margin")](const Tensor& t, const Tensor& p) {
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

Rows make_ctc(const ParamSet& options) {
  losses::CtcOptions how;
  how.blank = options.integer("blank");
  how.from_logits = options.flag("from_logits");
  return [how](const Tensor& t, const Tensor& p) {
    return losses::connectionist_temporal_classification(t, p, how);
  };
}

const Table& table() {
  static constinit NeverDestroyed<Table> all;
  return all.get([] {
    return Table{"loss",
                 {
                     entry("binary_cross_entropy",
                           {real("negative_weight", 1), real("positive_weight", 1),
                            flag("from_logits", false)},
                           &make_binary),
                     categorical("categorical_cross_entropy", false),
                     categorical("cross_entropy", true),
                     plain("categorical_hinge", &losses::categorical_hinge),
                     entry("connectionist_temporal_classification",
                           {integer("blank", 0), flag("from_logits", false)}, &make_ctc),
                     entry("cosine_similarity",
                           {{.name = "axes",
                             .type = ParamType::integers,
                             .fallback = std::vector<std::int64_t>{1},
                             .doc = "see losses.hpp"},
                            within("eps", 1e-6, 0)},
                           &make_cosine),
                     plain("hinge", &losses::hinge),
                     entry("huber", {within("delta", 1, 0)}, &make_huber),
                     plain("kl_divergence", &losses::kl_divergence),
                     plain("log_cosh", &losses::log_cosh),
                     plain("mae", &losses::mean_absolute_error),
                     entry("margin_ranking", {real("margin", 0)}, &make_margin_ranking),
                     plain("mean_absolute_error", &losses::mean_absolute_error),
                     plain("mean_squared_error", &losses::mean_squared_error),
                     plain("mse", &losses::mean_squared_error),
                     plain("poisson", &losses::poisson),
                     plain("soft_margin", &losses::soft_margin),
                 }};
  });
}

}  // namespace

Loss loss(const Named& wanted) {
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
