// Types of values as files hold them (TypeProto, ValueInfoProto).
#pragma once

#include "stoker/pipeline/onnx/graph/value_type.hpp"
#include "stoker/pipeline/onnx/reading/reading.hpp"

namespace stoker::onnx {

/// A dimension below 0 is unknown: exporters write -1.
[[nodiscard]] ValueType read_type(Reading& reading, Wire::Bytes message);
[[nodiscard]] ValueInfo read_value_info(Reading& reading, Wire::Bytes message);

}  // namespace stoker::onnx
