// The domain ai.onnx.ml: linear models. https://onnx.ai/onnx/operators/onnx_aionnxml_LinearClassifier.html
#include "stoker/api/onnx/core/host_rules.hpp"
#include "stoker/api/onnx/core/operator.hpp"
#include "stoker/api/onnx/tabular/classes.hpp"
#include "stoker/api/onnx/tabular/post_transform.hpp"
#include "stoker/api/tensor/math/elementwise.hpp"
#include "stoker/api/tensor/math/products.hpp"
#include "stoker/api/tensor/math/reductions.hpp"
#include "stoker/api/tensor/views/manipulation.hpp"

namespace stoker::onnx::operators::ml::linear {
namespace {

/// x · coefficientsᵀ + intercepts in f32, [rows, outputs]. Intercepts may be missing.
Tensor scores_of(Call& call, std::int64_t outputs) {
  if (call.rank() != 1 && call.rank() != 2)
    call.refuse(ErrorCode::shape_mismatch,
                "expected [batch, features], came " + call.input(0).to_string());
  const Tensor x = as_type(call.rank() == 1 ? new_axis(call.x(), 0) : call.x(), DType::f32);
  const std::int64_t features = x.shape()[1];
  const auto weights = [&](std::size_t part, const std::vector<float>& given, const Shape& shape,
                           const char* name) {
    if (static_cast<std::int64_t>(given.size()) != shape.elements())
      call.refuse(ErrorCode::shape_mismatch, "expected " + std::string{name} + " " +
                                                 shape.to_string() + ", came " +
                                                 std::to_string(given.size()) + " numbers");
    return call.walker().prepared(part, [&] {
      return Known::reals(std::vector<double>{given.begin(), given.end()}, shape).tensor();
    });
  };
  const auto* coefficients = call.node().reals("coefficients");
  if (coefficients == nullptr) call.refuse(ErrorCode::invalid_argument, "it has no coefficients");
  const Tensor y =
      matmul(x, transpose(weights(0, *coefficients, Shape{outputs, features}, "coefficients")));
  const auto* intercepts = call.node().reals("intercepts");
  return intercepts && !intercepts->empty()
             ? y + weights(1, *intercepts, Shape{outputs}, "intercepts")
             : y;
}

Values regress(Call& call) {
  const std::int64_t targets = call.node().integer("targets", 1);
  if (targets < 1)
    call.refuse(ErrorCode::invalid_parameter,
                "expected targets from 1 on, came " + std::to_string(targets));
  check_host_count(call, targets);
  return {Value{transformed(scores_of(call, targets), post_transform_of(call))}};
}

/// One score for each class, or one that says which of two it is.
Values classify(Call& call) {
  const Classes classes{call, "classlabels_ints"};
  const PostTransform how = post_transform_of(call);
  const auto* intercepts = call.node().reals("intercepts");
  const bool is_single = classes.count() == 2 && intercepts && intercepts->size() == 1;
  const Tensor scores = scores_of(call, is_single ? 1 : classes.count());
  Tensor chosen, all;
  if (is_single) {
    chosen = as_type(squeeze(greater(scores, 0), Axes{1}), DType::s32);
    // ONNX does not say what the scores of such are; these are ONNX Runtime's, but for PROBIT, of which it writes one.
    all = how == PostTransform::logistic ? concatenate({sigmoid(-scores), sigmoid(scores)}, 1)
          : how == PostTransform::probit ? transformed(concatenate({1 - scores, scores}, 1), how)
                                         : concatenate({1 - scores, scores}, 1);
  } else {
    chosen = argmax(scores, Arg{.axis = 1});
    all = transformed(scores, how);
  }
  return {classes.labels(chosen), Value{all}};
}

}  // namespace

void define(OperatorTable& table) {
  table.add({.name = "LinearRegressor",
             .domain = "ai.onnx.ml",
             .types = {.operands = {number_types}, .results = {ElementType::f32}},
             .attributes = {"coefficients", "intercepts", "post_transform", "targets"},
             .lower = &regress});
  table.add(
      {.name = "LinearClassifier",
       .domain = "ai.onnx.ml",
       .most_outputs = 2,
       .types = {.operands = {number_types}, .results = {ElementType::undefined, ElementType::f32}},
       .attributes = {"classlabels_ints", "classlabels_strings", "coefficients", "intercepts",
                      "multi_class", "post_transform"},
       .lower = &classify});
}

}  // namespace stoker::onnx::operators::ml::linear
