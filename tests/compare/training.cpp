// Optimizers over some steps, and activations.
#include "families.hpp"
#include "stoker/api/nn/functional/activation.hpp"
#include "stoker/api/tensor/core/creation.hpp"
#include "stoker/api/tensor/views/slicing.hpp"
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

}  // namespace

void training(Draw& draw, Record& record) {
  if (draw.chance(0.5)) return optimizer(draw, record);
  static const std::vector<std::string> names{
      "elu",  "gelu",     "leaky_relu", "mish",         "relu6",     "selu",
      "silu", "softplus", "softsign",   "hard_sigmoid", "hard_silu", "log_sigmoid"};
  const std::string& name = draw.of(names);
  record.add("activation", {{"name", name}},
             {draw.tensor({draw.floating(), draw.shape()}, Range::moderate)},
             [&](const Tensors& x) { return Tensors{nn::activation(name)(x[0])}; });
}

}  // namespace stoker::compare
