// The outputs of an answer as the host reads them, before they get the form of JSON or of a message.
//
// Pure functions; any thread. Errors are thrown (infer_response.hpp).
#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "stoker/api/serve/protocol/classification.hpp"
#include "stoker/api/serve/protocol/infer_request.hpp"

namespace stoker::serve::protocol {

/// A tensor of an answer. It may be moved; `owner` keeps what the spans point to.
struct AnsweredOutput {
  std::string name = {};
  onnx::ElementType type = onnx::ElementType::undefined;
  Shape shape = {};
  bool binary = false;  ///< the form that the client wants
  std::span<const std::byte> elements = {};
  std::span<const std::string> strings = {};  ///< instead of elements, if the type is `string`
  std::shared_ptr<const void> owner = {};
};

/// In the order of the answer; classes instead of the tensor where the client wants them, with their names from
/// `labels`, which may be null. `outputs` must outlive the result.
[[nodiscard]] std::vector<AnsweredOutput> answered_outputs(const InferRequest& request,
                                                           const NamedValues& outputs,
                                                           const ClassLabels* labels);

}  // namespace stoker::serve::protocol
