// What a service says about one model beside the protocol's metadata.
//
// Pure functions; any thread.
#pragma once

#include <string>

#include "stoker/api/serve/models/served_models.hpp"

namespace stoker::serve::http {

/// The fields of Triton's ModelConfig that are known. As with Triton, `dims` lack the rows' dimension if
/// `max_batch_size` is not 0: requests share batches, and rows lie along the first dimension of every tensor.
/// Precondition: the model is ready.
[[nodiscard]] std::string config_document(const std::string& name, const ServedVersion& served,
                                          const ServingStatus& status);

}  // namespace stoker::serve::http
