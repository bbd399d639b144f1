#include "stoker/bench/onnx/our_model.hpp"

#include "stoker/api/onnx/core/value_files.hpp"
#include "stoker/pipeline/onnx/reading/model_reader.hpp"

namespace stoker::bench {

onnx::Value placed(const Device& device, const onnx::TensorData& data) {
  const DeviceScope scope{device};
  onnx::Value value = onnx::value_of({.name = {}, .content = data});
  if (data.dims.empty()) return value;
  return {value.tensor().eval(), value.type()};
}

void wait_for(const onnx::NamedValues& outputs) {
  for (const auto& [name, value] : outputs)
    if (value.is_lazy()) value.tensor().computed().get();
}

OurModel::OurModel(const Device& device, const ModelCase& from, const onnx::LoadOptions& options)
    : OurModel{device, from, options,
               std::make_shared<const onnx::ModelFile>(onnx::read_model(from.model()).value())} {}

OurModel::OurModel(const Device& device, const ModelCase& from, const onnx::LoadOptions& options,
                   std::shared_ptr<const onnx::ModelFile> file)
    : model_{[&] {
        onnx::LoadOptions on_device = options;
        on_device.device = device;
        return onnx::load(file, on_device);
      }()} {
  for (const auto& [name, data] : read_inputs(from, *file))
    inputs_.emplace(name, placed(device, data));
}

}  // namespace stoker::bench
