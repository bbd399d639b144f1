// Networks of Stoker's as ONNX models.
//
//     onnx::save(model, "digits.onnx");                               // the batch is open
//     onnx::save(model, "digits.onnx", {.opset = 13, .batch = 1});
//
// The network computes as it does in inference. Inputs and outputs have the network's names, weights those of its
// variables. An input that may be missing is one that the file always wants.
//
// Threads and errors: those of onnx/exporting/save.hpp, and what the network throws.
#pragma once

#include "stoker/api/onnx/exporting/save.hpp"
#include "stoker/api/train/model/model.hpp"

namespace stoker::onnx {

/// `options.outputs` and `options.weights` are the network's. Variables have been computed.
void save(const nn::Network& network, const nn::Variables& variables,
          const std::filesystem::path& path, SaveOptions options = {});
/// With the model's variables and its precision.
void save(const nn::Model& model, const std::filesystem::path& path, SaveOptions options = {});
/// The file of a model, as nn::Model::save() wrote it: without what only training needs.
void save_model_file(const std::filesystem::path& model, const std::filesystem::path& path,
                     SaveOptions options = {});

}  // namespace stoker::onnx
