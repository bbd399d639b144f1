// Inserts values around and between the elements of a tensor.
//
// Threads: one. Errors: those of ExportCall.
#pragma once

#include "stoker/api/onnx/exporting/export_call.hpp"

namespace stoker::onnx {

/// The padding of a tensor, one entry for each axis. Negative edges crop.
struct Edges {
  std::vector<std::int64_t> low;
  std::vector<std::int64_t> high;
  std::vector<std::int64_t> interior;  ///< number of values between neighbours, each ≥ 0
};

/// `x`, of that shape, with the scalar `value` inserted around and between its elements.
[[nodiscard]] std::string padded(const ExportCall& call, std::string x, ExtentList shape,
                                 Edges edges, const std::string& value);

}  // namespace stoker::onnx
