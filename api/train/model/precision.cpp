#include "stoker/api/train/model/precision.hpp"

#include <algorithm>
#include <sstream>

#include "stoker/api/nn/graph/named_table.hpp"
#include "stoker/api/tensor/math/elementwise.hpp"
#include "stoker/runtime/base/never_destroyed.hpp"

namespace stoker::nn {
namespace {

constexpr const char* normalising = "batch_norm layer_norm group_norm instance_norm rms_norm";

DType float_named(const std::string& name) {
  for (const DType dtype : {DType::f16, DType::bf16, DType::f32, DType::f64})
    if (to_string(dtype) == name) return dtype;
  throw Error{"precision", ErrorCode::internal, "no such floating-point dtype: " + name};
}

std::vector<std::string> words(const std::string& text) {
  std::istringstream stream{text};
  std::vector<std::string> found;
  for (std::string word; stream >> word;) found.push_back(word);
  return found;
}

ParamSpec dtype_option(const char* name, const char* fallback, const char* doc) {
  return {.name = name,
          .type = ParamType::text,
          .fallback = ParamValue{std::string{fallback}},
          .doc = doc,
          .choices = {"f16", "bf16", "f32", "f64"}};
}

const NamedTable<Precision>& table() {
  static constinit NeverDestroyed<NamedTable<Precision>> made;
  return made.get([] {
    return NamedTable<Precision>{
        "precision",
        {{"full", {}, [](const ParamSet&) { return Precision{}; }},
         {"mixed",
          {dtype_option("compute", "f16", "what layers compute in"),
           dtype_option("params", "f32", "what parameters are stored as"),
           dtype_option("output", "f32", "what the network gives"),
           {.name = "except",
            .type = ParamType::text,
            .fallback = ParamValue{std::string{normalising}},
            .doc = "names or kinds of layers that stay in f32, apart by spaces"}},
          [](const ParamSet& options) {
            return Precision{{},
                             false,
                             float_named(options.text("params")),
                             float_named(options.text("compute")),
                             float_named(options.text("output")),
                             words(options.text("except"))};
          }}}};
  });
}

Tensor as_float(const Tensor& x, DType dtype) {
  return is_float(x.dtype()) ? as_type(x, dtype) : x;
}

/// A layer that computes in another dtype than it is given.
class Casting {
 public:
  Casting(const Layer& layer, const LayerInfo& info, DType dtype)
      : inner_{layer.definition().apply}, variables_{info.variables}, dtype_{dtype} {}

  std::vector<Tensor> operator()(LayerCall& call) const {
    std::vector<Tensor> inputs;
    for (const Tensor& input : call.inputs())
      inputs.push_back(input.has_value() ? as_float(input, dtype_) : input);
    Variables variables;
    for (const VariableSpec& one : variables_) {
      const Tensor& given = call.variable(one.name);
      variables.emplace(one.name,
                        one.kind == VariableKind::parameter ? as_float(given, dtype_) : given);
    }
    LayerCall inner{inputs, call.options(), variables, call.training(), call.key()};
    std::vector<Tensor> made = inner_(inner);
    // States keep their dtype from step to step.
    for (const auto& [name, state] : inner.new_states())
      call.set_state(name, as_type(state, call.variable(name).dtype()));
    for (Tensor& one : made) one = as_float(one, dtype_);
    return made;
  }

 private:
  std::function<std::vector<Tensor>(LayerCall&)> inner_;
  std::vector<VariableSpec> variables_;
  DType dtype_;
};

void check_exceptions(const Network& network, const Precision& precision) {
  const std::vector<std::string> usual = words(normalising);
  std::vector<std::string_view> known{usual.begin(), usual.end()};
  for (const LayerInfo& layer : network.layers()) known.push_back(layer.name);
  for (const LayerInfo& layer : network.layers()) known.push_back(layer.kind);
  for (const LayerDefinition* kind : layer_table().list()) known.push_back(kind->name);
  for (const std::string& one : precision.except) {
    if (std::ranges::find(known, one) != known.end()) continue;
    const auto near = nearest_name(one, known);
    throw Error{"precision",
                ErrorCode::not_found,
                "there is no layer and no kind of layers '" + one + "' to except" +
                    (near ? "; did you mean '" + std::string{*near} + "'?" : ""),
                {{"except", one}}};
  }
}

}  // namespace

bool Precision::spares(const LayerInfo& layer) const {
  return std::ranges::find(except, layer.name) != except.end() ||
         std::ranges::find(except, layer.kind) != except.end();
}

Precision precision(const Named& wanted) {
  Precision made = table().make(wanted);
  made.text = wanted.text();
  return made;
}

Network with_precision(const Network& network, const Precision& precision) {
  if (precision.full) return network;
  check_exceptions(network, precision);
  const auto cast = [&](const Layer& layer, const LayerInfo& info) {
    LayerDefinition definition = layer.definition();
    definition.apply =
        Casting{layer, info, precision.spares(info) ? DType::f32 : precision.compute};
    return layer.redefined(std::move(definition)).renamed(info.name);
  };
  const auto finish = [&](const Node& output) {
    return function({output}, [dtype = precision.output](std::span<const Tensor> x) {
      return as_float(x[0], dtype);
    });
  };
  return network.with_layers(cast, finish);
}

Variables stored(const Network& network, const Precision& precision, Variables variables) {
  for (const LayerInfo& layer : network.layers()) {
    const bool as_declared = precision.full || precision.spares(layer);
    for (const VariableSpec& one : layer.variables) {
      if (one.kind != VariableKind::parameter || !is_float(one.dtype)) continue;
      const auto found = variables.find(layer.name + "." + one.name);
      if (found != variables.end())
        found->second = as_float(found->second, as_declared ? one.dtype : precision.params);
    }
  }
  return variables;
}

}  // namespace stoker::nn
