#include "stoker/api/nn/loss.hpp"

#include "stoker/api/nn/losses.hpp"
#include "stoker/api/nn/named_table.hpp"

namespace stoker::nn {
namespace {

/// Of rows or elements.
using Rows = std::function<Tensor(const Tensor& target, const Tensor& prediction)>;
using Table = NamedTable<Loss>;

ParamSpec real(const char* name, double fallback) {
  return {.name = name, .type = ParamType::real, .fallback = fallback, .doc = "see losses.hpp"};
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
            const bool summed = given.text("reduction") == "sum";
            return Loss{{}, [rows = make(given), summed](const Tensor& t, const Tensor& p) {
                          const Tensor each = rows(t, p);
                          return summed ? sum(each) : mean(each);
                        }};
          }};
}

Table::Entry plain(const char* name, Tensor (*function)(const Tensor&, const Tensor&)) {
  return entry(name, {}, [function](const ParamSet&) -> Rows { return function; });
}

Table::Entry categorical(const char* name, bool from_logits) {
  return entry(name, {flag("from_logits", from_logits), real("label_smoothing", 0)},
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
  return [delta = options.real("delta")](const Tensor& t, const Tensor& p) {
    return losses::huber(t, p, delta);
  };
}

const Table& table() {
  static const Table all{"loss",
                         {
                             entry("binary_cross_entropy",
                                   {real("negative_weight", 1), real("positive_weight", 1),
                                    flag("from_logits", false)},
                                   &make_binary),
                             categorical("categorical_cross_entropy", false),
                             categorical("cross_entropy", true),
                             plain("categorical_hinge", &losses::categorical_hinge),
                             plain("cosine_similarity", &losses::cosine_similarity),
                             plain("hinge", &losses::hinge),
                             entry("huber", {real("delta", 1)}, &make_huber),
                             plain("kl_divergence", &losses::kl_divergence),
                             plain("log_cosh", &losses::log_cosh),
                             plain("mae", &losses::mean_absolute_error),
                             plain("mean_absolute_error", &losses::mean_absolute_error),
                             plain("mean_squared_error", &losses::mean_squared_error),
                             plain("mse", &losses::mean_squared_error),
                             plain("poisson", &losses::poisson),
                             plain("soft_margin", &losses::soft_margin),
                         }};
  return all;
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
