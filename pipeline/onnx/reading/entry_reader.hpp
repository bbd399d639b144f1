// Pairs of texts as files hold them (StringStringEntryProto): metadata, and where external data lie.
#pragma once

#include "stoker/pipeline/onnx/graph/graph.hpp"
#include "stoker/pipeline/onnx/reading/reading.hpp"

namespace stoker::onnx {

/// Key and value.
[[nodiscard]] Metadata::value_type read_entry(Reading& reading, Wire::Bytes message);

}  // namespace stoker::onnx
