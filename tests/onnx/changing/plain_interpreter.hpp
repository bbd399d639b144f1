// Runs a graph node by node on plain arrays: what Stoker's plans are compared with.
//
// Threads: one. Errors: as plain_array.hpp; std::out_of_range for an operator without a rule.
#pragma once

#include <map>
#include <string>

#include "stoker/pipeline/onnx/graph/graph.hpp"
#include "stoker/tests/onnx/changing/plain_operators.hpp"

namespace stoker::onnx {

class PlainInterpreter {
 public:
  PlainInterpreter();

  /// One operand for each input of the graph.
  [[nodiscard]] PlainArrays run(const Graph& graph, const PlainArrays& inputs) {
    return run(graph, inputs, nullptr);
  }

 private:
  struct Scope {
    std::map<std::string, PlainArray, std::less<>> values = {};
    const Scope* outer = nullptr;
  };
  static const PlainArray& find(const Scope* scope, const std::string& name);
  PlainArrays run(const Graph& graph, const PlainArrays& inputs, const Scope* outer);
  PlainArrays loop(const Node& node, const PlainArrays& operands, const Scope& scope);

  PlainRules rules_;
};

}  // namespace stoker::onnx
