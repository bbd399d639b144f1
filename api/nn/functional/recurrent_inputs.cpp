#include "stoker/api/nn/functional/recurrent_inputs.hpp"

namespace stoker::nn::layers {
namespace {

Shape with_batch(std::int64_t batch, std::span<const std::int64_t> row) {
  std::vector<std::int64_t> extents{batch};
  extents.insert(extents.end(), row.begin(), row.end());
  return Shape::make(extents, "recurrent");
}

void check_broadcasts(const char* op, const char* what, const Shape& from, const Shape& to) {
  const auto both = broadcast(from, to);
  if (!both || *both != to)
    throw Error{
        op,
        ErrorCode::shape_mismatch,
        std::string{"expected a "} + what + " " + to.to_string() + ", got " + from.to_string(),
        {{"expected", to.to_string()}, {"got", from.to_string()}}};
}

}  // namespace

RecurrentInputs recurrent_inputs(const char* op, std::size_t inputs, std::size_t states,
                                 bool padding_mask) {
  const std::size_t rest = inputs - (padding_mask ? 1 : 0);
  if (rest == 1 || rest == 1 + states) return {rest > 1, padding_mask};
  throw Error{op,
              ErrorCode::arity_mismatch,
              "expected a sequence, or one and " + std::to_string(states) + " states" +
                  (padding_mask ? ", and a padding mask" : "") + "; got " + std::to_string(inputs) +
                  " inputs",
              {{"got", std::to_string(inputs)}, {"states", std::to_string(states)}}};
}

void check_recurrent_inputs(const char* op, std::span<const TensorSpec> inputs, std::size_t states,
                            std::span<const std::int64_t> row, bool padding_mask) {
  const RecurrentInputs given = recurrent_inputs(op, inputs.size(), states, padding_mask);
  const Shape& x = inputs[0].shape;
  for (std::size_t k = 1; given.states && k <= states; ++k)
    check_broadcasts(op, "state", inputs[k].shape, with_batch(x[0], row));
  if (given.padding_mask)
    check_broadcasts(op, "padding mask", inputs.back().shape, Shape{x[0], x[1]});
}

void declare_states(std::vector<VariableSpec>& variables, std::initializer_list<const char*> names,
                    std::span<const std::int64_t> row, const Named& initializer) {
  if (initializer.text() == "zeros") return;
  for (const char* name : names)
    variables.push_back({name, with_batch(1, row), initializer, VariableKind::state});
}

Tensor initial_state(const LayerCall& call, const RecurrentInputs& given, std::size_t k,
                     std::string_view name, const TensorSpec& spec) {
  if (!given.states && !call.has(name)) return zeros(spec.shape, spec.dtype);
  const Tensor& state = given.states ? call.x(1 + k) : call.variable(name);
  return broadcast(as_type(state, spec.dtype), spec.shape);
}

}  // namespace stoker::nn::layers
