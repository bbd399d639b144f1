// The domain ai.onnx.ml: features that are joined, chosen and spread over categories.
// https://onnx.ai/onnx/operators/index.html#ai-onnx-ml
#include <algorithm>
#include <cmath>
#include <set>

#include "stoker/api/onnx/core/operator.hpp"
#include "stoker/api/tensor/math/elementwise.hpp"
#include "stoker/api/tensor/views/indexing.hpp"
#include "stoker/api/tensor/views/manipulation.hpp"

namespace stoker::onnx::operators::ml::features {
namespace {

/// Operands [batch, …], or [features] for a batch of one, side by side in f32. What is wider than inputdimensions says
/// is cut off, what is narrower is filled up with zeros.
Values vectorize(Call& call) {
  const Axes widths = call.node().integers("inputdimensions", {});
  if (widths.size() != call.count())
    call.refuse(ErrorCode::invalid_argument, std::to_string(call.count()) + " operands and " +
                                                 std::to_string(widths.size()) +
                                                 " inputdimensions");
  std::vector<Tensor> parts;
  for (std::size_t i = 0; i < widths.size(); ++i) {
    const Shape& shape = call.shape(i);
    if (shape.rank() == 0 || widths[i] < 0)
      call.refuse(ErrorCode::shape_mismatch,
                  "operand " + std::to_string(i) + " is " + call.input(i).to_string());
    const std::int64_t rows = shape.rank() == 1 ? 1 : shape[0];
    std::int64_t width = shape.rank() == 1 ? shape[0] : 1;
    for (std::size_t axis = 1; axis < shape.rank(); ++axis) width *= shape[axis];
    if (i > 0 && rows != parts.front().shape()[0])
      call.refuse(ErrorCode::shape_mismatch, "operand " + std::to_string(i) + " has " +
                                                 std::to_string(rows) + " rows, the first " +
                                                 std::to_string(parts.front().shape()[0]));
    Tensor part = as_type(reshape(call.x(i), Shape{rows, width}), DType::f32);
    const std::vector<Padding> fit{{}, {.low = 0, .high = widths[i] - width}};
    if (widths[i] != width) part = pad(part, 0, fit);
    parts.push_back(part);
  }
  return {Value{concatenate(parts, 1)}};
}

/// Chosen places of the last axis. A vector counts as a batch of one.
Values extract(Call& call) {
  if (call.rank() == 0 || call.shape(1).elements() == 0)
    call.refuse(ErrorCode::shape_mismatch,
                "expected a vector or more, and at least one index; came " +
                    call.input(0).to_string() + " and " + call.input(1).to_string());
  const std::int64_t length = call.shape()[call.shape().rank() - 1];
  if (call.input(1).is_known())
    for (const std::int64_t index : call.integers(1))
      if (index < 0 || index >= length)
        call.refuse(ErrorCode::invalid_argument, "index " + std::to_string(index) + " of " +
                                                     std::to_string(length) + " elements");
  const Tensor y = take(call.x(), flatten(call.x(1)), -1);
  return {call.like(call.rank() == 1 ? new_axis(y, 0) : y)};
}

void check_known(const Call& call, bool found, const std::string& what) {
  if (!found && !call.node().flag("zeros", true))
    call.refuse(ErrorCode::invalid_argument,
                what + " is in none of its categories, and zeros is 0");
}

/// Of texts, which the host compares.
Value places_of(const Call& call, const std::vector<std::string>& categories) {
  std::vector<std::int64_t> places;
  for (const std::string& text : call.input(0).texts().strings) {
    const auto found = std::ranges::find(categories, text);
    check_known(call, found != categories.end(), "'" + text + "'");
    places.push_back(found == categories.end() ? -1 : found - categories.begin());
  }
  return Known::integers(places, call.shape());
}

/// An axis more, with 1 at the element's category and 0 elsewhere.
Values one_hot(Call& call) {
  const auto* texts = call.node().texts("cats_strings");
  const auto* integers = call.node().integers("cats_int64s");
  const bool has_texts = texts && !texts->empty(), has_integers = integers && !integers->empty();
  if (has_texts == has_integers || has_texts != call.input(0).is_texts())
    call.refuse(ErrorCode::invalid_argument,
                "expected categories in one list, that of " + call.input(0).to_string());
  Axes categories;
  if (has_integers) categories = *integers;
  for (std::size_t i = 0; has_texts && i < texts->size(); ++i)
    categories.push_back(static_cast<std::int64_t>(i));
  const bool twice =
      has_texts ? std::set<std::string>{texts->begin(), texts->end()}.size() != texts->size()
                : std::set<std::int64_t>{categories.begin(), categories.end()}.size() !=
                      categories.size();
  if (twice) call.refuse(ErrorCode::invalid_argument, "a category is listed twice");
  const auto is_listed = [&](double one) {  // what is beyond an integer is in no category
    return std::abs(one) < 0x1p63 &&
           std::ranges::find(categories, static_cast<std::int64_t>(one)) != categories.end();
  };
  if (has_integers && !call.node().flag("zeros", true))
    for (const double one : call.known(0).to_reals())
      check_known(call, is_listed(one), std::to_string(one));
  // Floats lose their fraction, and NaN, which would become 0, is no category.
  const Tensor x = has_texts ? places_of(call, *texts).tensor() : call.x();
  Tensor spread = equal(new_axis(as_type(x, DType::s64), -1), Known::integers(categories).tensor());
  if (is_float(x.dtype())) spread = logical_and(spread, logical_not(is_nan(new_axis(x, -1))));
  return {Value{as_type(spread, DType::f32)}};
}

}  // namespace

void define(OperatorTable& table) {
  table.add({.name = "FeatureVectorizer",
             .domain = "ai.onnx.ml",
             .most_inputs = Operator::any_number,
             .types = {.operands = {number_types}, .results = {ElementType::f32}},
             .attributes = {"inputdimensions"},
             .lower = &vectorize});
  table.add({.name = "ArrayFeatureExtractor",
             .domain = "ai.onnx.ml",
             .least_inputs = 2,
             .most_inputs = 2,
             .types = {.operands = {number_types | ElementType::string, index_types},
                       .results = {like(0)}},
             .lower = &extract,
             .moves = true});
  table.add(
      {.name = "OneHotEncoder",
       .domain = "ai.onnx.ml",
       .types = {.operands = {number_types | ElementType::string}, .results = {ElementType::f32}},
       .attributes = {"cats_int64s", "cats_strings", "zeros"},
       .lower = &one_hot});
}

}  // namespace stoker::onnx::operators::ml::features
