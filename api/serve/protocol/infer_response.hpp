// The body of the answer to an inference request of the Open Inference Protocol (KServe v2): JSON, or JSON that binary
// tensors follow.
//
//     const InferResponse response = write_infer_response(request, {"faces", "1"}, outputs);
//
// In JSON, floats have the fewest digits that read back as the same number; NaN and infinities are null; a byte of a
// string that is no UTF-8 becomes U+FFFD. Binary keeps all of them.
//
// Pure functions; any thread. Errors are thrown; their reason() may be shown to the client:
//
//     invalid_argument  FP16 or BF16 without `binary_data`, classes of strings or booleans
//     not_found         a requested output that the model has not given
//     unsupported       a requested output that the protocol cannot express, such as a sequence
//     others            of reading the outputs
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "stoker/api/serve/protocol/classification.hpp"
#include "stoker/api/serve/protocol/infer_request.hpp"

namespace stoker::serve::protocol {

struct ModelLabel {
  std::string name = {};
  std::string version = {};
};

struct InferResponse {
  std::string body = {};
  /// The value of the header Inference-Header-Content-Length, if there are binary tensors.
  std::optional<std::uint64_t> json_bytes = {};
};

/// `outputs`: computed. Does not block if they are known to the host (onnx::Known) or on a device with host_addressable
/// memory; otherwise waits for copies to the host. Without InferRequest::outputs, all `outputs` are written. `labels`:
/// of classes; null: none. Unless the client named them, outputs that the protocol cannot express are left out.
[[nodiscard]] InferResponse write_infer_response(const InferRequest& request,
                                                 const ModelLabel& label,
                                                 const NamedValues& outputs,
                                                 const ClassLabels* labels = nullptr);

}  // namespace stoker::serve::protocol
