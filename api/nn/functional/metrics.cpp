#include "stoker/api/nn/functional/metrics.hpp"

#include "stoker/api/nn/functional/class_index.hpp"
#include "stoker/api/tensor.hpp"

namespace stoker::nn::metrics {
namespace {

struct Pair {
  Tensor target;
  Tensor prediction;
};

/// Without a last axis of 1, but not without any.
Shape squeezed(const Shape& shape) {
  const std::size_t rank = shape.rank();
  return rank >= 2 && shape[rank - 1] == 1 ? rows_of(shape) : shape;
}

Pair alike(const char* op, const Tensor& target, const Tensor& prediction) {
  const Shape shape = squeezed(prediction.shape());
  if (squeezed(target.shape()) != shape)
    throw Error{
        op,
        ErrorCode::shape_mismatch,
        "target and prediction differ: " + target.shape().to_string() + " and " +
            prediction.shape().to_string(),
        {{"target", target.shape().to_string()}, {"prediction", prediction.shape().to_string()}}};
  return {reshape(target, shape), reshape(prediction, shape)};
}

/// Comparisons with 0.5 must not turn it into an integer.
Tensor real(const Tensor& x) { return is_float(x.dtype()) ? x : as_type(x, DType::f32); }

/// What is so, and what was said, as u8.
Pair answers(const char* op, const Tensor& target, const Tensor& prediction, double threshold) {
  const auto [t, p] = alike(op, target, prediction);
  return {greater(real(t), 0.5), greater(real(p), threshold)};
}

Tensor count(const Tensor& condition) { return sum(as_type(condition, DType::u8)); }
Tensor size_of(const Tensor& x) {
  return full({}, static_cast<std::int64_t>(x.size()), DType::u32);
}
Fraction share(const Tensor& condition) { return {count(condition), size_of(condition)}; }

/// Of predictions of classes, in rows: the index of the right one.
Tensor right_class(const char* op, const Tensor& target, const Tensor& prediction) {
  return names_classes(target, prediction) ? class_index(op, target, prediction)
                                           : argmax(target, {.axis = -1});
}

}  // namespace

Tensor Fraction::value() const {
  const DType dtype = part.dtype() == DType::f64 ? DType::f64 : DType::f32;
  return as_type(part, dtype) / as_type(max(whole, 1), dtype);
}

Fraction accuracy(const Tensor& target, const Tensor& prediction, bool from_logits) {
  const char* const op = "accuracy";
  if (squeezed(prediction.shape()).rank() < prediction.rank() || prediction.rank() < 2) {
    const auto [yes, said] = answers(op, target, prediction, from_logits ? 0 : 0.5);
    return share(equal(yes, said));
  }
  return share(equal(right_class(op, target, prediction), argmax(prediction, {.axis = -1})));
}

Fraction top_k_categorical_accuracy(const Tensor& target, const Tensor& prediction,
                                    std::int64_t k) {
  const char* const op = "top_k_categorical_accuracy";
  if (prediction.rank() == 0)
    throw Error{op,
                ErrorCode::shape_mismatch,
                "expected [rows…, classes], got a single number",
                {{"prediction", prediction.shape().to_string()}}};
  const std::int64_t classes = prediction.shape()[prediction.rank() - 1];
  if (k < 1 || k > classes)
    throw Error{
        op,
        ErrorCode::invalid_parameter,
        "k: expected 1 to the " + std::to_string(classes) + " classes, got " + std::to_string(k),
        {{"parameter", "k"}}};
  const Tensor index = right_class(op, target, prediction);
  const Tensor score = take_along_axis(prediction, new_axis(index, -1), -1);
  // How many are better. NaN is not below anything, so it never helps.
  const Tensor better = sum(logical_not(less_equal(prediction, score)), {Axes{-1}});
  return share(logical_and(less(better, k), is_class(index, classes)));
}

Tensor true_positives(const Tensor& target, const Tensor& prediction, double threshold) {
  const auto [yes, said] = answers("true_positives", target, prediction, threshold);
  return count(logical_and(yes, said));
}

Tensor true_negatives(const Tensor& target, const Tensor& prediction, double threshold) {
  const auto [yes, said] = answers("true_negatives", target, prediction, threshold);
  return count(logical_not(logical_or(yes, said)));
}

Tensor false_positives(const Tensor& target, const Tensor& prediction, double threshold) {
  const auto [yes, said] = answers("false_positives", target, prediction, threshold);
  return count(greater(said, yes));
}

Tensor false_negatives(const Tensor& target, const Tensor& prediction, double threshold) {
  const auto [yes, said] = answers("false_negatives", target, prediction, threshold);
  return count(less(said, yes));
}

Fraction precision(const Tensor& target, const Tensor& prediction, double threshold) {
  const auto [yes, said] = answers("precision", target, prediction, threshold);
  return {count(logical_and(yes, said)), count(said)};
}

Fraction recall(const Tensor& target, const Tensor& prediction, double threshold) {
  const auto [yes, said] = answers("recall", target, prediction, threshold);
  return {count(logical_and(yes, said)), count(yes)};
}

Fraction sensitivity(const Tensor& target, const Tensor& prediction, double threshold) {
  return recall(target, prediction, threshold);
}

Fraction specificity(const Tensor& target, const Tensor& prediction, double threshold) {
  const auto [yes, said] = answers("specificity", target, prediction, threshold);
  return {count(logical_not(logical_or(yes, said))), count(logical_not(yes))};
}

Fraction mean_absolute_error(const Tensor& target, const Tensor& prediction) {
  const auto [t, p] = alike("mean_absolute_error", target, prediction);
  const DType dtype = p.dtype() == DType::f64 ? DType::f64 : DType::f32;
  return {sum(abs(as_type(p, dtype) - as_type(t, dtype))), size_of(p)};
}

}  // namespace stoker::nn::metrics
