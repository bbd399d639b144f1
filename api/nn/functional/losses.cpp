#include "stoker/api/nn/functional/losses.hpp"

#include <limits>
#include <numbers>

#include "stoker/api/nn/functional/activation.hpp"
#include "stoker/api/nn/functional/class_index.hpp"
#include "stoker/api/tensor.hpp"

namespace stoker::nn::losses {
namespace {

constexpr double tiny = 1e-7;
constexpr double nan = std::numeric_limits<double>::quiet_NaN();

/// As it is computed with.
Tensor wide(const char* op, const Tensor& x) {
  if (is_complex(x.dtype()))
    throw Error{op,
                ErrorCode::dtype_mismatch,
                "expected real numbers, got " + x.spec().to_string(),
                {{"prediction", x.spec().to_string()}}};
  return x.dtype() == DType::f64 || x.dtype() == DType::f32 ? x : as_type(x, DType::f32);
}

void check_same(const char* op, const char* what, const Shape& shape, const char* other,
                const Shape& its) {
  if (shape == its) return;
  throw Error{op,
              ErrorCode::shape_mismatch,
              std::string{what} + " and " + other + " differ: " + shape.to_string() + " and " +
                  its.to_string(),
              {{what, shape.to_string()}, {other, its.to_string()}}};
}

void check_rows(const char* op, const Tensor& prediction) {
  if (prediction.rank() == 0)
    throw Error{op,
                ErrorCode::shape_mismatch,
                "expected [batch, …], got a single number",
                {{"prediction", prediction.shape().to_string()}}};
}

struct Pair {
  Tensor target;
  Tensor prediction;
};

/// Both in the dtype that the prediction is computed with; refuses shapes that differ.
Pair alike(const char* op, const Tensor& target, const Tensor& prediction) {
  check_same(op, "target", target.shape(), "prediction", prediction.shape());
  check_rows(op, prediction);
  const Tensor p = wide(op, prediction);
  return {as_type(target, p.dtype()), p};
}

Tensor row_mean(const Tensor& x) { return mean(x, {Axes{-1}}); }
Tensor row_sum(const Tensor& x) { return sum(x, {Axes{-1}}); }

void check_smoothing(const char* op, const char* parameter, double smoothing) {
  if (!(smoothing >= 0 && smoothing <= 1))
    throw Error{op,
                ErrorCode::invalid_parameter,
                std::string{parameter} + ": expected 0 to 1, got " + std::to_string(smoothing),
                {{"parameter", parameter}}};
}

/// log p of every class: what it is above `total`, which has no axis of classes; none: 0.
struct LogProbabilities {
  Tensor above;
  Tensor total;
};

LogProbabilities log_probabilities(const Tensor& prediction, bool from_logits) {
  if (!from_logits) return {log(clip(prediction, tiny, 1.0)), {}};
  // Not by log_softmax: put together only after the sums over t it has a gradient of one pass. It does
  // not depend on what is taken out here.
  const Tensor above = prediction - stop_gradient(reduce_max(prediction, {Axes{-1}, true}));
  return {above, log(row_sum(exp(above)))};
}

/// Logits of one class alone are nothing: softmax makes 1 of them, the loss is 0, and so are gradients.
void check_classes(const char* op, const Tensor& prediction, bool from_logits) {
  if (!from_logits || prediction.rank() == 0 || prediction.shape()[prediction.rank() - 1] != 1)
    return;
  throw Error{op,
              ErrorCode::shape_mismatch,
              "expected scores of 2 classes or more, got " + prediction.shape().to_string() +
                  ", whose loss is always 0: for one column take binary_cross_entropy",
              {{"prediction", prediction.shape().to_string()}}};
}

/// -Σ t·log p. What is not expected at all may well be impossible: 0·log 0 is 0.
Tensor surprise(const Tensor& t, const LogProbabilities& p) {
  const Tensor above = row_sum(select(equal(t, 0.0), 0.0, t * p.above));
  return p.total.has_value() ? row_sum(t) * p.total - above : -above;
}

/// The same where t is 1 for the index: what most steps of training do.
Tensor surprise_at(const Tensor& hot, const LogProbabilities& p) {
  const Tensor above = row_sum(select(hot, p.above, 0.0));
  return p.total.has_value() ? p.total - above : -above;
}

}  // namespace

Tensor reduced(const Tensor& each, Reduction how) {
  if (how == Reduction::none) return each;
  return how == Reduction::mean ? mean(each) : sum(each);
}

Tensor smoothed_labels(const Tensor& target, double smoothing) {
  check_smoothing("smoothed_labels", "smoothing", smoothing);
  check_rows("smoothed_labels", target);
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
  const char* const op = "categorical_cross_entropy";
  check_rows(op, prediction);
  check_classes(op, prediction, options.from_logits);
  check_smoothing(op, "label_smoothing", options.label_smoothing);
  const Tensor p = wide(op, prediction);
  const Shape classes{p.shape()[p.rank() - 1]};
  if (options.class_weights.has_value())
    check_same(op, "class_weights", options.class_weights.shape(), "classes", classes);
  const LogProbabilities log_p = log_probabilities(p, options.from_logits);
  const bool plain = options.label_smoothing == 0 && !options.class_weights.has_value();
  const auto adjusted = [&](const Tensor& rows) {
    const Tensor t = smoothed_labels(as_type(rows, p.dtype()), options.label_smoothing);
    return options.class_weights.has_value() ? t * as_type(options.class_weights, p.dtype()) : t;
  };
  if (!names_classes(target, p)) return surprise(adjusted(target), log_p);
  const Tensor index = class_index(op, target, p);
  const Tensor hot = equal(new_axis(index, -1), iota(classes, index.dtype()));
  return select(is_class(index, classes[0]),
                plain ? surprise_at(hot, log_p) : surprise(adjusted(hot), log_p), nan);
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
  const Tensor d = abs(p - t);
  // cosh² = 1 + sinh², where neither is large; elsewhere cosh d = e^d·(1 + e^-2d)/2.
  const Tensor s = sinh(min(d, 1.0));
  const Tensor near = 0.5 * log1p(s * s);
  const Tensor far = d + log1p(exp(-2.0 * d)) - std::numbers::ln2;
  return row_mean(select(less(d, 1.0), near, far));
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

Tensor cosine_similarity(const Tensor& target, const Tensor& prediction,
                         const CosineOptions& options) {
  if (!(options.epsilon > 0))
    throw Error{"cosine_similarity",
                ErrorCode::invalid_parameter,
                "epsilon: expected more than 0, got " + std::to_string(options.epsilon),
                {{"parameter", "epsilon"}}};
  const auto [t, p] = alike("cosine_similarity", target, prediction);
  const Reduce over{detail::checked_axes("cosine_similarity", options.axes, p.rank())};
  // Both are scaled so that squares stay in the range, and epsilon with them: the quotient is the same.
  const auto scale_of = [&](const Tensor& x) {
    const Tensor largest = reduce_max(abs(x), {over.axes, true});
    return stop_gradient(select(greater(largest, 1.0), largest, 1.0));
  };
  const Tensor of_t = scale_of(t);
  const Tensor of_p = scale_of(p);
  const Tensor a = t / of_t;
  const Tensor b = p / of_p;
  // A root of 0 would have an infinite gradient; a length of 1e-18 is 0 beside any epsilon.
  const auto length = [&](const Tensor& x) { return sqrt(max(sum(x * x, over), 1e-36)); };
  const Tensor least = reshape(options.epsilon / of_t / of_p, length(a).shape());
  return sum(a * b, over) / max(length(a) * length(b), least);
}

Tensor margin_ranking(const Tensor& target, const Tensor& first, const Tensor& second,
                      double margin) {
  const char* const op = "margin_ranking";
  check_same(op, "target", target.shape(), "first", first.shape());
  check_same(op, "target", target.shape(), "second", second.shape());
  const Tensor d = wide(op, first) - wide(op, second);
  return max(margin - as_type(target, d.dtype()) * d, 0.0);
}

}  // namespace stoker::nn::losses
