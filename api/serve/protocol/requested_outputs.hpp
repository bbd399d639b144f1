// Which outputs an answer has, and in what form: what the client asks for, checked before anything is computed.
//
// Pure functions; any thread. Errors are thrown (infer_request.hpp).
#pragma once

#include "stoker/api/serve/protocol/infer_request.hpp"

namespace stoker::serve::protocol {

/// Adds an output that the client names. Refuses one that the model does not have, and one that was added before.
void request_output(const AnyModel& model, RequestedOutput output, InferRequest& request);
/// Once all are added: without any, all of the model's that the protocol can express. Refuses what cannot be answered.
void finish_outputs(const AnyModel& model, InferRequest& request);

/// Refuses to answer with an output of that type in the requested form: invalid_argument for FP16 and BF16 in JSON, and
/// for classes of strings and booleans.
void check_form(const InferRequest& request, const RequestedOutput& output, onnx::ElementType type);

}  // namespace stoker::serve::protocol
