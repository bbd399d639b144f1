// ModelInferRequest of the Open Inference Protocol's gRPC form: a message in protobuf's wire format, read where it
// lies.
// https://github.com/kserve/open-inference-protocol (specification/protocol/open_inference_grpc.proto)
//
// Elements come in `raw_input_contents`, in the order of the inputs, or in the `contents` of each input. FP16 and BF16
// come raw only. Unknown fields and parameters are ignored.
//
// Pure functions; any thread; they do not block. Errors are thrown, those of read_infer_request()
// (protocol/infer_request.hpp); a message that is no protobuf message is invalid_argument, with the byte.
#pragma once

#include <cstddef>
#include <span>
#include <string>

#include "stoker/api/serve/protocol/infer_request.hpp"

namespace stoker::serve::grpc {

/// Whom a message is for. All messages of the service that name a model have the name in one field, the version in
/// another.
struct ModelAddress {
  std::string name = {};
  std::string version = {};  ///< empty: any
};
[[nodiscard]] ModelAddress read_address(std::span<const std::byte> message);

/// Precondition for what is returned: outputs are in binary form.
[[nodiscard]] protocol::InferRequest read_request(std::span<const std::byte> message,
                                                  const AnyModel& model,
                                                  const protocol::BodyLimits& limits);

}  // namespace stoker::serve::grpc
