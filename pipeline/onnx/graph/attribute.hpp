// A named constant of a node: a number, text, a tensor, a graph, a type, or a list of one of these.
//
// A value; graphs are shared and immutable. Any thread.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "stoker/pipeline/onnx/graph/tensor_data.hpp"
#include "stoker/pipeline/onnx/graph/value_type.hpp"

namespace stoker::onnx {

struct Graph;
using GraphPtr = std::shared_ptr<const Graph>;

/// Sparse tensors are read as dense ones. An attribute that refers to an attribute of its function has
/// no value.
using AttributeValue =
    std::variant<std::monostate, std::int64_t, float, std::string, TensorData, GraphPtr, ValueType,
                 std::vector<std::int64_t>, std::vector<float>, std::vector<std::string>,
                 std::vector<TensorData>, std::vector<GraphPtr>, std::vector<ValueType>>;

struct Attribute {
  std::string name;
  AttributeValue value;
  /// Only in the body of a function: the name of the function's attribute that gives the value.
  /// Inlining replaces it.
  std::string reference;
};

/// The kind of a value as error messages name it: "an integer", "a list of texts", …
[[nodiscard]] std::string_view kind_of(const AttributeValue& value) noexcept;

}  // namespace stoker::onnx
