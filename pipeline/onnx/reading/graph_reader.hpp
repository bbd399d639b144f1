// Graphs, nodes, attributes and functions as files hold them (GraphProto, NodeProto, AttributeProto, FunctionProto).
//
// What is wrong within one becomes findings; whether a graph is in order, check_graph() says afterwards.
#pragma once

#include <string>
#include <vector>

#include "stoker/pipeline/onnx/graph/model_file.hpp"
#include "stoker/pipeline/onnx/reading/reading.hpp"

namespace stoker::onnx {

/// Nodes get the versions of `reading.opsets`.
[[nodiscard]] Graph read_graph(Reading& reading, Wire::Bytes message);
[[nodiscard]] Function read_function(Reading& reading, Wire::Bytes message);
/// The imports that stand in field `number` of a message. Both spellings of ONNX's own domain are the empty one. They
/// are read before the nodes, which stand before them in files.
[[nodiscard]] std::vector<OpsetImport> read_opsets(Reading& reading, Wire::Bytes message,
                                                   std::uint32_t number);

}  // namespace stoker::onnx
