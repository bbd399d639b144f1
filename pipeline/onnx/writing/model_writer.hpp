// A whole model as the bytes of a file, which read_model() reads again.
//
// Pure functions; any thread. Precondition: functions of the model are inlined.
#pragma once

#include "stoker/pipeline/onnx/graph/model_file.hpp"
#include "stoker/pipeline/protobuf/wire_writer.hpp"

namespace stoker::onnx {

/// A ModelProto. All tensors stand in it: weights of external files, too.
[[nodiscard]] protobuf::WireWriter write_model(const ModelFile& model);

}  // namespace stoker::onnx
