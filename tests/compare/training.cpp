// Optimizers over some steps, and activations.
#include "families.hpp"
#include "stoker/api/nn/functional/activation.hpp"
#include "stoker/api/tensor/core/creation.hpp"
#include "stoker/api/tensor/views/slicing.hpp"
#include "stoker/api/train/optim/optimizer.hpp"
#include "stoker/api/train/optim/updates.hpp"

namespace stoker::compare {
namespace {

struct Optimizer {
  const char* name;
  nn::Update (*make)();
};
const std::vector<Optimizer> optimizers{
    {"adam", [] { return nn::updates::scale_by_adam({.eps = 1e-6}); }},
    {"belief", [] { return nn::updates::scale_by_belief({.eps = 1e-6}); }},
    {"radam", [] { return nn::updates::scale_by_radam({.eps = 1e-6}); }},
    {"yogi", [] { return nn::updates::scale_by_yogi({.eps = 1e-6}); }},
    {"rss", [] { return nn::updates::scale_by_rss(); }},
    {"rms", [] { return nn::updates::scale_by_rms({.eps = 1e-6}); }},
    {"stddev", [] { return nn::updates::scale_by_stddev({.eps = 1e-3}); }},
    {"trace", [] { return nn::updates::trace(); }},
    {"nesterov", [] { return nn::updates::trace({.nesterov = true}); }},
};

void optimizer(Draw& draw, Record& record) {
  const Optimizer& one = draw.of(optimizers);
  const DType dtype = draw.chance(0.5) ? DType::f32 : DType::f64;
  const Shape shape{draw.integer(1, 40)};
  Tensors gradients;
  for (std::int64_t i = draw.integer(1, 8); i > 0; --i)
    gradients.push_back(draw.tensor({dtype, shape}, Range::moderate));
  record.add("optimizer", {{"name", one.name}}, gradients, [&](const Tensors& given) {
    const nn::Update update = one.make();
    const nn::Parameters parameters{{"w", zeros(shape, dtype)}};
    nn::Slots slots = update.init(parameters);
    Tensors made;
    for (const Tensor& gradient : given) {
      nn::Updated next = update.apply({{"w", gradient}}, slots, parameters);
      slots = next.slots;
      made.push_back(next.updates.at("w"));
    }
    return made;
  });
}

/// With numbers that tell formulas apart, as optimizer() reads them.
std::string optimizer_text(Draw& draw) {
  const auto of = [&](std::vector<double> all) { return Json(draw.of(all)).dump(); };
  const std::string rate = "learning_rate=" + of({0.5, 0.01, 1});
  const std::string momentum = ", momentum=" + of({0, 0.9, 0.5});
  const std::string nesterov = draw.chance(0.5) ? ", nesterov=true)" : ")";
  const std::string moments = ", b1=" + of({0.9, 0.5}) + ", b2=" + of({0.999, 0.9}) +
                              ", eps=" + of({1e-6, 1e-3}) + ", eps_root=0";
  const std::string decay = ", decay=" + of({0, 0.01, 0.3}) + ")";
  // What is added inside a root is left out: peers add it outside.
  switch (draw.integer(0, 5)) {
    case 0: return "sgd(" + rate + momentum + nesterov;
    case 1: return "adam(" + rate + moments + ")";
    case 2: return "adamw(" + rate + moments + decay;
    case 3: return "radam(" + rate + moments + ")";
    case 4: return "adagrad(" + rate + ", eps=0, initial_accumulator_value=" + of({0.1, 1}) + ")";
    default: return "rmsprop(" + rate + momentum + ", eps=0, decay=" + of({0.9, 0.5}) + nesterov;
  }
}

/// Parameters that a whole optimizer moves, after each of its steps.
void steps_of_optimizer(Draw& draw, Record& record) {
  const std::string text = optimizer_text(draw);
  const DType dtype = draw.chance(0.5) ? DType::f32 : DType::f64;
  const Shape shape{draw.integer(1, 40)};
  Tensors inputs{draw.tensor({dtype, shape}, Range::moderate)};
  for (std::int64_t i = draw.integer(1, 10); i > 0; --i)
    inputs.push_back(draw.tensor({dtype, shape}, Range::moderate));
  record.add("optimizer_steps", {{"optimizer", text}}, inputs, [&](const Tensors& given) {
    const nn::Update update = nn::optimizer(text).update;
    nn::Parameters parameters{{"w", given[0]}};
    nn::Slots slots = update.init(parameters);
    Tensors made;
    for (std::size_t i = 1; i < given.size(); ++i) {
      nn::Stepped next = nn::take_step(update, {{"w", given[i]}}, slots, parameters);
      parameters = next.parameters;
      slots = next.slots;
      made.push_back(parameters.at("w"));
    }
    return made;
  });
}

}  // namespace

void training(Draw& draw, Record& record) {
  const double kind = draw.real(0, 1);
  if (kind < 0.3) return optimizer(draw, record);
  if (kind < 0.55) return steps_of_optimizer(draw, record);
  static const std::vector<std::string> names{
      "elu",  "gelu",     "leaky_relu", "mish",         "relu6",     "selu",
      "silu", "softplus", "softsign",   "hard_sigmoid", "hard_silu", "log_sigmoid"};
  const std::string& name = draw.of(names);
  record.add("activation", {{"name", name}},
             {draw.tensor({draw.floating(), draw.shape()}, Range::moderate)},
             [&](const Tensors& x) { return Tensors{nn::activation(name)(x[0])}; });
}

}  // namespace stoker::compare
