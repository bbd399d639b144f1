// How many bytes copies of parts of a graph take, about: what calls of functions multiply.
//
// Pure functions; any thread. Elements of tensors and graphs within attributes are shared by copies, and count as
// nothing.
#pragma once

#include <cstdint>

#include "stoker/pipeline/onnx/graph/model_file.hpp"

namespace stoker::onnx {

[[nodiscard]] std::uint64_t copied_bytes(const AttributeValue& value) noexcept;
[[nodiscard]] std::uint64_t copied_bytes(const Node& node) noexcept;
/// Without its nodes.
[[nodiscard]] std::uint64_t copied_bytes(const Graph& graph) noexcept;
/// Its inputs, outputs and defaults, which each call looks at.
[[nodiscard]] std::uint64_t copied_bytes(const Function& function) noexcept;

}  // namespace stoker::onnx
