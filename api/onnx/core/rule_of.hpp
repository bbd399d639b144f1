// The rules of ONNX's own operators, for operators that are made of them.
//
// Pure functions; called while a model is traced. Errors are thrown: what the rule says of its operands, with the
// operator of `call` as op where it reads them there.
#pragma once

#include <string_view>

#include "stoker/api/onnx/core/operator.hpp"

namespace stoker::onnx {

/// A node of an operator with these attributes and nothing else.
[[nodiscard]] Node node_with(std::string_view op, std::vector<Attribute> attributes = {});

/// The outputs of the operator `op` of ONNX's own domain, as of `version`, for these operands. Its rule reads the
/// attributes of `node`. An operand that is not given is an empty value.
[[nodiscard]] Values rule_of(const Call& call, const Node& node, std::string_view op, int version,
                             const Values& operands);
/// The same with the name of the node, for attributes that node_with() made.
[[nodiscard]] Values rule_of(const Call& call, const Node& node, int version,
                             const Values& operands);

/// Operand i, or an empty value.
[[nodiscard]] Value operand_of(const Call& call, std::size_t i);

}  // namespace stoker::onnx
