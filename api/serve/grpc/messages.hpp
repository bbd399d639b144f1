// The messages that a server of the Open Inference Protocol answers with over gRPC, in protobuf's wire format.
// https://github.com/kserve/open-inference-protocol (specification/protocol/open_inference_grpc.proto)
//
// Pure functions; any thread.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "stoker/api/serve/protocol/infer_response.hpp"

namespace stoker::serve::grpc {

/// ServerLiveResponse, ServerReadyResponse, ModelReadyResponse.
[[nodiscard]] std::string truth_message(bool truth);
/// ServerMetadataResponse.
[[nodiscard]] std::string server_metadata(std::string_view name, std::string_view version,
                                          std::span<const std::string_view> extensions);
/// ModelMetadataResponse. A dimension that is not fixed is -1; a tensor of any rank has the shape [-1]. Inputs and
/// outputs that the protocol cannot express are left out.
[[nodiscard]] std::string model_metadata(std::string_view name,
                                         std::span<const std::string> versions,
                                         std::string_view platform, const AnyModel& model);
/// ModelInferResponse; elements stand in raw_output_contents. `outputs` and errors as write_infer_response() has them.
[[nodiscard]] std::string infer_response(const protocol::InferRequest& request,
                                         const protocol::ModelLabel& label,
                                         const NamedValues& outputs,
                                         const protocol::ClassLabels* labels);
/// ModelStreamInferResponse, of a ModelInferResponse or of an error.
[[nodiscard]] std::string stream_response(std::string_view infer_response);
[[nodiscard]] std::string stream_error(std::string_view text);

}  // namespace stoker::serve::grpc
