// What calls of a model's own functions say, and what functions are called: a domain, a name, an overload.
//
// Lifetime: points into the function or the node. Threads: any.
#pragma once

#include <string_view>
#include <tuple>

#include "stoker/pipeline/onnx/graph/model_file.hpp"

namespace stoker::onnx {

using FunctionKey = std::tuple<std::string_view, std::string_view, std::string_view>;

[[nodiscard]] inline FunctionKey key_of(const Function& function) noexcept {
  return {function.domain, function.name, function.overload};
}
[[nodiscard]] inline FunctionKey called_by(const Node& node) noexcept {
  return {node.domain, node.op, node.overload};
}

}  // namespace stoker::onnx
