// Whether graphs are what a walk through their nodes in order expects.
#pragma once

#include "stoker/pipeline/onnx/graph/model_file.hpp"
#include "stoker/pipeline/onnx/reading/findings.hpp"

namespace stoker::onnx {

/// Adds a finding for each name in the model's graph, the graphs within it and its functions that is read before it is
/// written, that nothing writes, that is written twice, or is empty where one is needed; for each operator of a domain
/// that is not imported; each attribute that occurs twice or refers to one that its function does not have;
/// each call of a function with more inputs or outputs than it has, and functions that call themselves.
void check_graphs(const ModelFile& model, Findings& findings);

}  // namespace stoker::onnx
