// A network whose variables take less memory, for predictions.
//
// Threads: any. Waits for what is looked at. Errors are thrown: not_found for another word, unsupported where
// no layer can be made so, invalid_argument for numbers that f16 or 8 bits have not.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "stoker/api/nn/graph/network.hpp"
#include "stoker/api/train/model/precision.hpp"

namespace stoker::nn {

struct QuantizedNetwork {
  Network network;
  Variables variables;
  std::optional<PrecisionName> precision;   ///< in which it is computed; none: as before
  std::vector<std::string> quantized;       ///< layers
  std::map<std::string, std::string> left;  ///< layers with parameters that stay as they were: why
};

/// "f16", "bf16": parameters are stored so and computed with in f32. "int8": dense layers become
/// quantized_dense. On current_device().
[[nodiscard]] QuantizedNetwork quantized(const Network& network, const Variables& variables,
                                         const std::string& to);

}  // namespace stoker::nn
