#include "stoker/api/model/core/model.hpp"

#include "stoker/api/model/core/backends.hpp"
#include "stoker/api/system.hpp"
#include "stoker/api/tensor/core/transfer.hpp"

namespace stoker {

void models::Backend::warm_up(const NamedValues& inputs, const PredictOptions& options) const {
  const NamedValues outputs = predict(inputs, options).get();
  std::vector<Tensor> tensors;
  for (const auto& [name, value] : outputs)
    value.visit_cells([&](const auto& cell) { tensors.push_back(cell->tensor); });
  if (!tensors.empty()) computed(tensors).get();
}

AnyModel load_model(const std::filesystem::path& path, const LoadModelOptions& options) {
  LoadModelOptions given = options;
  if (!given.device) given.device = current_device();
  const ModelKind kind = kind_of_model(path);
  if (options.precision != onnx::Precision::full && kind != ModelKind::onnx)
    throw Error{
        "load_model",
        ErrorCode::unsupported,
        "another precision is for ONNX models, and this is a " + std::string{to_string(kind)},
        {{"precision", std::string{to_string(options.precision)}}}};
  if (options.on_new_shape != onnx::NewShape::trace && kind != ModelKind::onnx)
    throw Error{"load_model", ErrorCode::unsupported,
                "new shapes are refused by ONNX models only, and this is a " +
                    std::string{to_string(kind)}};
  switch (kind) {
    case ModelKind::onnx: return AnyModel{models::load_onnx(path, given)};
    case ModelKind::network: return AnyModel{models::load_network(path, given)};
    case ModelKind::script: break;
  }
  return AnyModel{models::load_script(path, given)};
}

Future<AnyModel> load_model(const System& system, std::filesystem::path path,
                            const LoadModelOptions& options) {
  // The caller's table may be gone by then.
  const auto operators =
      options.operators ? std::make_shared<const onnx::OperatorTable>(*options.operators) : nullptr;
  LoadModelOptions there = options;
  if (!there.device) there.device = current_device();
  return system.run_blocking(
      [path = std::move(path), there = std::move(there), operators]() -> AnyModel {
        LoadModelOptions given = there;
        given.operators = operators.get();
        return load_model(path, given);
      });
}

}  // namespace stoker
