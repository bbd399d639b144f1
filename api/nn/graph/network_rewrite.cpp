// The same graph with other layers.
#include "stoker/api/nn/graph/network_data.hpp"

namespace stoker::nn {
namespace {

using detail::NetworkData;

/// The layer under the name that the network gave it.
Layer named(const Layer& layer, const std::string& name) {
  return layer.name() == name ? layer : layer.renamed(name);
}

}  // namespace

Network Network::with_layers(const ChooseLayer& choose, const ChangeOutput& change) const {
  std::vector<Layer> layers;
  for (std::size_t i = 0; i < data_->layers.size(); ++i) {
    const LayerInfo& info = data_->infos[i];
    layers.push_back(named(choose(named(data_->layers[i], info.name), info), info.name));
  }
  std::vector<std::vector<Node>> made;
  const auto node_at = [&](const NetworkData::Source& source) {
    if (source.input) return data_->input_nodes[source.index];
    const std::vector<Node>& outputs = made[source.index];
    if (source.output < outputs.size()) return outputs[source.output];
    throw Error{"network",
                ErrorCode::arity_mismatch,
                "layer '" + data_->name_of({false, source.index, 0}) +
                    "' was replaced by one with fewer outputs",
                {{"layer", data_->name_of({false, source.index, 0})}}};
  };
  for (const NetworkData::Step& step : data_->steps) {
    std::vector<Node> given;
    for (const NetworkData::Source& source : step.inputs) given.push_back(node_at(source));
    made.push_back(layers[step.layer].outputs(std::move(given)));
  }
  std::vector<Node> outputs;
  for (const NetworkData::Source& source : data_->outputs)
    outputs.push_back(change ? change(node_at(source)) : node_at(source));
  if (!data_->names_given) return Network{std::move(outputs)};
  std::vector<NamedOutput> named_outputs;
  for (std::size_t i = 0; i < outputs.size(); ++i)
    named_outputs.push_back({data_->output_names[i], std::move(outputs[i])});
  return Network{std::move(named_outputs)};
}

}  // namespace stoker::nn
