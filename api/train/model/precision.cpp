#include "stoker/api/train/model/precision.hpp"

#include <algorithm>
#include <sstream>

#include "stoker/api/nn/graph/layer_kinds.hpp"
#include "stoker/api/nn/graph/named_table.hpp"
#include "stoker/api/tensor/math/elementwise.hpp"
#include "stoker/runtime/base/never_destroyed.hpp"

namespace stoker::nn {
namespace {

std::vector<std::string> words(const std::string& text) {
  std::istringstream stream{text};
  std::vector<std::string> found;
  for (std::string word; stream >> word;) found.push_back(word);
  return found;
}

const NamedTable<Precision>& table() {
  using Table = NamedTable<Precision>;
  static constinit NeverDestroyed<Table> made;
  return made.get([] {
    return Table{"precision",
                 {Table::entry<precisions::Full>("the dtypes that the layers themselves have",
                                                 [](const auto&) { return Precision{}; }),
                  Table::entry<precisions::Mixed>(
                      "layers cast their inputs and parameters", [](const precisions::Mixed& o) {
                        return Precision{{}, false, o.params, o.compute, o.output, words(o.except)};
                      })}};
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
  const std::vector<std::string> usual = words(precisions::Mixed{}.except);
  std::vector<std::string_view> known{usual.begin(), usual.end()};
  for (const LayerInfo& layer : network.layers()) known.push_back(layer.name);
  for (const LayerInfo& layer : network.layers()) known.push_back(layer.kind);
  for (const LayerDefinition* kind : layer_kinds()) known.push_back(kind->name);
  for (const std::string& one : precision.except) {
    if (std::ranges::find(known, one) != known.end()) continue;
    throw Error{"precision",
                ErrorCode::not_found,
                "there is no layer and no kind of layers '" + one + "' to except" +
                    did_you_mean(one, known),
                {{"except", one}}};
  }
}

}  // namespace

bool Precision::spares(const LayerInfo& layer) const {
  return std::ranges::find(except, layer.name) != except.end() ||
         std::ranges::find(except, layer.kind) != except.end();
}

std::vector<NamedKind> precision_kinds() { return table().kinds(); }

Precision precision(const PrecisionName& wanted) {
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
