// InferTensorContents: the elements of an input as numbers of a message, one list for each kind of type.
//
// Pure functions; any thread. Errors are thrown: invalid_argument for numbers out of range, dtype_mismatch for a list
// of another kind, shape_mismatch if the elements do not fill the tensor; limit_exceeded. Damage of the message stops
// the progress; then what is returned means nothing.
#pragma once

#include <cstddef>
#include <span>

#include "stoker/api/serve/protocol/request_inputs.hpp"
#include "stoker/pipeline/protobuf/wire.hpp"

namespace stoker::serve::grpc {

/// Whether it has no elements.
[[nodiscard]] bool has_no_elements(protobuf::Wire contents);

[[nodiscard]] onnx::Value read_contents(std::span<const std::byte> contents,
                                        protobuf::Progress& progress,
                                        const protocol::ExpectedTensor& tensor,
                                        protocol::RequestInputs& inputs);

}  // namespace stoker::serve::grpc
