// Damages to ONNX graphs that leave most of them readable: another operator, operand, attribute, constant, extent.
//
// Threads: one.
#pragma once

#include "fuzz.hpp"
#include "stoker/pipeline/onnx/graph/graph.hpp"

namespace stoker::fuzz::onnx_run {

/// Of one damage; what it takes beyond them is 0.
inline constexpr std::size_t bytes_of_damage = 8;

/// Changes one thing in the graph or in one below it.
void damage(stoker::onnx::Graph& graph, Decisions& decisions);

}  // namespace stoker::fuzz::onnx_run
