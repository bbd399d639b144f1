#include "stoker/api/nn/functional/recurrent_inputs.hpp"

#include "stoker/api/nn/graph/layer_options.hpp"

namespace stoker::nn::layers {
namespace {

Shape with_batch(std::int64_t batch, std::span<const std::int64_t> row) {
  std::vector<std::int64_t> extents{batch};
  extents.insert(extents.end(), row.begin(), row.end());
  return Shape::make(extents, "recurrent").value();
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

std::vector<ParamSpec> recurrent_options() {
  std::vector<ParamSpec> options{units_option()};
  options.push_back(activation_option("tanh"));
  append(options, {{.name = "gate",
                    .type = ParamType::text,
                    .fallback = ParamValue{std::string{"sigmoid"}},
                    .doc = "what gates go through, see activation.hpp"},
                   {.name = "unroll",
                    .type = ParamType::text,
                    .fallback = ParamValue{std::string{"dynamic"}},
                    .doc = "a loop, or every step written out",
                    .choices = {"dynamic", "static"}},
                   {.name = "reverse",
                    .type = ParamType::boolean,
                    .fallback = false,
                    .doc = "from the last step to the first; results stay in the order of time"},
                   {.name = "mask",
                    .type = ParamType::boolean,
                    .fallback = false,
                    .doc = "the last input is a mask: where it is not 0 the state stays"}});
  append(options, kernel_options());
  options.push_back({.name = "recurrent_initializer",
                     .type = ParamType::text,
                     .fallback = ParamValue{std::string{"glorot_uniform"}},
                     .doc = "of initial states that are not given; zeros: no variables"});
  return options;
}

RecurrentInputs recurrent_inputs(const char* op, std::size_t inputs, std::size_t states,
                                 const ParamSet& options) {
  const bool mask = options.flag("mask");
  const std::size_t rest = inputs - (mask ? 1 : 0);
  if (rest == 1 || rest == 1 + states) return {rest > 1, mask};
  throw Error{op,
              ErrorCode::arity_mismatch,
              "expected a sequence, or one and " + std::to_string(states) + " states" +
                  (mask ? ", and a mask" : "") + "; got " + std::to_string(inputs) + " inputs",
              {{"got", std::to_string(inputs)}, {"states", std::to_string(states)}}};
}

void check_recurrent_inputs(const char* op, std::span<const TensorSpec> inputs, std::size_t states,
                            std::span<const std::int64_t> row, const ParamSet& options) {
  const RecurrentInputs given = recurrent_inputs(op, inputs.size(), states, options);
  const Shape& x = inputs[0].shape;
  for (std::size_t k = 1; given.states && k <= states; ++k)
    check_broadcasts(op, "state", inputs[k].shape, with_batch(x[0], row));
  if (given.mask) check_broadcasts(op, "mask", inputs.back().shape, Shape{x[0], x[1]});
}

void declare_states(std::vector<VariableSpec>& variables, std::initializer_list<const char*> names,
                    std::span<const std::int64_t> row, const ParamSet& options) {
  const std::string& initializer = options.text("recurrent_initializer");
  if (initializer == "zeros") return;
  for (const char* name : names)
    variables.push_back({name, with_batch(1, row), initializer, VariableKind::state});
}

Tensor initial_state(const LayerCall& call, const RecurrentInputs& given, std::size_t k,
                     std::string_view name, const TensorSpec& spec) {
  if (!given.states && !call.has(name)) return zeros(spec.shape, spec.dtype);
  const Tensor& state = given.states ? call.x(1 + k) : call.variable(name);
  return broadcast(as_type(state, spec.dtype), spec.shape);
}

GateFunctions gate_functions(const ParamSet& options) {
  return {activation(options.text("gate")), activation(options.text("activation"))};
}

}  // namespace stoker::nn::layers
