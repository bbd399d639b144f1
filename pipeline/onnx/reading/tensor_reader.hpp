// Tensors and sparse tensors as files hold them (TensorProto, SparseTensorProto).
//
// What is stored raw, or as packed floats, stays where it is; integers that are stored with a variable length are
// decoded. Wrong ones become findings, with a place that starts at the tensor.
#pragma once

#include <string>

#include "stoker/pipeline/onnx/graph/graph.hpp"
#include "stoker/pipeline/onnx/reading/reading.hpp"

namespace stoker::onnx {

/// The tensor with its name, which may be empty.
[[nodiscard]] Initializer read_tensor(Reading& reading, Wire::Bytes message);
/// The same of a sparse one, made dense.
[[nodiscard]] Initializer read_sparse_tensor(Reading& reading, Wire::Bytes message);

}  // namespace stoker::onnx
