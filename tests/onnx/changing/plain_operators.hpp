// ONNX's operators on plain arrays, of opset 21, as far as random graphs use them.
// https://onnx.ai/onnx/operators/
//
// Any thread. Errors: as plain_array.hpp; those of Node's getters for a missing attribute.
#pragma once

#include <functional>
#include <map>
#include <string>

#include "stoker/pipeline/onnx/graph/node.hpp"
#include "stoker/tests/onnx/changing/plain_array.hpp"

namespace stoker::onnx {

/// The results of a node for its operands; one that is not given has no type.
using PlainRule = std::function<PlainArrays(const Node& node, const PlainArrays& operands)>;
using PlainRules = std::map<std::string, PlainRule, std::less<>>;

/// Of single elements, sums and extremes, and products.
void add_arithmetic(PlainRules& rules);
/// What moves elements, and what makes shapes.
void add_shaping(PlainRules& rules);
/// What finds elements by their values.
void add_selection(PlainRules& rules);
/// Sequences, and what is taken from them.
void add_sequences(PlainRules& rules);

}  // namespace stoker::onnx
