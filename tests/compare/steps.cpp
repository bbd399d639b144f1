#include "steps.hpp"

namespace stoker::compare {
namespace {

struct Known {
  const char* op;
  std::size_t arity;
  bool smooth;
  Tensor (*function)(const Tensors&);
};

/// What keeps a result in everyday sizes whatever went in: squares of f16 soon leave its range.
Tensor tamed(const Tensor& x) { return atan(x); }
Tensor square(const Tensor& x) { return tamed(x) * tamed(x); }

const std::vector<Known>& known() {
  static const std::vector<Known> all{
      {"add", 2, true, [](const Tensors& x) { return x[0] + x[1]; }},
      {"subtract", 2, true, [](const Tensors& x) { return x[0] - x[1]; }},
      {"multiply", 2, true, [](const Tensors& x) { return x[0] * x[1]; }},
      {"over_square", 2, true, [](const Tensors& x) { return x[0] / (square(x[1]) + 1); }},
      {"tamed", 1, true, [](const Tensors& x) { return tamed(x[0]); }},
      {"sin", 1, true, [](const Tensors& x) { return sin(x[0]); }},
      {"cos", 1, true, [](const Tensors& x) { return cos(x[0]); }},
      {"tanh", 1, true, [](const Tensors& x) { return tanh(x[0]); }},
      {"sigmoid", 1, true, [](const Tensors& x) { return sigmoid(x[0]); }},
      {"atan", 1, true, [](const Tensors& x) { return atan(x[0]); }},
      {"asinh", 1, true, [](const Tensors& x) { return asinh(x[0]); }},
      {"exp_tamed", 1, true, [](const Tensors& x) { return exp(tamed(x[0])); }},
      {"log_square", 1, true, [](const Tensors& x) { return log(square(x[0]) + 1); }},
      {"erf", 1, true, [](const Tensors& x) { return erf(x[0]); }},
      {"atan2_one", 2, true, [](const Tensors& x) { return atan2(x[0], square(x[1]) + 1); }},
      {"power", 2, true, [](const Tensors& x) { return pow(square(x[0]) + 1, tamed(x[1])); }},
      {"softmax", 1, true, [](const Tensors& x) { return softmax(x[0], 1); }},
      {"log_softmax", 1, true, [](const Tensors& x) { return log_softmax(x[0], 0); }},
      {"less_mean", 1, true,
       [](const Tensors& x) {
         return x[0] - mean(x[0], {Axes{1}, true});
       }},
      {"times_sum", 1, true,
       [](const Tensors& x) {
         return x[0] * tamed(sum(x[0], {Axes{0}, true}));
       }},
      {"cumulative_sum", 1, true, [](const Tensors& x) { return tamed(cumulative_sum(x[0], 1)); }},
      {"cumulative_product", 1, true,
       [](const Tensors& x) { return cumulative_product(tamed(x[0]), 1); }},
      {"plus_product", 1, true,
       [](const Tensors& x) {
         return x[0] + product(tamed(x[0]), {Axes{1}, true});
       }},
      {"gram", 2, true,
       [](const Tensors& x) {
         return tamed(matmul(tamed(matmul(x[0], linalg::adjoint(x[1]))), x[0]));
       }},
      {"layer_norm", 1, true, [](const Tensors& x) { return layer_norm(x[0], {}, {}, 1, 1e-2); }},
      {"plus_logsumexp", 1, true,
       [](const Tensors& x) {
         return x[0] + logsumexp(x[0], {Axes{1}, true});
       }},
      {"max", 2, false, [](const Tensors& x) { return max(x[0], x[1]); }},
      {"min", 2, false, [](const Tensors& x) { return min(x[0], x[1]); }},
      {"relu", 1, false, [](const Tensors& x) { return relu(x[0]); }},
      {"abs", 1, false, [](const Tensors& x) { return abs(x[0]); }},
      {"select_less", 2, false,
       [](const Tensors& x) { return select(x[0] < x[1], x[0] * 2 - x[1], x[0]); }},
      {"less_maximum", 1, false,
       [](const Tensors& x) {
         return x[0] - reduce_max(x[0], {Axes{1}, true});
       }},
      {"sort", 1, false, [](const Tensors& x) { return sort(x[0], 1); }},
      {"reverse", 1, true, [](const Tensors& x) { return reverse(x[0], Axes{1}); }},
  };
  return all;
}

}  // namespace

Steps::Steps(Draw& draw, std::size_t inputs, std::size_t count, bool smooth) {
  while (steps_.size() < count) {
    const Known& one = draw.of(known());
    if (smooth && !one.smooth) continue;
    Step step{one.op, {}};
    const auto there = static_cast<std::int64_t>(inputs + steps_.size());
    for (std::size_t i = 0; i < one.arity; ++i) {
      // What came last counts, most of the time.
      const std::int64_t from = i == 0 && draw.chance(0.7) ? there - 1 : draw.integer(0, there - 1);
      step.from.push_back(static_cast<std::size_t>(from));
    }
    steps_.push_back(std::move(step));
  }
}

Tensor Steps::run(const Tensors& inputs, bool apart) const {
  Tensors made = inputs;
  for (const Step& step : steps_) {
    Tensors from;
    for (const std::size_t i : step.from) from.push_back(made[i]);
    for (const Known& one : known())
      if (std::string_view{one.op} == step.op) made.push_back(one.function(from));
    if (apart) made.back().eval();
  }
  return made.back();
}

Json Steps::json() const {
  Json made = Json::array();
  for (const Step& step : steps_) made.push_back({{"op", step.op}, {"from", step.from}});
  return made;
}

}  // namespace stoker::compare
