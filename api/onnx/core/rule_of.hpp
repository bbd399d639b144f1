// The rules of ONNX's own operators, for operators that are composed of them.
//
// Pure functions; called while a model is traced. Errors are thrown: those of the rule.
#pragma once

#include <string_view>

#include "stoker/api/onnx/core/operator.hpp"

namespace stoker::onnx {

/// A node of an operator with these attributes and nothing else.
[[nodiscard]] Node node_with(std::string_view op, std::vector<Attribute> attributes = {});

/// The outputs of version `version` of ONNX's own operator `op` for these operands. Its rule reads the attributes
/// of `node`. Pass an empty value for an omitted operand.
[[nodiscard]] Values rule_of(const Call& call, const Node& node, std::string_view op, int version,
                             const Values& operands);
/// The same for the operator that `node` names; node_with() makes such nodes.
[[nodiscard]] Values rule_of(const Call& call, const Node& node, int version,
                             const Values& operands);

/// Operand i, or an empty value.
[[nodiscard]] Value operand_of(const Call& call, std::size_t i);

}  // namespace stoker::onnx
