#include "stoker/api/model/core/network_export.hpp"

#include "stoker/api/tensor/core/creation.hpp"
#include "stoker/api/tensor/core/transfer.hpp"
#include "stoker/api/train/model/model_file.hpp"
#include "stoker/api/train/model/precision.hpp"

namespace stoker::onnx {

void save(const nn::Network& network, const nn::Variables& variables,
          const std::filesystem::path& path, SaveOptions options) {
  std::vector<SaveInput> inputs;
  for (const nn::Network::Input& input : network.inputs()) {
    SaveInput made{input.name, input.row.dtype, {}};
    if (input.row.batched) made.dims.emplace_back("batch");
    for (const std::int64_t extent : input.row.shape.extents()) made.dims.emplace_back(extent);
    inputs.push_back(std::move(made));
  }
  // What is known becomes a weight, what is not would become nodes.
  for (const auto& [name, variable] : variables) variable.eval();
  options.outputs.assign(network.output_names().begin(), network.output_names().end());
  options.weights = variables;
  const auto forward = [&](const std::vector<Tensor>& given) {
    return network.forward(variables, given, nn::Mode::inference).outputs;
  };
  save(forward, inputs, path, options);
}

void save(const nn::Model& model, const std::filesystem::path& path, SaveOptions options) {
  if (!options.device) options.device = model.device();
  const nn::Network network =
      nn::with_precision(model.network(), nn::precision(model.options().precision));
  save(network, model.variables(), path, std::move(options));
}

void save_model_file(const std::filesystem::path& model, const std::filesystem::path& path,
                     SaveOptions options) {
  if (!options.device) options.device = current_device();
  const DeviceScope scope{options.device};
  const nn::ModelFile file{model};
  nn::Variables variables;
  for (const auto& [name, spec] : file.variables())
    variables.emplace(name, tensor(file.bytes_of(name), spec));
  save(nn::with_precision(file.network(), nn::precision(file.options().precision)), variables, path,
       std::move(options));
}

}  // namespace stoker::onnx
