// The domain com.microsoft: layer normalization without a mean, behind a sum, and behind embeddings.
// https://onnxruntime.ai/docs/reference/operators/ContribOperators.html
#include "stoker/api/onnx/core/expected_shape.hpp"
#include "stoker/api/onnx/core/rule_of.hpp"
#include "stoker/api/tensor/core/creation.hpp"
#include "stoker/api/tensor/math/elementwise.hpp"
#include "stoker/api/tensor/math/reductions.hpp"
#include "stoker/api/tensor/views/indexing.hpp"
#include "stoker/api/tensor/views/manipulation.hpp"

namespace stoker::onnx::operators::microsoft::normalization {
namespace {

constexpr float default_epsilon = 1e-12F;

/// The last axis normalized by one of ONNX's own operators.
Values normalized(const Call& call, const char* op, const Values& operands) {
  const float epsilon = call.node().real("epsilon", default_epsilon);
  return rule_of(call, node_with(op, {{.name = "epsilon", .value = epsilon, .reference = {}}}), 23,
                 operands);
}

/// input + skip + bias. Where input has a batch, skip may lack it, or have one row of it.
Value skipped(const Call& call, std::size_t bias) {
  if (call.rank() != 2 && call.rank() != 3)
    call.refuse(ErrorCode::shape_mismatch,
                "input: expected 2 or 3 axes, got " + call.input(0).to_string());
  const Shape& shape = call.shape();
  const std::int64_t length = shape[shape.rank() - 2];
  const std::int64_t size = shape[shape.rank() - 1];
  if (shape.rank() == 2)
    expect_shape(call, 1, "skip", {length, size});
  else
    expect_shape(call, 1, "skip", {extents_of(shape), {length, size}, {1, length, size}});
  for (std::size_t i = 2; i <= bias; ++i)
    expect_shape(call, i, i == 2 ? "gamma" : i == bias ? "bias" : "beta", {size});
  Tensor sum = call.x(0) + call.x(1);
  if (call.has(bias)) sum = sum + call.x(bias);
  return call.like(sum);
}

Values skip_layer_normalization(Call& call) {
  const Value sum = skipped(call, 4);
  Values results =
      normalized(call, "LayerNormalization", {sum, call.input(2), operand_of(call, 3)});
  results.push_back(sum);
  return results;
}

/// The mean that this one subtracts is 0.
Values skip_simplified_layer_normalization(Call& call) {
  const Value sum = skipped(call, 3);
  const Values results = normalized(call, "RMSNormalization", {sum, call.input(2)});
  const Value& inverse_deviation = results.at(1);
  return {results.at(0), Value{zeros_like(inverse_deviation.tensor())}, inverse_deviation, sum};
}

/// Embeddings of words, positions and segments, summed and normalized; how many words the mask shows; the sum.
Values embed_layer_normalization(Call& call) {
  expect_shape(call, 0, "input_ids", {any_extent, any_extent});
  const Shape ids = call.shape();
  expect_shape(call, 2, "word_embedding", {any_extent, any_extent});
  const std::int64_t size = call.shape(2)[1];
  expect_shape(call, 1, "segment_ids", extents_of(ids));
  expect_shape(call, 3, "position_embedding", {any_extent, size});
  expect_shape(call, 4, "segment_embedding", {any_extent, size});
  expect_shape(call, 5, "gamma", {size});
  expect_shape(call, 6, "beta", {size});
  expect_shape(call, 7, "mask", extents_of(ids));
  expect_shape(call, 8, "position_ids", {extents_of(ids), {1, ids[1]}});
  if (!call.has(8) && call.shape(3)[0] < ids[1])
    call.refuse(ErrorCode::shape_mismatch, "position_embedding: expected rows for " +
                                               std::to_string(ids[1]) + " positions, got " +
                                               call.input(3).to_string());
  const Tensor positions = call.has(8) ? call.x(8) : iota_along(Shape{1, ids[1]}, 1);
  Tensor sum = take(call.x(2), call.x(0)) + take(call.x(3), positions);
  // Without segments all words are in the first one.
  if (call.has(4))
    sum = sum + (call.has(1) ? take(call.x(4), call.x(1)) : slice_along_axis(call.x(4), 0, 1));
  const Value all = call.like(sum, 2);
  const Value y = normalized(call, "LayerNormalization", {all, call.input(5), call.input(6)}).at(0);
  const Tensor shown =
      call.has(7) ? stoker::sum(as_type(equal(call.x(7), 1), DType::s32), {.axes = Axes{1}})
                  : zeros({ids[0]}, DType::s32);
  return {y, Value{as_type(shown, DType::s32)}, all};
}

}  // namespace

void define(OperatorTable& table) {
  const std::string domain = "com.microsoft";
  table.add({.name = "LayerNormalization",
             .domain = domain,
             .least_inputs = 2,
             .most_inputs = 3,
             .most_outputs = 3,
             .types = {.operands = {float_types}, .results = {like(0), ElementType::undefined}},
             .attributes = {"axis", "epsilon", "stash_type"},
             .lower = [](Call& call) {
               return rule_of(call, call.node(), "LayerNormalization", 17,
                              {call.input(0), call.input(1), operand_of(call, 2)});
             }});
  // ONNX Runtime has it in ONNX's own domain, which never had it.
  for (const char* const either : {"", "com.microsoft"})
    table.add({.name = "SimplifiedLayerNormalization",
               .domain = either,
               .least_inputs = 2,
               .most_inputs = 2,
               .most_outputs = 2,
               .types = {.operands = {float_types}},
               .attributes = {"axis", "epsilon", "stash_type"},
               .lower = [](Call& call) {
                 return rule_of(call, call.node(), "RMSNormalization", 23,
                                {call.input(0), call.input(1)});
               }});
  table.add({.name = "SkipLayerNormalization",
             .domain = domain,
             .least_inputs = 3,
             .most_inputs = 5,
             .most_outputs = 4,
             .types = {.operands = {float_types}, .results = {like(0), ElementType::undefined}},
             .attributes = {"epsilon"},
             .lower = &skip_layer_normalization});
  table.add({.name = "SkipSimplifiedLayerNormalization",
             .domain = domain,
             .least_inputs = 3,
             .most_inputs = 4,
             .most_outputs = 4,
             .types = {.operands = {float_types}, .results = {like(0), ElementType::undefined}},
             .attributes = {"epsilon"},
             .lower = &skip_simplified_layer_normalization});
  table.add({.name = "EmbedLayerNormalization",
             .domain = domain,
             .least_inputs = 7,
             .most_inputs = 9,
             .most_outputs = 3,
             .types = {.operands = {index_types, index_types, float_types, like(2), like(2),
                                    like(2), like(2), index_types}},
             .attributes = {"epsilon", "mask_index_type"},
             .lower = &embed_layer_normalization});
}

}  // namespace stoker::onnx::operators::microsoft::normalization
