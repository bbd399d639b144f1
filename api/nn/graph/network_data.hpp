// What a network consists of, for the sources of Network.
#pragma once

#include "stoker/api/nn/graph/network.hpp"

namespace stoker::nn::detail {

struct NetworkData {
  /// Where a tensor comes from: an input, or an output of a step.
  struct Source {
    bool input = false;
    std::uint32_t index = 0;
    std::uint32_t output = 0;
  };
  /// One application of a layer.
  struct Step {
    std::uint32_t layer = 0;
    std::vector<Source> inputs;
    Node node;
  };

  std::vector<Network::Input> inputs;
  std::vector<Node> input_nodes;
  std::vector<Layer> layers;
  std::vector<LayerInfo> infos;  ///< of the layers
  std::vector<Step> steps;       ///< in an order in which they can run
  std::vector<Source> outputs;
  std::vector<RowSpec> output_rows;
  std::vector<std::string> output_names;
  bool names_given = false;  ///< by Network::NamedOutput

  [[nodiscard]] std::string name_of(const Source& source) const;
  [[nodiscard]] static std::vector<Tensor> gather(const Step& step, std::span<const Tensor> inputs,
                                                  const std::vector<std::vector<Tensor>>& made);
  [[nodiscard]] static std::vector<Tensor> apply(const Layer& layer, LayerCall& call);
};

/// The error of a layer, with the layer in it.
[[noreturn]] void rethrow_for(const std::string& name, const std::string& kind, const Error& error);

}  // namespace stoker::nn::detail
