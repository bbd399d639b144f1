#include "stoker/api/train/model/quantized_network.hpp"

#include "stoker/api/nn/layers/dense.hpp"
#include "stoker/api/nn/layers/quantized_dense.hpp"
#include "stoker/api/train/model/quantization.hpp"
#include "stoker/api/train/optim/loss_scale.hpp"

namespace stoker::nn {
namespace {

constexpr const char* op = "quantize";

[[noreturn]] void refuse_dtype(DType to) {
  const std::string got{to_string(to)};
  throw Error{op,
              ErrorCode::invalid_parameter,
              "expected f16, bf16 or s8, got " + got,
              {{"expected", "f16, bf16, s8"}, {"got", got}}};
}

/// Only f16 has fewer exponents than what is cast.
void check_range(const Variables& before, const Variables& after) {
  for (const auto& [name, tensor] : after) {
    if (tensor.dtype() != DType::f16) continue;
    const bool was_finite = all_finite({{name, before.at(name)}}).item<int>() != 0;
    if (was_finite && all_finite({{name, tensor}}).item<int>() == 0)
      throw Error{op,
                  ErrorCode::invalid_argument,
                  "'" + name + "' has numbers beyond the range of f16, 65504: take bf16",
                  {{"variable", name}}};
  }
}

/// NaN and infinities have no multiple of a scale.
void check_finite(const std::string& name, const Tensor& kernel) {
  if (all_finite({{name, kernel}}).item<int>() != 0) return;
  throw Error{op,
              ErrorCode::invalid_argument,
              "'" + name + "' holds numbers that are not finite: 8 bits have none for them",
              {{"variable", name}}};
}

/// The same dense layer around a kernel of 8 bits.
Layer in_8_bits(const Layer& dense, const std::string& name) {
  const auto of = options::from<layers::Dense>(dense.options());
  return Layer{layers::QuantizedDense{.units = of.units,
                                      .use_bias = of.use_bias,
                                      .bias_initializer = of.bias_initializer,
                                      .activation = of.activation,
                                      .name = name}};
}

bool can_be_8_bits(const Layer& layer) { return layer.in_table() && layer.kind() == "dense"; }

}  // namespace

QuantizedNetwork quantized(const Network& network, const Variables& variables, DType to) {
  if (to != DType::f16 && to != DType::bf16 && to != DType::s8) refuse_dtype(to);
  QuantizedNetwork made{network, variables, {}, {}, {}};
  if (to == DType::s8) {
    made.network = network.with_layers([&](const Layer& layer, const LayerInfo& info) {
      if (!can_be_8_bits(layer)) {
        if (info.parameters() > 0)
          made.left.emplace(info.name, "layers of kind " + info.kind + " have no form in 8 bits");
        return layer;
      }
      made.quantized.push_back(info.name);
      const Tensor& kernel = variables.at(info.name + ".kernel");
      check_finite(info.name + ".kernel", kernel);
      QuantizedKernel parts = quantize_dense(kernel);
      made.variables.erase(info.name + ".kernel");
      made.variables.emplace(info.name + ".values", std::move(parts.values));
      made.variables.emplace(info.name + ".scale", std::move(parts.scale));
      return in_8_bits(layer, info.name);
    });
  } else {
    // Stored so, computed with in f32: the sums are as good as before, whatever the layer.
    made.precision = precisions::Mixed{.compute = DType::f32, .params = to, .except = ""};
    made.variables = stored(network, precision(*made.precision), variables);
    check_range(variables, made.variables);
    for (const LayerInfo& layer : network.layers())
      if (layer.parameters() > 0) made.quantized.push_back(layer.name);
  }
  if (made.quantized.empty())
    throw Error{op,
                ErrorCode::unsupported,
                to == DType::s8
                    ? "expected a network with dense layers: others have no form in 8 bits"
                    : "the network has no parameters",
                {{"to", std::string{to_string(to)}}}};
  std::vector<Tensor> all;
  for (const auto& [name, tensor] : made.variables) all.push_back(tensor);
  eval(all);
  return made;
}

}  // namespace stoker::nn
