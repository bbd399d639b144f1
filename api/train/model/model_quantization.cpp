// Models whose weights take less memory.
#include <algorithm>

#include "stoker/api/nn/layers/dense.hpp"
#include "stoker/api/nn/layers/quantized_dense.hpp"
#include "stoker/api/train/model/model_data.hpp"
#include "stoker/api/train/model/quantization.hpp"
#include "stoker/api/train/optim/loss_scale.hpp"
#include "stoker/runtime/base/nearest_name.hpp"

namespace stoker::nn {
namespace {

constexpr const char* op = "quantize";

[[noreturn]] void refuse_word(const std::string& to) {
  static constexpr std::array<std::string_view, 3> known{"f16", "bf16", "int8"};
  throw Error{op,
              ErrorCode::not_found,
              "expected f16, bf16 or int8, got '" + to + "'" + did_you_mean(to, known),
              {{"to", to}}};
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

QuantizedModel Model::quantize(DType to) const {
  return quantize(to == DType::s8 ? "int8" : std::string{to_string(to)});
}

QuantizedModel Model::quantize(const std::string& to) const {
  if (to != "f16" && to != "bf16" && to != "int8") refuse_word(to);
  const DeviceScope scope{device()};
  const auto [step, state] = data_->now();
  const Variables before = state.variables();
  ModelOptions options = data_->options;
  options.device = device();
  std::vector<std::string> quantized;
  std::map<std::string, std::string> left;
  Network network = data_->network;
  Variables after = before;
  if (to == "int8") {
    network = network.with_layers([&](const Layer& layer, const LayerInfo& info) {
      if (!can_be_8_bits(layer)) {
        if (info.parameters() > 0)
          left.emplace(info.name, "layers of kind " + info.kind + " have no form in 8 bits");
        return layer;
      }
      quantized.push_back(info.name);
      check_finite(info.name + ".kernel", before.at(info.name + ".kernel"));
      QuantizedKernel kernel = quantize_dense(before.at(info.name + ".kernel"));
      after.erase(info.name + ".kernel");
      after.emplace(info.name + ".values", std::move(kernel.values));
      after.emplace(info.name + ".scale", std::move(kernel.scale));
      return in_8_bits(layer, info.name);
    });
  } else {
    // Stored so, computed with in f32: the sums are as good as before, whatever the layer.
    options.precision = precisions::Mixed{
        .compute = DType::f32, .params = to == "f16" ? DType::f16 : DType::bf16, .except = ""};
    options.loss_scale = "identity";
    after = stored(network, precision(options.precision), before);
    check_range(before, after);
    for (const LayerInfo& layer : network.layers())
      if (layer.parameters() > 0) quantized.push_back(layer.name);
  }
  if (quantized.empty())
    throw Error{op,
                ErrorCode::unsupported,
                to == "int8" ? "expected a network with dense layers: others have no form in 8 bits"
                             : "the network has no parameters",
                {{"to", to}}};
  std::vector<Tensor> made;
  for (const auto& [name, tensor] : after) made.push_back(tensor);
  eval(made);
  Model model{std::move(network), std::move(options)};
  model.data_->replace(after);
  {
    const auto locked = model.data_->lock();
    model.data_->set_frozen(step.frozen());
  }
  return {std::move(model), std::move(quantized), std::move(left)};
}

}  // namespace stoker::nn
