#include "stoker/api/nn/functional/activation.hpp"

#include <algorithm>
#include <numbers>

#include "stoker/api/nn/graph/named_table.hpp"
#include "stoker/api/tensor/core/constants.hpp"
#include "stoker/api/tensor/math/elementwise.hpp"
#include "stoker/api/tensor/math/reductions.hpp"
#include "stoker/runtime/base/never_destroyed.hpp"

namespace stoker::nn {

Tensor softplus(const TensorLike& x) { return max(x, 0.0) + log1p(exp(-abs(x))); }

namespace {

using Table = NamedTable<Activation>;

/// Without options.
Table::Entry plain(const char* name, const char* summary, Tensor (*function)(const Tensor&)) {
  return {{name, summary}, [function](const ParamSet&) -> Activation { return function; }};
}

/// alpha·expm1(x) for what is below 0. The other side is kept from overflowing: a gradient would be
/// 0 times infinity.
Tensor elu(const Tensor& x, double alpha) {
  return select(greater(x, 0.0), x, alpha * expm1(min(x, 0.0)));
}

Tensor hard_sigmoid(const Tensor& x, double alpha, double beta) {
  return clip(alpha * x + beta, 0.0, 1.0);
}

template <class O>
Table::Entry with_alpha(const char* summary, Tensor (*function)(const Tensor&, double)) {
  return Table::entry<O>(summary, [function](const O& options) -> Activation {
    return [function, alpha = options.alpha](const Tensor& x) { return function(x, alpha); };
  });
}

template <class O>
Table::Entry with_alpha_beta(const char* summary,
                             Tensor (*function)(const Tensor&, double, double)) {
  return Table::entry<O>(summary, [function](const O& options) -> Activation {
    return [function, alpha = options.alpha, beta = options.beta](const Tensor& x) {
      return function(x, alpha, beta);
    };
  });
}

template <class O>
Table::Entry along_axis(const char* summary, Tensor (*function)(const Tensor&, std::int64_t)) {
  return Table::entry<O>(summary, [function](const O& options) -> Activation {
    return [function, axis = options.axis](const Tensor& x) { return function(x, axis); };
  });
}

Activation make_celu(const activations::Celu& options) {
  const double alpha = options.alpha;
  if (alpha == 0)
    throw Error{"celu",
                ErrorCode::invalid_parameter,
                "alpha is divided by: expected another number than 0",
                {{"parameter", "alpha"}, {"got", "0"}}};
  return [alpha](const Tensor& x) {
    return max(x, 0.0) + select(greater(x, 0.0), 0.0, alpha * expm1(min(x, 0.0) / alpha));
  };
}

Activation make_selu(const activations::Selu& options) {
  return [alpha = options.alpha, gamma = options.gamma](const Tensor& x) {
    return gamma * elu(x, alpha);
  };
}

const Table& table() {
  static constinit NeverDestroyed<Table> all;
  return all.get([] {
    return Table{
        "activation",
        {
            Table::entry<activations::Celu>("max(x, 0) + min(alpha·expm1(x/alpha), 0)", &make_celu),
            with_alpha<activations::Elu>("x where x > 0, else alpha·expm1(x)", &elu),
            plain("exp", "e^x", [](const Tensor& x) { return exp(x); }),
            plain("gelu", "x·Φ(x), exact",
                  [](const Tensor& x) {
                    return 0.5 * x * (1.0 + erf(x * (1 / std::numbers::sqrt2)));
                  }),
            with_alpha_beta<activations::HardSigmoid>("alpha·x + beta within [0, 1]",
                                                      &hard_sigmoid),
            with_alpha_beta<activations::HardSilu>("x·hard_sigmoid(x)",
                                                   [](const Tensor& x, double alpha, double beta) {
                                                     return x * hard_sigmoid(x, alpha, beta);
                                                   }),
            plain("hard_tanh", "x within [-1, 1]",
                  [](const Tensor& x) { return clip(x, -1.0, 1.0); }),
            with_alpha<activations::LeakyRelu>("x where x > 0, else alpha·x",
                                               [](const Tensor& x, double alpha) {
                                                 return select(greater(x, 0.0), x, alpha * x);
                                               }),
            plain("linear", "x", [](const Tensor& x) { return x; }),
            plain("log_sigmoid", "-softplus(-x)", [](const Tensor& x) { return -softplus(-x); }),
            along_axis<activations::LogSoftmax>(
                "log(softmax(x))",
                [](const Tensor& x, std::int64_t axis) { return log_softmax(x, axis); }),
            along_axis<activations::LogSumExp>(
                "log Σ e^x along the axis, which is kept with an extent of 1",
                [](const Tensor& x, std::int64_t axis) {
                  return logsumexp(x, {Axes{axis}, true});
                }),
            plain("mish", "x·tanh(softplus(x))",
                  [](const Tensor& x) { return x * tanh(softplus(x)); }),
            plain("relu", "max(x, 0)", [](const Tensor& x) { return relu(x); }),
            plain("relu6", "max(x, 0), and at most 6",
                  [](const Tensor& x) { return clip(x, 0.0, 6.0); }),
            Table::entry<activations::Selu>("gamma·elu(x)", &make_selu),
            plain("sigmoid", "1/(1 + e^-x)", [](const Tensor& x) { return sigmoid(x); }),
            plain("silu", "x·sigmoid(x)", [](const Tensor& x) { return x * sigmoid(x); }),
            along_axis<activations::Softmax>(
                "e^x / Σ e^x along the axis",
                [](const Tensor& x, std::int64_t axis) { return softmax(x, axis); }),
            plain("softplus", "log(1 + e^x)", [](const Tensor& x) { return softplus(x); }),
            plain("softsign", "x/(1 + |x|)", [](const Tensor& x) { return x / (1.0 + abs(x)); }),
            plain("tanh", "the hyperbolic tangent", [](const Tensor& x) { return tanh(x); }),
        }};
  });
}

}  // namespace

Activation activation(const ActivationName& wanted) {
  return table().make(wanted.empty() ? ActivationName{linear} : wanted);
}

std::vector<NamedKind> activation_kinds() { return table().kinds(); }

}  // namespace stoker::nn
