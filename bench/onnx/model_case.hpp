// A model and one set of its inputs, in the layout of ONNX's backend tests: model.onnx,
// test_data_set_N/input_K.pb for the inputs without an initializer, in order.
//
// Threads: any. Errors are thrown: Error.
#pragma once

#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "stoker/pipeline/onnx/graph/model_file.hpp"
#include "stoker/pipeline/onnx/graph/tensor_data.hpp"

namespace stoker::bench {

struct ModelCase {
  std::filesystem::path folder;
  int set = 0;

  [[nodiscard]] std::filesystem::path model() const { return folder / "model.onnx"; }
};

using NamedData = std::vector<std::pair<std::string, onnx::TensorData>>;

/// Inputs that are no tensors are refused.
[[nodiscard]] NamedData read_inputs(const ModelCase& from, const onnx::ModelFile& model);

}  // namespace stoker::bench
