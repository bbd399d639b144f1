#include "stoker/bench/onnx/model_case.hpp"

#include <fstream>
#include <iterator>
#include <memory>

#include "stoker/pipeline/onnx/reading/value_reader.hpp"

namespace stoker::bench {

NamedData read_inputs(const ModelCase& from, const onnx::ModelFile& model) {
  const auto sets = from.folder / ("test_data_set_" + std::to_string(from.set));
  NamedData inputs;
  for (const onnx::ValueInfo& input : model.graph.inputs) {
    if (model.graph.initializer(input.name) != nullptr) continue;
    const auto path = sets / ("input_" + std::to_string(inputs.size()) + ".pb");
    std::ifstream file{path, std::ios::binary};
    if (!file) throw Error{"bench.onnx", ErrorCode::not_found, "there is no " + path.string()};
    const std::string text{std::istreambuf_iterator<char>{file}, {}};
    const auto all = std::as_bytes(std::span{text});
    const auto bytes = std::make_shared<const std::vector<std::byte>>(all.begin(), all.end());
    auto value = onnx::read_value(*bytes, onnx::ValueKind::tensor, {}, bytes).value();
    inputs.emplace_back(input.name, std::get<onnx::TensorData>(std::move(value.content)));
  }
  return inputs;
}

}  // namespace stoker::bench
