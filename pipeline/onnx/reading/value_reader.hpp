// Values in files of their own, as test cases hold them (TensorProto, SequenceProto, OptionalProto, MapProto).
//
// Threads: any. Errors as those of models. Input is not trusted.
#pragma once

#include <memory>
#include <span>

#include "stoker/pipeline/onnx/graph/value_data.hpp"
#include "stoker/pipeline/onnx/graph/value_type.hpp"
#include "stoker/pipeline/onnx/reading/read_options.hpp"

namespace stoker::onnx {

/// The file does not say which `kind` it holds; unknown means a tensor. The value may be of another
/// element type. Bytes live as those of read_model(); external data lie in `options.folder`.
[[nodiscard]] Result<ValueData> read_value(std::span<const std::byte> bytes, ValueKind kind,
                                           const ReadOptions& options = {},
                                           std::shared_ptr<const void> owner = {});

}  // namespace stoker::onnx
