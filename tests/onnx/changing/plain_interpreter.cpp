#include "stoker/tests/onnx/changing/plain_interpreter.hpp"

#include <cstring>
#include <limits>
#include <stdexcept>

namespace stoker::onnx {
namespace {

PlainArray array_of(const TensorData& tensor) {
  PlainArray made{tensor.type, tensor.dims, {}};
  const std::byte* from = tensor.bytes.view.data();
  for (std::int64_t i = 0; i < product_of(tensor.dims); ++i) {
    if (tensor.type == ElementType::f32) {
      float number = 0;
      std::memcpy(&number, from + i * 4, sizeof number);
      made.data.push_back(static_cast<std::int64_t>(number));
    } else if (tensor.type == ElementType::s64) {
      std::memcpy(&made.data.emplace_back(), from + i * 8, sizeof(std::int64_t));
    } else {
      made.data.push_back(static_cast<std::int64_t>(from[i]));
    }
  }
  return made;
}

}  // namespace

PlainInterpreter::PlainInterpreter() {
  add_arithmetic(rules_);
  add_shaping(rules_);
  add_selection(rules_);
  add_sequences(rules_);
}

const PlainArray& PlainInterpreter::find(const Scope* scope, const std::string& name) {
  for (; scope != nullptr; scope = scope->outer)
    if (const auto found = scope->values.find(name); found != scope->values.end())
      return found->second;
  throw std::out_of_range{name};
}

PlainArrays PlainInterpreter::run(const Graph& graph, const PlainArrays& inputs,
                                  const Scope* outer) {
  Scope scope{.outer = outer};
  for (const Initializer& one : graph.initializers)
    scope.values.insert_or_assign(one.name, array_of(one.tensor));
  for (std::size_t i = 0; i < inputs.size(); ++i)
    scope.values.insert_or_assign(graph.inputs.at(i).name, inputs[i]);
  for (const Node& node : graph.nodes) {
    PlainArrays operands;
    for (const std::string& name : node.inputs)
      operands.push_back(name.empty() ? PlainArray{} : find(&scope, name));
    PlainArrays results;
    if (node.op == "If")
      results = run(node.graph(operands.at(0).data.at(0) != 0 ? "then_branch" : "else_branch"), {},
                    &scope);
    else if (node.op == "Loop")
      results = loop(node, operands, scope);
    else
      results = rules_.at(node.op)(node, operands);
    for (std::size_t i = 0; i < node.outputs.size(); ++i)
      if (!node.outputs[i].empty()) scope.values.insert_or_assign(node.outputs[i], results.at(i));
  }
  PlainArrays outputs;
  for (const ValueInfo& output : graph.outputs) outputs.push_back(find(&scope, output.name));
  return outputs;
}

PlainArrays PlainInterpreter::loop(const Node& node, const PlainArrays& operands,
                                   const Scope& scope) {
  const Graph& body = node.graph("body");
  const std::int64_t most =
      operands.at(0).is_given() ? operands[0].data.at(0) : std::numeric_limits<std::int64_t>::max();
  bool goes_on = !operands.at(1).is_given() || operands[1].data.at(0) != 0;
  PlainArrays states{operands.begin() + 2, operands.end()};
  std::vector<PlainArrays> scans(body.outputs.size() - 1 - states.size());
  for (std::int64_t round = 0; round < most && goes_on; ++round) {
    PlainArrays inputs{plain_scalar(round), plain_scalar(1, ElementType::boolean)};
    inputs.insert(inputs.end(), states.begin(), states.end());
    PlainArrays outputs = run(body, inputs, &scope);
    if (operands[1].is_given()) goes_on = outputs.at(0).data.at(0) != 0;
    for (std::size_t i = 0; i < states.size(); ++i) states[i] = outputs.at(i + 1);
    for (std::size_t i = 0; i < scans.size(); ++i)
      scans[i].push_back(outputs.at(i + 1 + states.size()));
  }
  for (const PlainArrays& rounds : scans) {
    PlainArray joined{rounds.at(0).type, rounds[0].shape, {}};
    joined.shape.insert(joined.shape.begin(), static_cast<std::int64_t>(rounds.size()));
    for (const PlainArray& round : rounds)
      joined.data.insert(joined.data.end(), round.data.begin(), round.data.end());
    states.push_back(joined);
  }
  return states;
}

}  // namespace stoker::onnx
