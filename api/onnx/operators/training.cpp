// Steps of optimizers: the domain ai.onnx.preview.training.
//
// Operands: rate R, step T, then the parameters, their gradients and one or two states of each.
#include "stoker/api/onnx/core/operator.hpp"
#include "stoker/api/tensor/core/creation.hpp"
#include "stoker/api/tensor/math/elementwise.hpp"

namespace stoker::onnx::operators::training {
namespace {

constexpr const char* domain = "ai.onnx.preview.training";

/// The parameter and its new states.
using Step = std::vector<Tensor> (*)(const Call& call, const Tensor& x, const Tensor& gradient,
                                     std::span<const Tensor> states);

Tensor regularized(const Call& call, const Tensor& x, const Tensor& gradient) {
  return x * static_cast<double>(call.node().real("norm_coefficient", 0)) + gradient;
}

std::vector<Tensor> momentum(const Call& call, const Tensor& x, const Tensor& g,
                             std::span<const Tensor> states) {
  const Tensor gradient = regularized(call, x, g);
  const double alpha = call.node().real("alpha");
  const Tensor beta =
      select(greater(call.x(1), 0), static_cast<double>(call.node().real("beta")), 1.0);
  const Tensor v = states[0] * alpha + as_type(beta, x.dtype()) * gradient;
  const std::string mode = call.node().text("mode");
  if (mode != "standard" && mode != "nesterov")
    call.refuse(ErrorCode::invalid_parameter, "mode '" + mode + "'");
  const Tensor step = mode == "nesterov" ? gradient + v * alpha : v;
  return {x - call.x(0) * step, v};
}

std::vector<Tensor> adagrad(const Call& call, const Tensor& x, const Tensor& g,
                            std::span<const Tensor> states) {
  const Tensor gradient = regularized(call, x, g);
  const double decay = call.node().real("decay_factor", 0);
  const Tensor rate = call.x(0) / (as_type(call.x(1), x.dtype()) * decay + 1);
  const Tensor h = states[0] + gradient * gradient;
  return {x - rate * gradient / (sqrt(h) + static_cast<double>(call.node().real("epsilon", 1e-6F))),
          h};
}

std::vector<Tensor> adam(const Call& call, const Tensor& x, const Tensor& g,
                         std::span<const Tensor> states) {
  const Tensor gradient = regularized(call, x, g);
  const double alpha = call.node().real("alpha", 0.9F);
  const double beta = call.node().real("beta", 0.999F);
  const Tensor v = states[0] * alpha + gradient * (1 - alpha);
  const Tensor h = states[1] * beta + gradient * gradient * (1 - beta);
  const Tensor t = as_type(call.x(1), x.dtype());
  const Tensor corrected = call.x(0) * sqrt(1 - pow(beta, t)) / (1 - pow(alpha, t));
  const Tensor rate = select(greater(t, 0), corrected, call.x(0));
  const Tensor next =
      x - rate * v / (sqrt(h) + static_cast<double>(call.node().real("epsilon", 1e-6F)));
  return {next * (1 - static_cast<double>(call.node().real("norm_coefficient_post", 0))), v, h};
}

void add_optimizer(OperatorTable& table, const char* name, std::size_t states,
                   std::vector<std::string> attributes, Step step) {
  table.add({.name = name,
             .domain = domain,
             .least_inputs = 4 + states,
             .most_inputs = Operator::any_number,
             .most_outputs = Operator::any_number,
             .types = {.operands = {float_types, index_types, float_types}},
             .attributes = std::move(attributes),
             .lower = [states, step](Call& call) {
               const std::size_t each = (call.count() - 2) / (2 + states);
               if (call.count() != 2 + each * (2 + states))
                 call.refuse(ErrorCode::arity_mismatch, "operands do not come in equal groups");
               Values results(each * (1 + states));
               for (std::size_t i = 0; i < each; ++i) {
                 std::vector<Tensor> before;
                 for (std::size_t k = 0; k < states; ++k)
                   before.push_back(call.x(2 + each * (2 + k) + i));
                 const std::vector<Tensor> made =
                     step(call, call.x(2 + i), call.x(2 + each + i), before);
                 for (std::size_t k = 0; k <= states; ++k)
                   results[each * k + i] = call.like(made[k], 2 + i);
               }
               return results;
             }});
}

}  // namespace

void define(OperatorTable& table) {
  add_optimizer(table, "Momentum", 1, {"alpha", "beta", "mode", "norm_coefficient"}, &momentum);
  add_optimizer(table, "Adagrad", 1, {"decay_factor", "epsilon", "norm_coefficient"}, &adagrad);
  add_optimizer(table, "Adam", 2,
                {"alpha", "beta", "epsilon", "norm_coefficient", "norm_coefficient_post"}, &adam);
}

}  // namespace stoker::onnx::operators::training
