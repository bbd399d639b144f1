// Calls of a model's own functions become the nodes of those functions.
#pragma once

#include "stoker/pipeline/onnx/graph/model_file.hpp"
#include "stoker/pipeline/onnx/reading/read_options.hpp"

namespace stoker::onnx {

/// Replaces each call, in graphs within nodes and in functions, too, and leaves the model without functions. Each node
/// keeps the version that its function imports. Names of values in a function become names that no other value has.
/// A call that does not give an attribute gives its default, or none. Precondition: check_graphs() found nothing.
/// Errors, with the model unchanged: invalid_argument (an output is an input that the call does not give),
/// limit_exceeded (the nodes or their bytes would be more than `limits` says, or calls nest deeper).
[[nodiscard]] Result<void> inline_functions(ModelFile& model, const ReadLimits& limits);

}  // namespace stoker::onnx
