// What a service says about one model beside the protocol's metadata.
//
// Pure functions; any thread.
#pragma once

#include <string>

#include "stoker/api/serve/serving.hpp"

namespace stoker::serve::http {

/// "onnx_stoker", "network_stoker", "script_stoker": the kind of the file, and what runs it.
[[nodiscard]] std::string platform_of(const AnyModel& model);

/// The fields of Triton's ModelConfig that are known. As with Triton, `dims` lack the rows' dimension if
/// `max_batch_size` is not 0: requests share batches, and rows lie along the first dimension of every tensor.
[[nodiscard]] std::string config_document(const std::string& name, const AnyModel& model,
                                          const ServingStatus& status);

}  // namespace stoker::serve::http
