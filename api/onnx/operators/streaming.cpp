// Operators with a state that a stream carries from piece to piece.
#include <cmath>

#include "stoker/api/onnx/core/operator.hpp"
#include "stoker/api/tensor/core/creation.hpp"
#include "stoker/api/tensor/math/convolution.hpp"
#include "stoker/api/tensor/math/elementwise.hpp"
#include "stoker/api/tensor/math/products.hpp"
#include "stoker/api/tensor/transforms/control_flow.hpp"
#include "stoker/api/tensor/views/manipulation.hpp"

namespace stoker::onnx::operators::streaming {
namespace {

/// Each channel convolved with its own taps, over the last of the past and the input.
Values causal_conv(Call& call) {
  const Shape& s = call.shape();
  if (s.rank() != 3 || call.rank(1) != 3) call.refuse(ErrorCode::shape_mismatch, "expected 3 axes");
  const std::int64_t before = call.shape(1)[2] - 1;
  const Tensor past = call.has(3) ? call.x(3) : zeros(Shape{s[0], s[1], before}, call.x().dtype());
  const Tensor all = before == 0 ? call.x() : concatenate({past, call.x()}, 2);
  Tensor y = conv(all, call.x(1), {.feature_group_size = s[1]});
  if (call.has(2)) y = y + reshape(call.x(2), {1, -1, 1});
  const std::string activation = call.node().text("activation", "none");
  if (activation == "silu" || activation == "swish")
    y = y * sigmoid(y);
  else if (activation != "none")
    call.refuse(ErrorCode::invalid_parameter, "activation '" + activation + "'");
  const Tensor last = before == 0 ? zeros(Shape{s[0], s[1], 0}, all.dtype())
                                  : slice_along_axis(all, all.shape()[2] - before, before, 2);
  return {call.like(y), call.like(last)};
}

/// A state [batch, heads, keys, values] that each step decays and writes to:
///     S' = exp(decay)·S + k·(beta·(v - kᵀ·exp(decay)·S)),  y = scale·qᵀ·S'
/// without decay, or without the difference, as `update_rule` says.
Values linear_attention(Call& call) {
  const std::int64_t q_heads = call.node().integer("q_num_heads");
  const std::int64_t heads = call.node().integer("kv_num_heads");
  const std::string rule = call.node().text("update_rule", "gated_delta");
  const bool decays = rule == "gated" || rule == "gated_delta";
  const bool corrects = rule == "delta" || rule == "gated_delta";
  if (!decays && !corrects && rule != "linear")
    call.refuse(ErrorCode::invalid_parameter, "update_rule '" + rule + "'");
  if (heads <= 0 || q_heads <= 0 || q_heads % heads != 0)
    call.refuse(ErrorCode::invalid_parameter, "q_num_heads is no multiple of kv_num_heads");
  const Shape& s = call.shape();
  if (s.rank() != 3) call.refuse(ErrorCode::shape_mismatch, "expected 3 axes");
  // [time, batch, heads, size]
  const auto steps = [&](std::size_t i, std::int64_t of_heads) {
    const Tensor x = as_type(call.x(i), DType::f32);
    return transpose(reshape(x, {s[0], s[1], of_heads, -1}), Axes{1, 0, 2, 3});
  };
  Tensor q = steps(0, q_heads);
  const Tensor k = steps(1, heads);
  const Tensor v = steps(2, heads);
  const std::int64_t each = q_heads / heads;
  const std::int64_t size = k.shape()[3];
  const double given = call.node().real("scale", 0);
  const double scale = given == 0 ? 1 / std::sqrt(static_cast<double>(size)) : given;
  Tensor state =
      call.has(3) ? as_type(call.x(3), DType::f32) : zeros(Shape{s[0], heads, size, v.shape()[3]});
  std::vector<Tensor> sequences{q, k, v};
  if (decays) {  // one for each head, or for each of its keys
    if (!call.has(4) || call.rank(4) != 3)
      call.refuse(ErrorCode::shape_mismatch, "a decay of 3 axes is needed");
    const std::int64_t last = call.shape(4)[2];
    sequences.push_back(
        transpose(reshape(as_type(call.x(4), DType::f32), {s[0], s[1], heads, last / heads}),
                  Axes{1, 0, 2, 3}));
  }
  if (corrects)
    sequences.push_back(
        transpose(reshape(as_type(call.x(5), DType::f32), {s[0], s[1], -1, 1}), Axes{1, 0, 2, 3}));
  const auto body = [&](const Tensor& before, const std::vector<Tensor>& step) {
    Tensor now = before;
    if (decays) now = now * new_axis(exp(step[3]), -1);
    Tensor write = step[2];
    if (corrects) {
      const Tensor read = matmul(new_axis(step[1], -2), now);
      write = step.back() * (write - reshape(read, write.shape()));
    }
    now = now + new_axis(step[1], -1) * new_axis(write, -2);
    // Several heads of queries read one state.
    const Tensor asked = reshape(step[0], {s[0], heads, each, size});
    return std::pair{now, matmul(asked, now) * scale};
  };
  auto [last, shown] = scan(body, state, sequences);
  const Tensor y = reshape(transpose(shown, Axes{1, 0, 2, 3, 4}), {s[0], s[1], -1});
  return {call.like(y), call.has(3) ? call.like(last, 3) : call.like(last)};
}

}  // namespace

void define(OperatorTable& table) {
  table.add({.name = "CausalConvWithState",
             .since = {27},
             .least_inputs = 2,
             .most_inputs = 4,
             .most_outputs = 2,
             .types = {.operands = {float_types}, .results = {like(0), ElementType::undefined}},
             .attributes = {"activation"},
             .lower = &causal_conv});
  table.add({.name = "LinearAttention",
             .since = {27},
             .least_inputs = 3,
             .most_inputs = 6,
             .most_outputs = 2,
             .types = {.operands = {float_types}, .results = {like(0), ElementType::undefined}},
             .attributes = {"chunk_size", "kv_num_heads", "q_num_heads", "scale", "update_rule"},
             .lower = &linear_attention});
}

}  // namespace stoker::onnx::operators::streaming
