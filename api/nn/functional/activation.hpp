// Functions that layers apply to their results, by name: "relu", "leaky_relu(alpha=0.2)".
//
// The names, with their options and defaults:
//   celu(alpha=1)            max(x, 0) + min(alpha·expm1(x/alpha), 0); alpha is not 0
//   elu(alpha=1)             x where x > 0, else alpha·expm1(x)
//   exp
//   gelu                     x·Φ(x), exact (Hendrycks and Gimpel, arXiv:1606.08415)
//   hard_sigmoid(alpha=0.2, beta=0.2)   alpha·x + beta within [0, 1]; others have beta 0.5
//   hard_silu(alpha=0.2, beta=0.2)      x·hard_sigmoid(x)
//   hard_tanh                x within [-1, 1]
//   leaky_relu(alpha=0.01)   x where x > 0, else alpha·x
//   linear                   x
//   log_sigmoid              -softplus(-x)
//   log_softmax(axis=-1), log_sumexp(axis=-1), softmax(axis=-1)
//   mish                     x·tanh(softplus(x)) (Misra, arXiv:1908.08681)
//   relu, relu6              max(x, 0), and at most 6
//   selu(alpha=1.6732632423543772, gamma=1.0507009873554805)   gamma·elu (arXiv:1706.02515)
//   sigmoid, silu            1/(1 + exp(-x)), x·sigmoid(x)
//   softplus                 log(1 + exp(x)), as max(x, 0) + log1p(exp(-|x|))
//   softsign                 x/(1 + |x|)
//   tanh
// None of them, nor their gradients, is NaN for a finite x.
//
// Pure functions; any thread. Errors are thrown: not_found for a name, invalid_parameter for options.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "stoker/api/nn/graph/named.hpp"
#include "stoker/api/tensor/core/tensor.hpp"

namespace stoker::nn {

using Activation = std::function<Tensor(const Tensor&)>;

/// "linear" for none.
[[nodiscard]] Activation activation(const Named& wanted);
/// Their names, in order.
[[nodiscard]] std::vector<std::string> activations();

/// log(1 + exp(x)); neither overflows nor loses what is small.
[[nodiscard]] Tensor softplus(const Tensor& x);

}  // namespace stoker::nn
