// Networks of Stoker's as ONNX models.
//
//     onnx::save(model, "digits.onnx");                               // the batch is open
//     onnx::save(model, "digits.onnx", {.opset = 13, .batch = 1});
//
// The network computes as in inference. Inputs and outputs have the network's names; weights have the names of
// its variables. An optional input becomes a required input of the file.
//
// Threads and errors: those of api/onnx/exporting/save.hpp, and the errors of the network.
#pragma once

#include "stoker/api/onnx/exporting/save.hpp"
#include "stoker/api/train/model/model.hpp"

namespace stoker::onnx {

/// `options.outputs` and `options.weights` are replaced by the network's. `variables` must have
/// been computed.
void save(const nn::Network& network, const nn::Variables& variables,
          const std::filesystem::path& path, SaveOptions options = {});
/// The network with the model's variables and precision.
void save(const nn::Model& model, const std::filesystem::path& path, SaveOptions options = {});
/// The model in a file of nn::Model::save(), without the parts that only training needs.
void save_model_file(const std::filesystem::path& model, const std::filesystem::path& path,
                     SaveOptions options = {});

}  // namespace stoker::onnx
