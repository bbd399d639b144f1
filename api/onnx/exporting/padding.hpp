// Values put around the elements of a tensor, and between them.
//
// Threads: one. Errors: those of ExportCall.
#pragma once

#include "stoker/api/onnx/exporting/export_call.hpp"

namespace stoker::onnx {

/// What is put around a tensor: one entry for each axis. Negative edges crop.
struct Edges {
  std::vector<std::int64_t> low;
  std::vector<std::int64_t> high;
  std::vector<std::int64_t> interior;  ///< how many between neighbours, each ≥ 0
};

/// `x`, of that shape, with the scalar `value` put around and between.
[[nodiscard]] std::string padded(const ExportCall& call, std::string x, ExtentList shape,
                                 Edges edges, const std::string& value);

}  // namespace stoker::onnx
