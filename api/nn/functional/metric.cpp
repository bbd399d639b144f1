#include "stoker/api/nn/functional/metric.hpp"

#include "stoker/api/nn/functional/metrics.hpp"
#include "stoker/api/nn/graph/named_table.hpp"
#include "stoker/api/tensor/core/creation.hpp"
#include "stoker/api/tensor/math/elementwise.hpp"
#include "stoker/runtime/base/never_destroyed.hpp"

namespace stoker::nn {
namespace {

using Table = NamedTable<Metric>;
using Share = std::function<metrics::Fraction(const Tensor& target, const Tensor& prediction)>;

ParamSpec threshold() {
  return {.name = "threshold",
          .type = ParamType::real,
          .fallback = 0.5,
          .doc = "predictions above it say yes"};
}

Metric of_share(Share share) {
  Metric made;
  made.of = [share](const Tensor& t, const Tensor& p) { return share(t, p).value(); };
  made.counts = [share](const Tensor& t, const Tensor& p) {
    const auto [part, whole] = share(t, p);
    return std::vector{part, whole};
  };
  made.value = [](std::span<const double> sums) { return sums[1] == 0 ? 0.0 : sums[0] / sums[1]; };
  return made;
}

/// Of something whose sum over batches is its value.
Metric of_count(const std::function<Tensor(const Tensor&, const Tensor&)>& count) {
  Metric made;
  made.of = [count](const Tensor& t, const Tensor& p) { return as_type(count(t, p), DType::f32); };
  made.counts = [count](const Tensor& t, const Tensor& p) { return std::vector{count(t, p)}; };
  made.value = [](std::span<const double> sums) { return sums[0]; };
  return made;
}

Table::Entry entry(const char* name, std::vector<ParamSpec> options,
                   std::function<Metric(const ParamSet&)> make) {
  options.push_back({.name = "accumulate",
                     .type = ParamType::text,
                     .fallback = std::string{"exact"},
                     .doc = "over batches",
                     .choices = {"exact", "running_average", "running_sum"}});
  return {name, std::move(options), [make = std::move(make)](const ParamSet& given) {
            const std::string& how = given.text("accumulate");
            const Metric exact = make(given);
            return how == "exact"             ? exact
                   : how == "running_average" ? running_average(exact)
                                              : running_sum(exact);
          }};
}

Table::Entry share_entry(const char* name,
                         metrics::Fraction (*share)(const Tensor&, const Tensor&, double)) {
  return entry(name, {threshold()}, [share](const ParamSet& options) {
    return of_share([share, above = options.real("threshold")](const Tensor& t, const Tensor& p) {
      return share(t, p, above);
    });
  });
}

Table::Entry count_entry(const char* name, Tensor (*count)(const Tensor&, const Tensor&, double)) {
  return entry(name, {threshold()}, [count](const ParamSet& options) {
    return of_count([count, above = options.real("threshold")](const Tensor& t, const Tensor& p) {
      return count(t, p, above);
    });
  });
}

Metric make_accuracy(const ParamSet& options) {
  return of_share([logits = options.flag("from_logits")](const Tensor& t, const Tensor& p) {
    return metrics::accuracy(t, p, logits);
  });
}

Metric make_top_k(const ParamSet& options) {
  return of_share([k = options.integer("k")](const Tensor& t, const Tensor& p) {
    return metrics::top_k_categorical_accuracy(t, p, k);
  });
}

const Table& table() {
  static constinit NeverDestroyed<Table> all;
  return all.get([] {
    return Table{"metric",
                 {
                     entry("accuracy",
                           {{.name = "from_logits",
                             .type = ParamType::boolean,
                             .fallback = false,
                             .doc = "yes is above 0 instead of 0.5"}},
                           &make_accuracy),
                     count_entry("false_negatives", &metrics::false_negatives),
                     count_entry("false_positives", &metrics::false_positives),
                     entry("mean_absolute_error", {},
                           [](const ParamSet&) { return of_share(&metrics::mean_absolute_error); }),
                     share_entry("precision", &metrics::precision),
                     share_entry("recall", &metrics::recall),
                     share_entry("sensitivity", &metrics::sensitivity),
                     share_entry("specificity", &metrics::specificity),
                     entry("top_k_categorical_accuracy",
                           {{.name = "k",
                             .type = ParamType::integer,
                             .fallback = std::int64_t{5},
                             .doc = "classes that count as right",
                             .min = 1}},
                           &make_top_k),
                     count_entry("true_negatives", &metrics::true_negatives),
                     count_entry("true_positives", &metrics::true_positives),
                 }};
  });
}

}  // namespace

Metric metric(const Named& wanted) {
  Metric made = table().make(wanted);
  made.text = wanted.text();
  return made;
}

std::vector<std::string> metric_names() {
  std::vector<std::string> names;
  for (const Table::Entry& one : table().entries()) names.push_back(one.name);
  return names;
}

Metric running_average(const Metric& of) {
  Metric made = of_share([value = of.of](const Tensor& t, const Tensor& p) {
    return metrics::Fraction{value(t, p), full({}, 1, DType::u32)};
  });
  made.text = of.text;
  return made;
}

Metric running_sum(const Metric& of) {
  Metric made = of_count(of.of);
  made.text = of.text;
  return made;
}

void MetricTotal::add(std::span<const double> counts) {
  if (sums_.empty()) sums_.resize(counts.size());
  if (counts.size() != sums_.size())
    throw Error{"metric",
                ErrorCode::invalid_argument,
                "counts of a batch: expected " + std::to_string(sums_.size()) + ", got " +
                    std::to_string(counts.size()),
                {{"metric", metric_.text}}};
  for (std::size_t i = 0; i < counts.size(); ++i) sums_[i] += counts[i];
}

double MetricTotal::value() const { return sums_.empty() ? 0 : metric_.value(sums_); }

}  // namespace stoker::nn
