// A graph as Graphviz draws it.
//
// Pure functions; any thread. https://graphviz.org/doc/info/lang.html
#pragma once

#include <string>

#include "stoker/pipeline/onnx/graph/graph.hpp"

namespace stoker::onnx {

/// Nodes are boxes, inputs and outputs are ovals, and an edge is a value that one reads from another. Graphs within
/// nodes are clusters, to which edges of the values that they read lead in. Constants are not drawn. Names are
/// escaped; of long ones only the beginning is shown.
[[nodiscard]] std::string graph_dot(const Graph& graph);

}  // namespace stoker::onnx
