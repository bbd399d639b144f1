// Values as files of their own, which read_value() reads again.
//
// Pure functions; any thread.
#pragma once

#include <string_view>

#include "stoker/pipeline/onnx/graph/value_data.hpp"
#include "stoker/pipeline/protobuf/wire_writer.hpp"

namespace stoker::onnx {

/// A TensorProto; elements other than texts stand in its raw bytes.
[[nodiscard]] protobuf::WireWriter write_tensor(std::string_view name, const TensorData& tensor);
/// A TensorProto, SequenceProto, OptionalProto or MapProto. Precondition: the elements of a list are of one kind.
[[nodiscard]] protobuf::WireWriter write_value(const ValueData& value);

}  // namespace stoker::onnx
