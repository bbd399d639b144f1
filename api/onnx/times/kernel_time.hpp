// How long a kernel of a model has taken, over all runs that were timed.
//
// A plain value.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

namespace stoker::onnx {

struct KernelTime {
  std::string kernel;              ///< empty: all kernels for which there was no room
  std::vector<std::string> nodes;  ///< the nodes that it computes: Node::place(), escaped
  std::uint64_t runs = 0;
  std::chrono::nanoseconds total{0};  ///< on the device
};

}  // namespace stoker::onnx
