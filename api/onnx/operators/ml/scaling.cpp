// The domain ai.onnx.ml: columns of features that are scaled, filled and compared.
// https://onnx.ai/onnx/operators/index.html#ai-onnx-ml
#include <algorithm>
#include <cmath>

#include "stoker/api/onnx/core/operator.hpp"
#include "stoker/api/tensor/math/elementwise.hpp"
#include "stoker/api/tensor/math/reductions.hpp"

namespace stoker::onnx::operators::ml::scaling {
namespace {

/// The number of features of an operand [features] or [batch, features].
std::int64_t features_of(const Call& call) {
  if (call.rank() != 1 && call.rank() != 2)
    call.refuse(ErrorCode::shape_mismatch,
                "expected [features] or [batch, features], came " + call.input(0).to_string());
  return call.shape()[call.shape().rank() - 1];
}

/// One number for all features, or one for each. Row-major.
Shape row_of(const Call& call, const char* name, std::size_t count) {
  const auto numbers = static_cast<std::int64_t>(count);
  const std::int64_t features = features_of(call);
  if (numbers != 1 && numbers != features)
    call.refuse(ErrorCode::shape_mismatch, "expected 1 number in " + std::string{name} + " or " +
                                               std::to_string(features) + ", came " +
                                               std::to_string(numbers));
  return numbers == 1 ? Shape{} : Shape{numbers};
}

Tensor reals_of(const Call& call, const char* name, const std::vector<float>& numbers,
                ElementType type = ElementType::f32) {
  return Known::reals(std::vector<double>{numbers.begin(), numbers.end()},
                      row_of(call, name, numbers.size()), type)
      .tensor();
}

Values scale(Call& call) {
  const auto* offset = call.node().reals("offset");
  const auto* scale = call.node().reals("scale");
  (void)features_of(call);
  Tensor y = as_type(call.x(), DType::f32);
  if (offset && !offset->empty()) y = y - reals_of(call, "offset", *offset);
  if (scale && !scale->empty()) y = y * reals_of(call, "scale", *scale);
  return {Value{y}};
}

Values normalize(Call& call) {
  const std::string norm = call.node().text("norm", "MAX");
  (void)features_of(call);
  const Tensor x = as_type(call.x(), DType::f32);
  const Reduce along{.axes = Axes{-1}, .keepdims = true};
  if (call.shape().elements() == 0) return {Value{x}};
  Tensor by;
  if (norm == "MAX")
    by = reduce_max(x, along);
  else if (norm == "L1")
    by = sum(abs(x), along);
  else if (norm == "L2")
    by = sqrt(sum(x * x, along));
  else
    call.refuse(ErrorCode::invalid_parameter, "there is no norm '" + norm + "'");
  // What has no norm stays.
  return {Value{x / select(equal(by, 0), 1, by)}};
}

Values impute(Call& call) {
  const Node& node = call.node();
  const auto* reals = node.reals("imputed_value_floats");
  const auto* integers = node.integers("imputed_value_int64s");
  const bool has_reals = reals && !reals->empty(), has_integers = integers && !integers->empty();
  const Tensor x = call.x();
  if (has_reals == has_integers || has_reals != is_float(x.dtype()))
    call.refuse(ErrorCode::invalid_argument,
                "expected values of one kind, that of " + call.input(0).to_string());
  if (has_integers) {
    const Tensor with =
        Known::integers(*integers, row_of(call, "imputed_value_int64s", integers->size()),
                        call.type())
            .tensor();
    return {call.like(select(equal(x, node.integer("replaced_value_int64", 0)), with, x))};
  }
  const Tensor with = reals_of(call, "imputed_value_floats", *reals, call.type());
  const float wanted = node.real("replaced_value_float", 0);
  return {call.like(select(std::isnan(wanted) ? is_nan(x) : equal(x, wanted), with, x))};
}

Values binarize(Call& call) {
  return {call.like(greater(call.x(), call.node().real("threshold", 0)))};
}

}  // namespace

void define(OperatorTable& table) {
  table.add({.name = "Scaler",
             .domain = "ai.onnx.ml",
             .types = {.operands = {number_types}, .results = {ElementType::f32}},
             .attributes = {"offset", "scale"},
             .lower = &scale});
  table.add({.name = "Normalizer",
             .domain = "ai.onnx.ml",
             .types = {.operands = {number_types}, .results = {ElementType::f32}},
             .attributes = {"norm"},
             .lower = &normalize});
  table.add({.name = "Imputer",
             .domain = "ai.onnx.ml",
             .types = alike(number_types),
             .attributes = {"imputed_value_floats", "imputed_value_int64s", "replaced_value_float",
                            "replaced_value_int64"},
             .lower = &impute});
  table.add({.name = "Binarizer",
             .domain = "ai.onnx.ml",
             .types = alike(number_types),
             .attributes = {"threshold"},
             .lower = &binarize});
}

}  // namespace stoker::onnx::operators::ml::scaling
