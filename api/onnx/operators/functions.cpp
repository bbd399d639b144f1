// Functions of one operand, element by element, and activations.
#include <cmath>
#include <numbers>

#include "stoker/api/onnx/core/host_rules.hpp"
#include "stoker/api/onnx/core/narrow_floats.hpp"
#include "stoker/api/onnx/core/rounding.hpp"
#include "stoker/api/tensor/math/elementwise.hpp"
#include "stoker/api/tensor/views/manipulation.hpp"

namespace stoker::onnx::operators::functions {
namespace {

using OneTensor = Tensor (*)(const TensorLike&);

/// -a, which wraps for the least integer.
template <class T> T negated(T a) {
  if constexpr (std::is_integral_v<T>)
    return static_cast<T>(0 - static_cast<std::make_unsigned_t<T>>(a));
  else
    return -a;
}

void add_function(OperatorTable& table, const char* name, std::vector<int> since, OneTensor f,
                  TypeSet types = float_types) {
  table.add({.name = name,
             .since = std::move(since),
             .types = alike(types),
             .attributes = {"consumed_inputs"},
             .lower = [f](Call& call) { return Values{call.like(f(call.x()))}; }});
}

/// An activation with the attributes alpha and beta.
struct Numbers {
  double alpha = 0;
  double beta = 0;
};
using Activation = Tensor (*)(const Tensor& x, const Numbers& n);
void add_activation(OperatorTable& table, const char* name, std::vector<int> since,
                    Numbers defaults, Activation f, const char* first = "alpha",
                    const char* other = "beta", TypeSet types = float_types) {
  table.add({.name = name,
             .since = std::move(since),
             .types = alike(types),
             .attributes = {first, other, "consumed_inputs"},
             .lower = [defaults, f, first, other](Call& call) {
               const Numbers n{call.node().real(first, static_cast<float>(defaults.alpha)),
                               call.node().real(other, static_cast<float>(defaults.beta))};
               return Values{call.like(f(call.x(), n))};
             }});
}

Tensor softplus(const Tensor& x) { return max(x, 0) + log1p(exp(negate(abs(x)))); }

Values gelu(Call& call) {
  const Tensor x = call.x();
  const std::string form = call.node().text("approximate", "none");
  if (form == "none") return {call.like(0.5 * x * (erf(x * std::numbers::sqrt2 / 2) + 1))};
  if (form != "tanh") call.refuse(ErrorCode::invalid_parameter, "approximate '" + form + "'");
  const double scale = std::sqrt(2 / std::numbers::pi);
  return {call.like(0.5 * x * (tanh(scale * (x + 0.044715 * x * x * x)) + 1))};
}

Values prelu(Call& call) {
  const Tensor x = call.x();
  Tensor slope = call.x(1);
  // Before version 7 a slope for each channel stands without the axes behind it.
  if (call.version() < 7 && slope.size() > 1) {
    Axes extents = extents_of(slope.shape());
    while (static_cast<std::int64_t>(extents.size()) + 1 < call.rank()) extents.push_back(1);
    slope = reshape(slope, extents);
  }
  return {call.like(select(less(x, 0), slope * x, x))};
}

/// The operand; float8 as f32.
Tensor numbers(const Call& call) {
  return is_narrow_float(call.type()) ? widened(call.x(), call.type()) : call.x();
}

Values is_inf(Call& call) {
  const Tensor x = numbers(call);
  Tensor y = is_infinity(x);
  if (!call.node().flag("detect_negative", true)) y = logical_and(y, greater(x, 0));
  if (!call.node().flag("detect_positive", true)) y = logical_and(y, less(x, 0));
  return {Call::condition(y)};
}

void define_activations(OperatorTable& table) {
  add_activation(table, "LeakyRelu", {1, 6, 16}, {0.01, 0}, [](const Tensor& x, const Numbers& n) {
    return select(less(x, 0), n.alpha * x, x);
  });
  add_activation(
      table, "ThresholdedRelu", {1, 10, 22}, {1, 0},
      [](const Tensor& x, const Numbers& n) { return select(greater(x, n.alpha), x, 0); });
  add_activation(table, "Elu", {1, 6, 22}, {1, 0}, [](const Tensor& x, const Numbers& n) {
    return select(less(x, 0), n.alpha * expm1(x), x);
  });
  add_activation(table, "Celu", {12, 28}, {1, 0}, [](const Tensor& x, const Numbers& n) {
    return max(x, 0) + min(n.alpha * expm1(x / n.alpha), 0);
  });
  add_activation(
      table, "Selu", {1, 6, 22}, {1.67326319217681884765625, 1.05070102214813232421875},
      [](const Tensor& x, const Numbers& n) {
        return n.beta * select(greater(x, 0), x, n.alpha * expm1(x));
      },
      "alpha", "gamma");
  add_activation(
      table, "HardSigmoid", {1, 6, 22}, {0.2, 0.5},
      [](const Tensor& x, const Numbers& n) { return clip(n.alpha * x + n.beta, 0, 1); });
  add_activation(
      table, "Shrink", {9}, {0.5, 0},
      [](const Tensor& x, const Numbers& n) {
        return select(less(x, -n.alpha), x + n.beta, select(greater(x, n.alpha), x - n.beta, 0));
      },
      "lambd", "bias", number_types);
  add_activation(table, "Swish", {24}, {1, 0},
                 [](const Tensor& x, const Numbers& n) { return x * sigmoid(n.alpha * x); });
  const auto add_plain = [&](const char* name, std::vector<int> since, Tensor (*f)(const Tensor&)) {
    table.add({.name = name,
               .since = std::move(since),
               .types = alike(float_types),
               .lower = [f](Call& call) { return Values{call.like(f(call.x()))}; }});
  };
  add_plain("HardSwish", {14, 22}, [](const Tensor& x) { return x * clip(x / 6 + 0.5, 0, 1); });
  add_plain("Mish", {18, 22}, [](const Tensor& x) { return x * tanh(softplus(x)); });
  add_plain("Softplus", {1, 22}, &softplus);
  add_plain("Softsign", {1, 22}, [](const Tensor& x) { return x / (abs(x) + 1); });
  add_plain("Round", {11, 22}, &rounded_to_even);
  table.add({.name = "Gelu",
             .since = {20},
             .types = alike(float_types),
             .attributes = {"approximate"},
             .lower = &gelu});
  table.add({.name = "PRelu",
             .since = {1, 6, 7, 9, 16},
             .least_inputs = 2,
             .most_inputs = 2,
             .types = alike(sum_types),
             .attributes = {"consumed_inputs"},
             .lower = &prelu});
  table.add({.name = "SwiGLU",
             .since = {28},
             .least_inputs = 2,
             .most_inputs = 2,
             .types = alike(float_types),
             .attributes = {"alpha"},
             .lower = [](Call& call) {
               const double alpha = call.node().real("alpha", 1);
               return Values{call.like(call.x(0) * sigmoid(alpha * call.x(0)) * call.x(1))};
             }});
}

}  // namespace

void define(OperatorTable& table) {
  add_function(table, "Exp", {1, 6, 13}, &exp);
  add_function(table, "Log", {1, 6, 13}, &log);
  add_function(table, "Sin", {7, 22}, &sin);
  add_function(table, "Cos", {7, 22}, &cos);
  add_function(table, "Tan", {7, 22}, &tan);
  add_function(table, "Asin", {7, 22}, &asin);
  add_function(table, "Acos", {7, 22}, &acos);
  add_function(table, "Atan", {7, 22}, &atan);
  add_function(table, "Sinh", {9, 22}, &sinh);
  add_function(table, "Cosh", {9, 22}, &cosh);
  add_function(table, "Tanh", {1, 6, 13}, &tanh);
  add_function(table, "Asinh", {9, 22}, &asinh);
  add_function(table, "Acosh", {9, 22}, &acosh);
  add_function(table, "Atanh", {9, 22}, &atanh);
  add_function(table, "Erf", {9, 13}, &erf, number_types);
  add_function(table, "Sigmoid", {1, 6, 13}, &sigmoid);
  add_function(table, "Sign", {9, 13}, &sign, number_types);
  add_function(table, "Relu", {1, 6, 13, 14}, &relu, float_types | signed_types);
  const auto add_with_host = [&](const char* name, std::vector<int> since, TypeSet types,
                                 OneTensor f, auto host) {
    table.add({.name = name,
               .since = std::move(since),
               .types = alike(types),
               .attributes = {"consumed_inputs"},
               .host = [host](Call& call) { return unary_on_host(call, host); },
               .lower = [f](Call& call) { return Values{call.like(f(call.x()))}; }});
  };
  add_with_host("Abs", {1, 6, 13}, number_types, &abs,
                [](auto a) { return a < 0 ? negated(a) : a; });
  add_with_host("Neg", {1, 6, 13}, float_types | signed_types, &negate,
                [](auto a) { return negated(a); });
  add_with_host("Floor", {1, 6, 13}, float_types, &floor,
                [](auto a) { return std::floor(static_cast<double>(a)); });
  add_with_host("Ceil", {1, 6, 13}, float_types, &ceil,
                [](auto a) { return std::ceil(static_cast<double>(a)); });
  add_with_host("Sqrt", {1, 6, 13}, float_types, &sqrt,
                [](auto a) { return std::sqrt(static_cast<double>(a)); });
  add_with_host(
      "Reciprocal", {1, 6, 13}, float_types, [](const TensorLike& x) { return divide(1, x); },
      [](auto a) { return 1 / static_cast<double>(a); });
  table.add({.name = "IsNaN",
             .since = {9, 13, 20},
             .types = {.operands = {float_types | float8_types}, .results = {ElementType::boolean}},
             .lower = [](Call& call) { return Values{Call::condition(is_nan(numbers(call)))}; }});
  table.add({.name = "IsInf",
             .since = {10, 20},
             .types = {.operands = {float_types | float8_types}, .results = {ElementType::boolean}},
             .attributes = {"detect_negative", "detect_positive"},
             .lower = &is_inf});
  define_activations(table);
}

}  // namespace stoker::onnx::operators::functions
