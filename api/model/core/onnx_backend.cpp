// ONNX files as models that predict.
#include <string_view>
#include <unordered_set>

#include "stoker/api/model/core/backends.hpp"
#include "stoker/api/onnx/run/refused_nodes.hpp"
#include "stoker/pipeline/onnx/reading/model_reader.hpp"

namespace stoker::models {
namespace {

std::uint64_t parameters_of(const onnx::Graph& graph) {
  std::uint64_t count = 0;
  for (const onnx::Initializer& one : graph.initializers) count += one.tensor.elements();
  return count;
}

class OnnxBackend final : public Backend {
 public:
  OnnxBackend(std::shared_ptr<const onnx::ModelFile> file, const onnx::LoadOptions& options)
      : file_{std::move(file)},
        model_{onnx::load(file_, options)},
        inputs_{models::inputs_of(file_->graph)},
        with_default_{models::inputs_of(file_->graph, true)} {}

  const std::vector<onnx::ValueInfo>& inputs() const noexcept override { return inputs_; }
  std::span<const onnx::ValueInfo> inputs_with_default() const noexcept override {
    return with_default_;
  }
  const std::vector<onnx::ValueInfo>& outputs() const noexcept override { return model_.outputs(); }
  bool may_lack(const onnx::ValueInfo&) const override { return false; }
  const Device& device() const noexcept override { return model_.device(); }

  AnyModelInfo info() const override {
    const std::string version = file_->producer_version;
    return {.kind = ModelKind::onnx,
            .producer = file_->producer_name + (version.empty() ? "" : " " + version),
            .description = "opset " + std::to_string(file_->opset("")) + ", " +
                           counted(file_->graph.nodes.size(), "node"),
            .doc = file_->doc,
            .parameters = parameters_of(file_->graph),
            .properties = file_->metadata};
  }

  Future<NamedValues> predict(const NamedValues& inputs,
                              const PredictOptions& options) const override {
    return model_.run(inputs, options);
  }
  std::uint64_t cuts() const override { return model_.stats().cuts; }
  std::uint64_t plans_made() const override { return model_.stats().traced; }
  void warm_up(const NamedValues& inputs, const PredictOptions& options) const override {
    model_.warm_up(inputs, options);
  }

 private:
  const std::shared_ptr<const onnx::ModelFile> file_;
  const onnx::Model model_;
  const std::vector<onnx::ValueInfo> inputs_;
  const std::vector<onnx::ValueInfo> with_default_;
};

}  // namespace

std::vector<onnx::ValueInfo> inputs_of(const onnx::Graph& graph, bool with_default) {
  std::unordered_set<std::string_view> defaults;
  for (const onnx::Initializer& one : graph.initializers) defaults.insert(one.name);
  std::vector<onnx::ValueInfo> inputs;
  for (const onnx::ValueInfo& input : graph.inputs)
    if (defaults.contains(input.name) == with_default) inputs.push_back(input);
  return inputs;
}

BackendPtr load_onnx(const std::filesystem::path& path, const LoadModelOptions& options) {
  const onnx::OperatorTable& operators =
      options.operators ? *options.operators : onnx::OperatorTable::standard();
  return std::make_shared<const OnnxBackend>(
      std::make_shared<const onnx::ModelFile>(
          onnx::read_model(path, onnx::listing_refused_nodes(operators)).value()),
      onnx::LoadOptions{.device = options.device,
                        .max_plans = options.max_plans,
                        .max_plan_bytes = options.max_plan_bytes,
                        .on_new_shape = options.on_new_shape,
                        .operators = options.operators,
                        .optimize = options.optimize,
                        .without = options.without,
                        .precision = options.precision});
}

}  // namespace stoker::models
