// Numbers that the NumPy scripts of tests/nn/golden computed, and training that shall come to them.
//
// A "run" is an object with "losses", one for each step, before it, and "end", the variables after
// the last; lists are flat.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "stoker/api/train/model/model.hpp"

namespace stoker::nn {

/// tests/nn/golden/FILE.json.
[[nodiscard]] nlohmann::json golden_file(const std::string& file);

/// A list, also of lists, as a tensor of this shape.
[[nodiscard]] Tensor golden_tensor(const nlohmann::json& list, const Shape& shape,
                                   DType dtype = DType::f32);
/// "layer.variable" to flat lists, as variables of the network.
[[nodiscard]] Variables golden_variables(const nlohmann::json& lists, const Network& network,
                                         DType dtype = DType::f32);

/// No element differs by more than `tolerance` times the largest that is expected, or times 1.
void expect_golden(const Tensor& got, const nlohmann::json& list, double tolerance,
                   const std::string& where);

/// The model takes a step with each batch, and comes to the losses and variables of `run`.
void expect_golden_run(Model& model, const std::vector<Batch>& batches, const nlohmann::json& run,
                       double tolerance, const std::string& where);

}  // namespace stoker::nn
