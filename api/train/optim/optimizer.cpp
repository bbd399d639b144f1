#include "stoker/api/train/optim/optimizer.hpp"

#include "stoker/api/nn/graph/errors_as.hpp"
#include "stoker/api/nn/graph/named_table.hpp"
#include "stoker/api/tensor/core/creation.hpp"
#include "stoker/api/train/loop/learning_rate.hpp"
#include "stoker/api/train/optim/updates.hpp"
#include "stoker/runtime/base/never_destroyed.hpp"

namespace stoker::nn {
namespace {

/// An optimizer that still lacks what multiplies by the learning rate.
struct Recipe {
  double learning_rate;
  std::function<Update(const Update& rate)> compose;
};

template <class O> updates::Moments moments(const O& o) { return {o.b1, o.b2, o.eps, o.eps_root}; }

Recipe recipe(double learning_rate, std::vector<Update> before, std::vector<Update> after = {}) {
  return {learning_rate,
          [before = std::move(before), after = std::move(after)](const Update& by_rate) {
            std::vector<Update> parts = before;
            parts.push_back(by_rate);
            parts.insert(parts.end(), after.begin(), after.end());
            return chain(std::move(parts));
          }};
}

/// A trace if there is momentum.
template <class O> std::vector<Update> momentum(const O& o) {
  if (o.momentum == 0) return {};
  return {updates::trace({.decay = o.momentum, .nesterov = o.nesterov})};
}

Recipe sgd(const optimizers::Sgd& o) { return recipe(o.learning_rate, momentum(o)); }

Recipe adam(const optimizers::Adam& o) {
  return recipe(o.learning_rate, {updates::scale_by_adam(moments(o))});
}

Recipe adamw(const optimizers::AdamW& o) {
  return recipe(o.learning_rate,
                {updates::scale_by_adam(moments(o)), updates::add_decayed_weights(o.decay)});
}

Recipe adabelief(const optimizers::AdaBelief& o) {
  return recipe(o.learning_rate, {updates::scale_by_belief(moments(o))});
}

Recipe adagrad(const optimizers::AdaGrad& o) {
  return recipe(o.learning_rate, {updates::scale_by_rss(o.initial_accumulator_value, o.eps)});
}

Recipe lamb(const optimizers::Lamb& o) {
  return recipe(o.learning_rate,
                {updates::scale_by_adam(moments(o)), updates::add_decayed_weights(o.decay),
                 updates::scale_by_trust_ratio({.min_norm = o.min_norm})});
}

Recipe noisy_sgd(const optimizers::NoisySgd& o) {
  return recipe(o.learning_rate, {},
                {updates::add_noise(
                    {.eta = o.eta, .gamma = o.gamma, .seed = static_cast<std::uint64_t>(o.seed)})});
}

Recipe radam(const optimizers::RAdam& o) {
  return recipe(o.learning_rate, {updates::scale_by_radam(moments(o), o.threshold)});
}

Recipe rmsprop(const optimizers::RmsProp& o) {
  const updates::Rms rms{o.decay, o.eps, o.initial_scale};
  return recipe(o.learning_rate,
                {o.centered ? updates::scale_by_stddev(rms) : updates::scale_by_rms(rms)},
                momentum(o));
}

Recipe yogi(const optimizers::Yogi& o) {
  return recipe(o.learning_rate, {updates::scale_by_yogi(moments(o), o.initial_accumulator_value)});
}

using Table = NamedTable<Recipe>;

const Table& table() {
  static constinit NeverDestroyed<Table> made;
  return made.get([] {
    return Table{
        "optimizer",
        {Table::entry<optimizers::Sgd>("g, or with momentum a decaying sum of g", sgd),
         Table::entry<optimizers::Adam>(
             "the running mean of g, divided by the root of the running mean of g²", adam),
         Table::entry<optimizers::AdamW>("adam, plus decay·p", adamw),
         Table::entry<optimizers::AdaBelief>(
             "adam, but divided by the root of the running mean of (g - its mean)²", adabelief),
         Table::entry<optimizers::AdaGrad>("g, divided by the root of the sum of all g² so far",
                                           adagrad),
         Table::entry<optimizers::Lamb>("adamw, scaled to the norm of the parameters", lamb),
         Table::entry<optimizers::NoisySgd>("sgd with noise that becomes smaller from step to step",
                                            noisy_sgd),
         Table::entry<optimizers::RAdam>(
             "adam, but momentum alone until the variance of g is known well enough", radam),
         Table::entry<optimizers::RmsProp>("g, divided by the root of the running mean of g²",
                                           rmsprop),
         Table::entry<optimizers::Yogi>(
             "adam, but the mean of g² rises or falls by (1 - b2)·g² at each step", yogi)}};
  });
}

/// An update whose errors are those of the optimizer `name`.
Update named_update(const std::string& name, Update update) {
  return {[name, init = std::move(update.init)](const Parameters& parameters) {
            return errors_as(name, [&] { return init(parameters); });
          },
          [name, apply = std::move(update.apply)](const Parameters& gradients, const Slots& slots,
                                                  const Parameters& parameters) {
            return errors_as(name, [&] { return apply(gradients, slots, parameters); });
          }};
}

}  // namespace

void check(std::string_view op, const TrainingOptions& options) {
  const auto require = [op](bool fits, const char* name, const std::string& expected,
                            const std::string& got) {
    if (fits) return;
    throw Error{std::string{op},
                ErrorCode::invalid_parameter,
                std::string{name} + ": expected " + expected + ", got " + got,
                {{"parameter", name}, {"got", got}}};
  };
  const auto above_0 = [&](const char* name, const std::optional<double>& value) {
    if (value) require(*value > 0, name, "a number above 0", std::to_string(*value));
  };
  require(options.accumulate_gradients >= 1, "accumulate_gradients", "at least 1 step",
          std::to_string(options.accumulate_gradients));
  require(options.weight_decay >= 0, "weight_decay", "a number of at least 0",
          std::to_string(options.weight_decay));
  above_0("clip_norm", options.clip_norm);
  above_0("clip_value", options.clip_value);
}

Optimizer optimizer(const OptimizerName& wanted, Schedule learning_rate) {
  table().check(wanted);  // there is one: what is thrown below is an error of its own
  return errors_as(wanted.name, [&] {
    const Recipe recipe = table().make(wanted);
    Update update =
        recipe.compose(learning_rate ? updates::scale_by_learning_rate(std::move(learning_rate))
                                     : updates::scale_by_learning_rate(recipe.learning_rate));
    return Optimizer{wanted.text(), named_update(wanted.name, std::move(update))};
  });
}

double own_learning_rate(const OptimizerName& wanted) { return table().make(wanted).learning_rate; }

std::vector<NamedKind> optimizer_kinds() { return table().kinds(); }

Optimizer training_optimizer(const OptimizerName& wanted, const TrainingOptions& options) {
  check("training_optimizer", options);
  Optimizer made = optimizer(wanted, options.schedule);
  std::vector<Update> parts;
  if (options.weight_decay != 0)
    parts.push_back(updates::add_decayed_weights(options.weight_decay));
  if (options.clip_norm) parts.push_back(updates::clip_by_global_norm(*options.clip_norm, 1e-8));
  if (options.clip_value) parts.push_back(updates::clip(*options.clip_value));
  parts.push_back(std::move(made.update));
  made.update =
      updates::accumulate_gradients(options.accumulate_gradients, chain(std::move(parts)));
  return made;
}

Tensor learning_rate_scale(const Slots& slots) {
  return named_tensor(slots, updates::learning_rate_scale, "slot");
}

Slots with_learning_rate_scale(Slots slots, double scale) {
  (void)named_tensor(slots, updates::learning_rate_scale, "slot");
  if (!(scale >= 0))
    throw Error{"with_learning_rate_scale",
                ErrorCode::invalid_parameter,
                "expected a number of at least 0, got " + std::to_string(scale),
                {{"got", std::to_string(scale)}}};
  slots[updates::learning_rate_scale] = full({}, scale, DType::f32);
  return slots;
}

}  // namespace stoker::nn
