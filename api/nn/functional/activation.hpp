// Activation functions.
//
//     y = dense(x, 16, {.activation = relu});
//     y = dense(x, 16, {.activation = activations::LeakyRelu{.alpha = 0.2}});
//     Activation function = activation("leaky_relu(alpha=0.2)");
//
// Each has a function that names it; those with options also have a struct.
//
// For a finite x neither an activation nor its gradient is NaN.
//
// Pure functions; any thread. Errors are thrown: not_found for an unknown name, invalid_parameter for
// options out of range.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "stoker/api/nn/graph/choice.hpp"
#include "stoker/api/tensor/core/tensor.hpp"

namespace stoker::nn {

using Activation = std::function<Tensor(const Tensor&)>;

/// The type by which a layer's options name an activation.
using ActivationName = Choice<struct ActivationFamily>;

/// max(x, 0) + min(alpha·expm1(x/alpha), 0); alpha is not 0.
[[nodiscard]] inline ActivationName celu() { return "celu"; }
/// x where x > 0, else alpha·expm1(x).
[[nodiscard]] inline ActivationName elu() { return "elu"; }
/// eˣ.
[[nodiscard]] inline ActivationName exp() { return "exp"; }
/// x·Φ(x), exact (Hendrycks and Gimpel, arXiv:1606.08415).
[[nodiscard]] inline ActivationName gelu() { return "gelu"; }
/// alpha·x + beta, clamped to [0, 1]. Here beta is 0.2 by default; other libraries use 0.5.
[[nodiscard]] inline ActivationName hard_sigmoid() { return "hard_sigmoid"; }
/// x·hard_sigmoid(x).
[[nodiscard]] inline ActivationName hard_silu() { return "hard_silu"; }
/// x clamped to [-1, 1].
[[nodiscard]] inline ActivationName hard_tanh() { return "hard_tanh"; }
/// x where x > 0, else alpha·x.
[[nodiscard]] inline ActivationName leaky_relu() { return "leaky_relu"; }
/// x.
[[nodiscard]] inline ActivationName linear() { return "linear"; }
/// -softplus(-x).
[[nodiscard]] inline ActivationName log_sigmoid() { return "log_sigmoid"; }
/// log(softmax(x)).
[[nodiscard]] inline ActivationName log_softmax() { return "log_softmax"; }
/// log Σ exp(x) along the axis, which is kept with extent 1.
[[nodiscard]] inline ActivationName log_sumexp() { return "log_sumexp"; }
/// x·tanh(softplus(x)) (Misra, arXiv:1908.08681).
[[nodiscard]] inline ActivationName mish() { return "mish"; }
/// max(x, 0).
[[nodiscard]] inline ActivationName relu() { return "relu"; }
/// min(max(x, 0), 6).
[[nodiscard]] inline ActivationName relu6() { return "relu6"; }
/// gamma·elu (Klambauer et al., arXiv:1706.02515).
[[nodiscard]] inline ActivationName selu() { return "selu"; }
/// 1/(1 + exp(-x)).
[[nodiscard]] inline ActivationName sigmoid() { return "sigmoid"; }
/// x·sigmoid(x).
[[nodiscard]] inline ActivationName silu() { return "silu"; }
/// exp(x) / Σ exp(x) along the axis.
[[nodiscard]] inline ActivationName softmax() { return "softmax"; }
/// log(1 + exp(x)), as max(x, 0) + log1p(exp(-|x|)).
[[nodiscard]] inline ActivationName softplus() { return "softplus"; }
/// x/(1 + |x|).
[[nodiscard]] inline ActivationName softsign() { return "softsign"; }
/// tanh(x).
[[nodiscard]] inline ActivationName tanh() { return "tanh"; }

namespace activations {

/// celu, elu.
template <KindName Kind> struct ExponentialOf {
  using Family = ActivationName;
  static constexpr const char* kind = Kind.text;
  double alpha = 1;
};
using Celu = ExponentialOf<"celu">;
using Elu = ExponentialOf<"elu">;
template <KindName Kind, class V> void visit_options(ExponentialOf<Kind>& o, V&& visit) {
  visit("alpha", o.alpha, anything, "factor on the values below 0");
}

struct LeakyRelu {
  using Family = ActivationName;
  static constexpr const char* kind = "leaky_relu";
  double alpha = 0.01;
};
template <class V> void visit_options(LeakyRelu& o, V&& visit) {
  visit("alpha", o.alpha, anything, "the slope below 0");
}

/// hard_sigmoid, hard_silu.
template <KindName Kind> struct HardOf {
  using Family = ActivationName;
  static constexpr const char* kind = Kind.text;
  double alpha = 0.2;
  double beta = 0.2;
};
using HardSigmoid = HardOf<"hard_sigmoid">;
using HardSilu = HardOf<"hard_silu">;
template <KindName Kind, class V> void visit_options(HardOf<Kind>& o, V&& visit) {
  visit("alpha", o.alpha, anything, "the slope");
  visit("beta", o.beta, anything, "the value at 0");
}

struct Selu {
  using Family = ActivationName;
  static constexpr const char* kind = "selu";
  double alpha = 1.6732632423543772848170429916717;
  double gamma = 1.0507009873554804934193349852946;
};
template <class V> void visit_options(Selu& o, V&& visit) {
  visit("alpha", o.alpha, anything, "factor on the values below 0");
  visit("gamma", o.gamma, anything, "factor on all values");
}

/// log_softmax, log_sumexp, softmax.
template <KindName Kind> struct AlongAxisOf {
  using Family = ActivationName;
  static constexpr const char* kind = Kind.text;
  std::int64_t axis = -1;
};
using LogSoftmax = AlongAxisOf<"log_softmax">;
using LogSumExp = AlongAxisOf<"log_sumexp">;
using Softmax = AlongAxisOf<"softmax">;
template <KindName Kind, class V> void visit_options(AlongAxisOf<Kind>& o, V&& visit) {
  visit("axis", o.axis, anything, "the axis of the sums");
}

}  // namespace activations

/// An empty name gives linear.
[[nodiscard]] Activation activation(const ActivationName& wanted);
/// All activations, sorted by name.
[[nodiscard]] std::vector<NamedKind> activation_kinds();

/// log(1 + exp(x)), without overflow and accurate for very negative x.
[[nodiscard]] Tensor softplus(const TensorLike& x);

}  // namespace stoker::nn
