// One layer applied to given tensors and variables, without a network around it.
#pragma once

#include "stoker/api/nn/graph/layer_kinds.hpp"
#include "stoker/api/tensor/math/random.hpp"
#include "stoker/tests/tensor/fixture.hpp"

namespace stoker::nn {

/// A layer with the options of a test.
class OneLayer {
 public:
  OneLayer(std::string_view kind, const Params& options)
      : definition_{layer_kind(kind)},
        options_{ParamSet::resolve(kind, definition_.options, options).value()} {}

  [[nodiscard]] std::vector<VariableSpec> variables(const std::vector<Tensor>& inputs) const {
    std::vector<TensorSpec> specs;
    for (const Tensor& input : inputs) specs.push_back(input.spec());
    if (!definition_.variables) return {};
    return definition_.variables(specs, options_);
  }

  struct Result {
    std::vector<Tensor> outputs;
    Variables states;
  };
  [[nodiscard]] Result operator()(const std::vector<Tensor>& inputs,
                                  const Variables& variables = {}, bool training = false,
                                  const Tensor& key = random::key(1)) const {
    LayerCall call{inputs, options_, variables, training, key};
    std::vector<Tensor> outputs = definition_.apply(call);
    return {std::move(outputs), call.new_states()};
  }

 private:
  const LayerDefinition& definition_;
  ParamSet options_;
};

}  // namespace stoker::nn
