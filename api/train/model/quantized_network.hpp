// A network whose variables take less memory, for predictions.
//
// Threads: any. Blocks on the variables that are checked. Errors are thrown: invalid_parameter for another dtype,
// unsupported if no layer can be converted, invalid_argument for numbers that f16 or 8 bits cannot represent.
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
  std::optional<PrecisionName> precision;  ///< the precision in which it computes; none: unchanged
  std::vector<std::string> quantized;      ///< layers
  /// Unconverted layers with parameters, with the reasons.
  std::map<std::string, std::string> left;
};

/// f16, bf16: parameters are stored in that dtype and computed with in f32. s8: dense layers become
/// quantized_dense. On current_device().
[[nodiscard]] QuantizedNetwork quantized(const Network& network, const Variables& variables,
                                         DType to);

}  // namespace stoker::nn
