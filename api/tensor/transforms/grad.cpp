#include "stoker/api/tensor/transforms/grad.hpp"

#include "stoker/api/tensor/core/values.hpp"
#include "stoker/pipeline/tensor/graph/gradient.hpp"
#include "stoker/pipeline/tensor/graph/primitives.hpp"

namespace stoker {
namespace detail {
namespace {

/// A gradient has its variable's dtype and names; an integer's is a float zero.
std::vector<Tensor> finished(std::vector<expr::Value> gradients, std::span<const Tensor> like) {
  std::vector<Tensor> tensors;
  for (expr::Value& gradient : gradients) {
    if (!is_inexact(gradient.dtype())) gradient = expr::constant(0, DType::f32, gradient.shape());
    tensors.emplace_back(std::move(gradient), like[tensors.size()].names());
  }
  return tensors;
}

}  // namespace

std::vector<Tensor> variables(std::span<const Tensor> tensors) {
  std::vector<Tensor> variables;
  for (const Tensor& tensor : tensors)
    variables.emplace_back(expr::variable(tensor.value()), tensor.names());
  return variables;
}

std::vector<Tensor> gradients_of(const Tensor& result, std::span<const Tensor> variables) {
  if (result.size() != 1 || !is_float(result.dtype()))
    throw Error{"grad",
                ErrorCode::invalid_argument,
                "expected a function that gives one float, got " + result.spec().to_string(),
                {{"got", result.spec().to_string()}}};
  const expr::Value seed = expr::ones_like(result.value());
  return finished(expr::gradients({&result.value(), 1}, {&seed, 1}, values_of(variables)),
                  variables);
}

std::vector<Tensor> pulled_back(std::span<const Tensor> results, std::span<const Tensor> seeds,
                                std::span<const Tensor> variables) {
  return finished(expr::gradients(values_of(results), values_of(seeds), values_of(variables)),
                  variables);
}

std::vector<Tensor> pushed_forward(std::span<const Tensor> results,
                                   std::span<const Tensor> variables,
                                   std::span<const Tensor> tangents) {
  // The gradient is linear in its seed: J'·s. Differentiating t·(J'·s) by s gives J·t.
  std::vector<expr::Value> seeds;
  for (const Tensor& result : results)
    seeds.push_back(expr::variable(expr::zeros_like(result.value())));
  const std::vector<expr::Value> back =
      expr::gradients(values_of(results), seeds, values_of(variables));
  return finished(expr::gradients(back, values_of(tangents), seeds), results);
}

void check_alike(const char* op, std::span<const Tensor> given, std::span<const Tensor> like) {
  if (given.size() != like.size())
    throw Error{op, ErrorCode::arity_mismatch,
                "expected " + std::to_string(like.size()) + " tensors, got " +
                    std::to_string(given.size())};
  for (std::size_t i = 0; i < given.size(); ++i)
    if (given[i].spec() != like[i].spec())
      throw Error{op,
                  ErrorCode::shape_mismatch,
                  "expected " + like[i].spec().to_string() + ", got " + given[i].spec().to_string(),
                  {{"expected", like[i].spec().to_string()}, {"got", given[i].spec().to_string()}}};
}

}  // namespace detail

Tensor stop_gradient(const Tensor& x) {
  return Tensor{expr::apply_one(expr::find_op("stop_gradient"), {x.value()}), x.names()};
}

}  // namespace stoker
