// Networks that nn::Model::save() wrote, as models that predict: without what only training needs.
#include <algorithm>

#include "stoker/api/model/core/backends.hpp"
#include "stoker/api/onnx/run/inputs.hpp"
#include "stoker/api/tensor/core/creation.hpp"
#include "stoker/api/train/model/inference.hpp"
#include "stoker/api/train/model/model_file.hpp"
#include "stoker/api/train/model/precision.hpp"

namespace stoker::models {
namespace {

constexpr const char* op = "predict";

onnx::ValueInfo info_of(const std::string& name, const nn::RowSpec& row) {
  std::vector<onnx::Dimension> dims;
  if (row.batched) dims.push_back({.extent = {}, .symbol = "batch"});
  for (const std::int64_t extent : row.shape.extents())
    dims.push_back({.extent = extent, .symbol = {}});
  return {.name = name,
          .type = {.kind = onnx::ValueKind::tensor,
                   .element = onnx::element_type_of(row.dtype),
                   .dims = std::move(dims),
                   .inner = {}},
          .doc = {}};
}

class NetworkBackend final : public Backend {
 public:
  NetworkBackend(const nn::ModelFile& file, Device device)
      : device_{std::move(device)},
        inference_{nn::with_precision(file.network(), nn::precision(file.options().precision))} {
    const DeviceScope scope{device_};
    for (const auto& [name, spec] : file.variables())
      variables_.emplace(name, tensor(file.bytes_of(name), spec));
    const nn::Network& network = inference_.network();
    for (const nn::Network::Input& input : network.inputs())
      inputs_.push_back(info_of(input.name, input.row));
    for (std::size_t i = 0; i < network.outputs().size(); ++i)
      outputs_.push_back(info_of(network.output_names()[i], network.outputs()[i]));
  }

  const std::vector<onnx::ValueInfo>& inputs() const noexcept override { return inputs_; }
  const std::vector<onnx::ValueInfo>& outputs() const noexcept override { return outputs_; }
  bool may_lack(const onnx::ValueInfo& input) const override {
    return std::ranges::any_of(inference_.network().inputs(), [&](const nn::Network::Input& one) {
      return one.optional && one.name == input.name;
    });
  }
  const Device& device() const noexcept override { return device_; }

  AnyModelInfo info() const override {
    AnyModelInfo info{.kind = ModelKind::network, .producer = "Stoker"};
    const auto layers = inference_.network().layers();
    for (const nn::LayerInfo& layer : layers) info.parameters += layer.parameters();
    info.description = counted(layers.size(), "layer");
    return info;
  }

  Future<NamedValues> predict(const NamedValues& given,
                              const PredictOptions& options) const override {
    const onnx::Values values = onnx::checked_inputs(
        op, inputs_, [this](const onnx::ValueInfo& input) { return may_lack(input); }, given);
    check_outputs(outputs_, options.outputs);
    const DeviceScope scope{device_};
    std::vector<Tensor> tensors;
    for (const onnx::Value& value : values)
      tensors.push_back(value.is_given() ? value.tensor().to(device_) : Tensor{});
    const std::vector<Tensor> results = inference_.run(variables_, tensors, options.limits);
    NamedValues outputs;
    for (std::size_t i = 0; i < results.size(); ++i)
      if (results[i].has_value()) outputs.emplace(outputs_[i].name, results[i]);
    keep_wanted(outputs, options.outputs);
    return make_ready_future<NamedValues>(std::move(outputs));
  }

 private:
  const Device device_;
  const nn::Inference inference_;
  nn::Variables variables_;
  std::vector<onnx::ValueInfo> inputs_;
  std::vector<onnx::ValueInfo> outputs_;
};

}  // namespace

BackendPtr load_network(const std::filesystem::path& path, const LoadModelOptions& options) {
  const DeviceScope scope{options.device};
  return std::make_shared<const NetworkBackend>(nn::ModelFile{path}, options.device);
}

}  // namespace stoker::models
