#include "stoker/api/onnx/core/rule_of.hpp"

namespace stoker::onnx {

Node node_with(std::string_view op, std::vector<Attribute> attributes) {
  Node made;
  made.op = op;
  made.outputs = {"y"};
  made.attributes = std::move(attributes);
  return made;
}

Values rule_of(const Call& call, const Node& node, std::string_view op, int version,
               const Values& operands) {
  const auto definition = OperatorTable::standard().find("", op);
  Call inner{node, version, operands, call.walker()};
  return definition->lower(inner);
}

Values rule_of(const Call& call, const Node& node, int version, const Values& operands) {
  return rule_of(call, node, node.op, version, operands);
}

Value operand_of(const Call& call, std::size_t i) { return call.has(i) ? call.input(i) : Value{}; }

}  // namespace stoker::onnx
