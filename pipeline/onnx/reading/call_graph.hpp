// Which functions of a model call which.
//
// Lifetime: the functions outlive it. Threads: one at a time.
#pragma once

#include <unordered_map>
#include <vector>

#include "stoker/pipeline/onnx/graph/model_file.hpp"

namespace stoker::onnx {

class CallGraph {
 public:
  void add(const Function& caller, const Function& called) { calls_[&caller].push_back(&called); }

  /// Of each circle of calls at least one function, each once. In linear time, and with a stack on the heap: a file
  /// may chain any number of functions.
  [[nodiscard]] std::vector<const Function*> recursive(
      const std::vector<Function>& functions) const;

 private:
  using Calls = std::vector<const Function*>;
  [[nodiscard]] const Calls& calls_of(const Function* caller) const;

  std::unordered_map<const Function*, Calls> calls_;
};

}  // namespace stoker::onnx
