// Losses of classes: negative log likelihood and cross entropy. Scores are [batch, classes, …], labels [batch, …].
#include "stoker/api/onnx/core/operator.hpp"
#include "stoker/api/tensor/core/creation.hpp"
#include "stoker/api/tensor/math/elementwise.hpp"
#include "stoker/api/tensor/math/reductions.hpp"
#include "stoker/api/tensor/views/indexing.hpp"
#include "stoker/api/tensor/views/manipulation.hpp"

namespace stoker::onnx::operators::losses {
namespace {

/// Labels that are `ignore_index` count with weight 0.
Tensor likelihood_loss(const Call& call, const Tensor& scores) {
  if (scores.rank() < 2) call.refuse(ErrorCode::shape_mismatch, "expected [batch, classes, …]");
  const Tensor given = as_type(call.x(1), DType::s64);
  Tensor weights = ones(given.shape(), scores.dtype());
  Tensor labels = given;
  const bool ignores = call.node().has("ignore_index");
  if (ignores)
    labels = select(equal(given, call.node().integer("ignore_index")), zeros_like(given), given);
  if (call.has(2)) weights = take(call.x(2), labels);
  if (ignores)
    weights =
        select(equal(given, call.node().integer("ignore_index")), zeros_like(weights), weights);
  const Tensor picked = squeeze(take_along_axis(scores, new_axis(labels, 1), 1), Axes{1});
  Tensor losses = negate(picked) * weights;
  const std::string reduction = call.node().text("reduction", "mean");
  if (reduction == "none") return losses;
  if (reduction == "sum") return sum(losses);
  if (reduction != "mean")
    call.refuse(ErrorCode::invalid_parameter, "reduction '" + reduction + "'");
  if (!call.has(2) && !ignores) return mean(losses);
  return sum(losses) / sum(weights);
}

Values cross_entropy(Call& call) {
  const Tensor logarithms = log_softmax(call.x(), 1);
  return {call.like(likelihood_loss(call, logarithms)), call.like(logarithms)};
}

}  // namespace

void define(OperatorTable& table) {
  table.add(
      {.name = "NegativeLogLikelihoodLoss",
       .since = {12, 13, 22},
       .least_inputs = 2,
       .most_inputs = 3,
       .types = {.operands = {float_types, index_types, like(0)}, .results = {like(0)}},
       .attributes = {"ignore_index", "reduction"},
       .lower = [](Call& call) { return Values{call.like(likelihood_loss(call, call.x()))}; }});
  table.add({.name = "SoftmaxCrossEntropyLoss",
             .since = {12, 13},
             .least_inputs = 2,
             .most_inputs = 3,
             .most_outputs = 2,
             .types = {.operands = {float_types, index_types, like(0)}, .results = {like(0)}},
             .attributes = {"ignore_index", "reduction"},
             .lower = &cross_entropy});
}

}  // namespace stoker::onnx::operators::losses
