// Connectionist temporal classification, forwards through the frames and in logarithms.
//
// Spelt out, a target of n labels is 2n + 1 places: blank, label, blank, … A path is at a place in each
// frame; from one frame to the next it stays, goes on by one, or passes over a blank between two labels
// that differ. It starts at one of the first two places and ends at one of the last two. The gradient is
// that of this recursion.
#include <limits>

#include "stoker/api/nn/functional/class_index.hpp"
#include "stoker/api/nn/functional/losses.hpp"
#include "stoker/api/tensor.hpp"

namespace stoker::nn::losses {
namespace {

constexpr const char* op = "connectionist_temporal_classification";

/// The logarithm of what is impossible: finite, since differences of infinities are NaN.
constexpr double never = -1e30;

void check(const Tensor& target, const Tensor& prediction, const CtcOptions& options) {
  const auto refuse = [](ErrorCode code, const std::string& expected, const Tensor& got) {
    throw Error{op,
                code,
                "expected " + expected + ", got " + got.spec().to_string(),
                {{"got", got.spec().to_string()}}};
  };
  const Shape& p = prediction.shape();
  if (p.rank() != 3 || p[1] == 0)
    refuse(ErrorCode::shape_mismatch, "a prediction [batch, frames, classes]", prediction);
  if (is_complex(prediction.dtype()))
    refuse(ErrorCode::dtype_mismatch, "a prediction of real numbers", prediction);
  const std::string batch = std::to_string(p[0]);
  if (target.rank() != 2 || target.shape()[0] != p[0] || target.shape()[1] == 0)
    refuse(ErrorCode::shape_mismatch, "a target [" + batch + ", labels]", target);
  if (!is_integer(target.dtype()))
    refuse(ErrorCode::dtype_mismatch, "a target of integers", target);
  if (options.blank < 0 || options.blank >= p[2])
    throw Error{op,
                ErrorCode::invalid_parameter,
                "blank: expected a class, 0 to " + std::to_string(p[2] - 1) + ", got " +
                    std::to_string(options.blank),
                {{"parameter", "blank"}}};
  if (!options.lengths.has_value()) return;
  if (options.lengths.shape() != Shape{p[0]})
    refuse(ErrorCode::shape_mismatch, "lengths [" + batch + "]", options.lengths);
  if (!is_integer(options.lengths.dtype()))
    refuse(ErrorCode::dtype_mismatch, "lengths of integers", options.lengths);
}

/// log(exp(a) + exp(b) + …) of the last axis.
Tensor log_of_sum(const Tensor& x) {
  // The result does not depend on what is taken out, so neither does its gradient.
  const Tensor most = stop_gradient(reduce_max(x, {Axes{-1}, true}));
  return squeeze(most, Axes{-1}) + log(sum(exp(x - most), {Axes{-1}}));
}

/// Element i is what stood at i - n; `filling` where nothing did.
Tensor moved(const Tensor& x, std::int64_t n, const TensorLike& filling) {
  return pad(x, filling, {{}, {.low = n, .high = -n}});
}

/// Labels are negative from `lengths` on.
Tensor lengths_of(const Tensor& labels) {
  return sum(as_type(cumulative_min(as_type(greater_equal(labels, 0), DType::s32), 1), DType::s32),
             {Axes{1}});
}

}  // namespace

Tensor connectionist_temporal_classification(const Tensor& target, const Tensor& prediction,
                                             const CtcOptions& options) {
  check(target, prediction, options);
  const DType dtype = prediction.dtype() == DType::f64 ? DType::f64 : DType::f32;
  const std::int64_t batch = prediction.shape()[0];
  const std::int64_t frames = prediction.shape()[1];
  const std::int64_t classes = prediction.shape()[2];
  const std::int64_t most = target.shape()[1];
  const std::int64_t places = 2 * most + 1;

  const Tensor given = as_type(prediction, dtype);
  const Tensor log_p = max(options.from_logits ? stoker::log_softmax(given) : given, never);
  const Tensor labels = as_type(target, DType::s32);
  const Tensor length =
      options.lengths.has_value() ? as_type(options.lengths, DType::s32) : lengths_of(labels);

  // The class of each place, [batch, places], and its logarithm in each frame, [frames, batch, places].
  const Tensor spelt = pad(labels, options.blank, {{}, {1, 1, 1}});
  const Tensor at = broadcast(new_axis(spelt, 1), {batch, frames, places});
  const Tensor emitted = transpose(take_along_axis(log_p, at, 2), Axes{1, 0, 2});
  const Tensor passes = not_equal(spelt, moved(spelt, 2, options.blank));

  const Tensor place = iota({places});
  // Before the first frame, where the first blank is all there is behind.
  const Tensor begin =
      as_type(broadcast(select(equal(place, 0), 0.0, never), {batch, places}), dtype);
  const auto frame = [&](const Tensor& reached, const Tensor& emits) {
    const Tensor from = stack(
        {reached, moved(reached, 1, never), select(passes, moved(reached, 2, never), never)}, -1);
    return std::pair{max(log_of_sum(from) + emits, never), std::vector<Tensor>{}};
  };
  const Tensor reached = scan(frame, begin, emitted).first;

  const Tensor last = new_axis(2 * length, -1);
  const Tensor ends = logical_or(equal(place, last), equal(place, last - 1));
  const Tensor loss = -log_of_sum(select(ends, reached, never));
  const Tensor spelled =
      select(less(loss, -never / 2), loss, std::numeric_limits<double>::infinity());

  const Tensor used = less(iota({most}), new_axis(length, -1));
  const Tensor wrong =
      logical_or(logical_not(is_class(labels, classes)), equal(labels, options.blank));
  const Tensor known = logical_and(logical_and(greater_equal(length, 0), less_equal(length, most)),
                                   logical_not(any(logical_and(used, wrong), {Axes{1}})));
  return select(known, spelled, std::numeric_limits<double>::quiet_NaN());
}

}  // namespace stoker::nn::losses
