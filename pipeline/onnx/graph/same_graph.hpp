// Whether two graphs that were read at different times are one and the same.
//
// Pure functions; any thread.
#pragma once

#include "stoker/pipeline/onnx/graph/graph.hpp"

namespace stoker::onnx {

/// Whether all that they say is equal, with their subgraphs. Tensors at one place of one file (files::ByteSource::
/// identity()) are equal; of others the bytes are compared.
[[nodiscard]] bool is_same(const Graph& a, const Graph& b);

}  // namespace stoker::onnx
