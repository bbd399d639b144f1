#include "layer_case.hpp"

#include "stoker/api/nn/graph/layer_kinds.hpp"
#include "stoker/api/tensor/math/random.hpp"

namespace stoker::compare {
namespace {

Json json_of(const Params& options) {
  Json made = Json::object();
  for (const Params::Entry& one : options.entries())
    std::visit([&](const auto& value) { made[one.name] = value; }, one.value);
  return made;
}

}  // namespace

void record_layer(Draw& draw, Record& record, const LayerCase& one) {
  const nn::LayerDefinition& definition = nn::layer_kind(one.kind);
  const ParamSet options = ParamSet::resolve(one.kind, definition.options, one.options).value();
  std::vector<TensorSpec> specs;
  Json names = Json::array();
  for (const Tensor& input : one.inputs) {
    names.push_back("x" + std::to_string(specs.size()));
    specs.push_back(input.spec());
  }
  std::vector<nn::VariableSpec> variables;
  if (definition.variables) variables = definition.variables(specs, options);
  Tensors all = one.inputs;
  for (const nn::VariableSpec& variable : variables) {
    const DType dtype = is_float(variable.dtype) ? one.variables : variable.dtype;
    const bool positive = variable.name == "var";
    all.push_back(draw.tensor({dtype, variable.shape}, positive ? Range::positive : one.range));
    names.push_back(variable.name);
  }
  const Tensor key = random::key(static_cast<std::uint64_t>(draw.integer(0, 1 << 30))).eval();
  const auto apply = [&](const Tensors& given) {
    const auto first = given.begin() + static_cast<std::ptrdiff_t>(specs.size());
    const Tensors inputs(given.begin(), first);
    nn::Variables own;
    for (std::size_t i = 0; i < variables.size(); ++i)
      own.emplace(variables[i].name, given[specs.size() + i]);
    nn::LayerCall call{inputs, options, own, one.training, key};
    Tensors made = definition.apply(call);
    for (const auto& [name, state] : call.new_states()) made.push_back(state);
    return made;
  };
  record.add("layer." + one.kind,
             {{"options", json_of(one.options)}, {"names", names}, {"training", one.training}}, all,
             apply, layer_way(draw));
}

Dtypes layer_dtypes(Draw& draw) {
  const DType x = draw.floating();
  return {x, draw.chance(0.15) ? DType::f32 : x};
}

Way layer_way(Draw& draw) { return draw.chance(0.15) ? Way::traced : Way::together; }

std::string activation_name(Draw& draw) {
  static const std::vector<std::string> names{"elu(alpha=0.5)",
                                              "gelu",
                                              "leaky_relu(alpha=0.2)",
                                              "mish",
                                              "relu",
                                              "sigmoid",
                                              "silu",
                                              "softmax",
                                              "softplus",
                                              "tanh"};
  return draw.chance(0.5) ? "linear" : draw.of(names);
}

Shape shape_of(const std::vector<std::int64_t>& extents) { return Shape::make(extents, "compare"); }

}  // namespace stoker::compare
