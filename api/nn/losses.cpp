#include "stoker/api/nn/losses.hpp"

#include <numbers>

#include "stoker/api/nn/activation.hpp"

namespace stoker::nn::losses {
namespace {

constexpr double tiny = 1e-7;

/// As it is computed with.
Tensor wide(const Tensor& x) {
  return x.dtype() == DType::f64 || x.dtype() == DType::f32 ? x : as_type(x, DType::f32);
}

struct Pair {
  Tensor target;
  Tensor prediction;
};

/// Both in the dtype that the prediction is computed with; refuses shapes that differ.
Pair alike(const char* op, const Tensor& target, const Tensor& prediction) {
  if (target.shape() != prediction.shape())
    throw Error{
        op,
        ErrorCode::shape_mismatch,
        "target and prediction differ: " + target.shape().to_string() + " and " +
            prediction.shape().to_string(),
        {{"target", target.shape().to_string()}, {"prediction", prediction.shape().to_string()}}};
  if (prediction.rank() == 0)
    throw Error{op,
                ErrorCode::shape_mismatch,
                "expected [batch, …], got a single number",
                {{"prediction", prediction.shape().to_string()}}};
  const Tensor p = wide(prediction);
  return {as_type(target, p.dtype()), p};
}

Tensor row_mean(const Tensor& x) { return mean(x, {Axes{-1}}); }
Tensor row_sum(const Tensor& x) { return sum(x, {Axes{-1}}); }

/// log p of every class.
Tensor log_probabilities(const Tensor& prediction, bool from_logits) {
  return from_logits ? stoker::log_softmax(prediction) : log(clip(prediction, tiny, 1.0));
}

/// 1 where the class is the index, and NaN everywhere where no class is.
Tensor one_hot_of(const Tensor& index, std::int64_t classes, DType dtype) {
  const Tensor at = as_type(index, DType::s32);
  const Tensor hot = as_type(equal(new_axis(at, -1), iota({classes}, DType::s32)), dtype);
  const Tensor known = logical_and(greater_equal(at, 0), less(at, classes));
  return select(new_axis(known, -1), hot, std::numeric_limits<double>::quiet_NaN());
}

}  // namespace

Tensor smoothed_labels(const Tensor& target, double smoothing) {
  if (!(smoothing >= 0 && smoothing <= 1))
    throw Error{"label_smoothing",
                ErrorCode::invalid_parameter,
                "smoothing: expected 0 to 1, got " + std::to_string(smoothing),
                {{"parameter", "smoothing"}}};
  if (smoothing == 0) return target;
  const auto classes = static_cast<double>(target.shape()[target.rank() - 1]);
  return target * (1 - smoothing) + smoothing / classes;
}

Tensor binary_cross_entropy(const Tensor& target, const Tensor& prediction,
                            const BinaryOptions& options) {
  const auto [t, p] = alike("binary_cross_entropy", target, prediction);
  // log p = -softplus(-x), log(1 - p) = -softplus(x).
  const Tensor yes = options.from_logits ? softplus(-p) : -log(clip(p, tiny, 1 - tiny));
  const Tensor no = options.from_logits ? softplus(p) : -log(1.0 - clip(p, tiny, 1 - tiny));
  return row_mean(t * yes * options.positive_weight + (1.0 - t) * no * options.negative_weight);
}

Tensor categorical_cross_entropy(const Tensor& target, const Tensor& prediction,
                                 const CategoricalOptions& options) {
  const Tensor p = wide(prediction);
  if (p.rank() < 1)
    throw Error{"categorical_cross_entropy", ErrorCode::shape_mismatch,
                "expected [batch, …, classes], got a single number"};
  const std::int64_t classes = p.shape()[p.rank() - 1];
  Tensor t = target;
  if (is_integer(target.dtype()) && target.shape() != p.shape()) {
    if (target.rank() == p.rank() && target.shape()[target.rank() - 1] == 1)
      t = squeeze(target, Axes{static_cast<std::int64_t>(target.rank()) - 1});
    Shape rows;
    for (std::size_t axis = 0; axis + 1 < p.rank(); ++axis) rows = rows.appended(p.shape()[axis]);
    if (t.shape() != rows)
      throw Error{"categorical_cross_entropy",
                  ErrorCode::shape_mismatch,
                  "indices of classes: expected " + rows.to_string() + ", got " +
                      target.shape().to_string(),
                  {{"target", target.shape().to_string()}, {"prediction", p.shape().to_string()}}};
    t = one_hot_of(t, classes, p.dtype());
  }
  t = smoothed_labels(alike("categorical_cross_entropy", t, p).target, options.label_smoothing);
  if (options.class_weights.has_value()) t = t * as_type(options.class_weights, p.dtype());
  return -row_sum(t * log_probabilities(p, options.from_logits));
}

Tensor hinge(const Tensor& target, const Tensor& prediction) {
  const auto [t, p] = alike("hinge", target, prediction);
  return row_mean(max(1.0 - t * p, 0.0));
}

Tensor categorical_hinge(const Tensor& target, const Tensor& prediction) {
  const auto [t, p] = alike("categorical_hinge", target, prediction);
  const Tensor right = row_sum(t * p);
  const Tensor wrong = reduce_max((1.0 - t) * p, {Axes{-1}});
  return max(wrong - right + 1.0, 0.0);
}

Tensor soft_margin(const Tensor& target, const Tensor& prediction) {
  const auto [t, p] = alike("soft_margin", target, prediction);
  return row_mean(softplus(-(t * p)));
}

Tensor kl_divergence(const Tensor& target, const Tensor& prediction) {
  const auto [t, p] = alike("kl_divergence", target, prediction);
  const Tensor from = clip(t, tiny, 1.0);
  return row_sum(from * log(from / clip(p, tiny, 1.0)));
}

Tensor log_cosh(const Tensor& target, const Tensor& prediction) {
  const auto [t, p] = alike("log_cosh", target, prediction);
  const Tensor d = p - t;
  // log cosh d = d + log(1 + exp(-2d)) - log 2, which does not overflow.
  return row_mean(d + softplus(-2.0 * d) - std::numbers::ln2);
}

Tensor poisson(const Tensor& target, const Tensor& prediction) {
  const auto [t, p] = alike("poisson", target, prediction);
  return row_mean(p - t * log(p + tiny));
}

Tensor mean_absolute_error(const Tensor& target, const Tensor& prediction) {
  const auto [t, p] = alike("mean_absolute_error", target, prediction);
  return row_mean(abs(p - t));
}

Tensor mean_squared_error(const Tensor& target, const Tensor& prediction) {
  const auto [t, p] = alike("mean_squared_error", target, prediction);
  const Tensor d = p - t;
  return row_mean(d * d);
}

Tensor huber(const Tensor& target, const Tensor& prediction, double delta) {
  if (!(delta > 0))
    throw Error{"huber",
                ErrorCode::invalid_parameter,
                "delta: expected more than 0, got " + std::to_string(delta),
                {{"parameter", "delta"}}};
  const auto [t, p] = alike("huber", target, prediction);
  const Tensor d = abs(p - t);
  return select(less_equal(d, delta), 0.5 * d * d, delta * (d - 0.5 * delta));
}

Tensor cosine_similarity(const Tensor& target, const Tensor& prediction) {
  const auto [t, p] = alike("cosine_similarity", target, prediction);
  // The square is bounded before the root: its gradient at 0 would be infinite.
  constexpr double shortest = 1e-6 * 1e-6;
  const auto length = [](const Tensor& x) { return sqrt(max(row_sum(x * x), shortest)); };
  return row_sum(t * p) / (length(t) * length(p));
}

}  // namespace stoker::nn::losses
