// All optimizers, as structs of options; for the formulas see updates.hpp.
//
//     Optimizer adam = optimizer(optimizers::Adam{.learning_rate = 0.01});
//     Model model{network, {.optimizer = optimizers::Sgd{.momentum = 0.9}}};
//
// Values; any thread. Making an optimizer throws invalid_parameter for options out of range.
#pragma once

#include <cstdint>

#include "stoker/api/nn/graph/choice.hpp"

namespace stoker::nn {

using OptimizerName = Choice<struct OptimizerFamily>;

namespace optimizers {

template <class O, class V> void visit_rate(O& o, V&& visit) {
  visit("learning_rate", o.learning_rate, at_least(0),
        "size of a step, unless there is a schedule");
}
template <class O, class V>
void visit_moments(O& o, V&& visit,
                   const char* b2 = "decay of the mean of their squares, 0 to below 1") {
  visit_rate(o, visit);
  visit("b1", o.b1, within(0, 1), "decay of the mean of gradients, 0 to below 1");
  visit("b2", o.b2, within(0, 1), b2);
  visit("eps", o.eps, at_least(0), "added to the root");
  visit("eps_root", o.eps_root, at_least(0), "added inside the root");
}
template <class O, class V> void visit_momentum(O& o, V&& visit) {
  visit_rate(o, visit);
  visit("momentum", o.momentum, within(0, 1), "decay of the sum of g; 0: no momentum");
  visit("nesterov", o.nesterov, anything, "Nesterov's momentum, which looks one step ahead");
}
template <class O, class V> void visit_weight_decay(O& o, V&& visit) {
  visit("decay", o.decay, at_least(0), "weight decay, which the learning rate multiplies");
}

struct Sgd {
  using Family = OptimizerName;
  static constexpr const char* kind = "sgd";
  double learning_rate = 0.01;
  double momentum = 0;
  bool nesterov = false;
};
template <class V> void visit_options(Sgd& o, V&& visit) { visit_momentum(o, visit); }

struct Adam {
  using Family = OptimizerName;
  static constexpr const char* kind = "adam";
  double learning_rate = 1e-3;
  double b1 = 0.9;
  double b2 = 0.999;
  double eps = 1e-8;
  double eps_root = 1e-15;
};
template <class V> void visit_options(Adam& o, V&& visit) { visit_moments(o, visit); }

/// Adam with decoupled weight decay: also subtracts learning_rate·decay·p.
struct AdamW {
  using Family = OptimizerName;
  static constexpr const char* kind = "adamw";
  double learning_rate = 1e-3;
  double b1 = 0.9;
  double b2 = 0.999;
  double eps = 1e-8;
  double eps_root = 0;
  double decay = 0;
};
template <class V> void visit_options(AdamW& o, V&& visit) {
  visit_moments(o, visit);
  visit_weight_decay(o, visit);
}

struct AdaBelief {
  using Family = OptimizerName;
  static constexpr const char* kind = "adabelief";
  double learning_rate = 1e-3;
  double b1 = 0.9;
  double b2 = 0.999;
  double eps = 0;
  double eps_root = 1e-16;
};
template <class V> void visit_options(AdaBelief& o, V&& visit) { visit_moments(o, visit); }

struct AdaGrad {
  using Family = OptimizerName;
  static constexpr const char* kind = "adagrad";
  double learning_rate = 1e-3;
  double eps = 1e-7;
  double initial_accumulator_value = 0.1;
};
template <class V> void visit_options(AdaGrad& o, V&& visit) {
  visit_rate(o, visit);
  visit("eps", o.eps, at_least(0), "added inside the root");
  visit("initial_accumulator_value", o.initial_accumulator_value, at_least(0),
        "initial value of the sum of squares");
}

struct Lamb {
  using Family = OptimizerName;
  static constexpr const char* kind = "lamb";
  double learning_rate = 0.01;
  double b1 = 0.9;
  double b2 = 0.999;
  double eps = 1e-8;
  double eps_root = 0;
  double decay = 0;
  double min_norm = 0;
};
template <class V> void visit_options(Lamb& o, V&& visit) {
  visit_moments(o, visit);
  visit_weight_decay(o, visit);
  visit("min_norm", o.min_norm, at_least(0), "smallest norm that is used");
}

/// The noise is added after the learning rate.
struct NoisySgd {
  using Family = OptimizerName;
  static constexpr const char* kind = "noisy_sgd";
  double learning_rate = 0.01;
  double eta = 0.1;
  double gamma = 0.55;
  std::int64_t seed = 0;
};
template <class V> void visit_options(NoisySgd& o, V&& visit) {
  visit_rate(o, visit);
  visit("eta", o.eta, at_least(0), "standard deviation of the noise at the first step");
  visit("gamma", o.gamma, at_least(0), "how fast the noise becomes smaller");
  visit("seed", o.seed, at_least(0), "seed of the noise");
}

struct RAdam {
  using Family = OptimizerName;
  static constexpr const char* kind = "radam";
  double learning_rate = 1e-3;
  double b1 = 0.9;
  double b2 = 0.999;
  double eps = 1e-8;
  double eps_root = 0;
  double threshold = 5;
};
template <class V> void visit_options(RAdam& o, V&& visit) {
  visit_moments(o, visit, "decay of the mean of their squares, above 0 and below 1");
  visit("threshold", o.threshold, at_least(4),
        "length of the average below which momentum alone is used");
}

/// Momentum comes after the learning rate.
struct RmsProp {
  using Family = OptimizerName;
  static constexpr const char* kind = "rmsprop";
  double learning_rate = 0.01;
  double momentum = 0;
  bool nesterov = false;
  bool centered = false;
  double initial_scale = 0;
  double decay = 0.9;
  double eps = 1e-8;
};
template <class V> void visit_options(RmsProp& o, V&& visit) {
  visit_momentum(o, visit);
  visit("centered", o.centered, anything, "divides by the standard deviation of g instead");
  visit("initial_scale", o.initial_scale, at_least(0), "initial value of the mean of squares");
  visit("decay", o.decay, within(0, 1), "decay of the mean of squares");
  visit("eps", o.eps, at_least(0), "added inside the root");
}

struct Yogi {
  using Family = OptimizerName;
  static constexpr const char* kind = "yogi";
  double learning_rate = 0.01;
  double b1 = 0.9;
  double b2 = 0.999;
  double eps = 1e-8;
  double eps_root = 0;
  double initial_accumulator_value = 0;
};
template <class V> void visit_options(Yogi& o, V&& visit) {
  visit_moments(o, visit);
  visit("initial_accumulator_value", o.initial_accumulator_value, at_least(0),
        "initial value of the moments");
}

}  // namespace optimizers

}  // namespace stoker::nn
