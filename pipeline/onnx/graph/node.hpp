// One call of an operator: its inputs, its outputs and its attributes.
//
// Lifetime: a plain value. Threads: immutable once read. Errors: the getters of attributes throw
// invalid_argument, naming the node and its operator, if the attribute is of another kind, or if it
// is missing and no fallback is given.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "stoker/pipeline/onnx/graph/attribute.hpp"

namespace stoker::onnx {

struct Node {
  std::string op;        ///< "Conv"
  std::string domain;    ///< empty: ONNX's own, which files may also call "ai.onnx"
  std::string overload;  ///< selects an overload of a model's function; usually empty
  std::string name;      ///< may be empty, and need not be unique
  std::string doc;
  /// The version of `domain` that the node's model or function imports; 0 if none.
  std::int64_t opset = 0;
  std::vector<std::string> inputs;   ///< an empty name: an omitted optional input
  std::vector<std::string> outputs;  ///< an empty name: an omitted optional output
  std::vector<Attribute> attributes;

  [[nodiscard]] bool has_input(std::size_t index) const noexcept {
    return index < inputs.size() && !inputs[index].empty();
  }
  [[nodiscard]] bool has_output(std::size_t index) const noexcept {
    return index < outputs.size() && !outputs[index].empty();
  }

  /// Null if there is none of that name.
  [[nodiscard]] const Attribute* find(std::string_view attribute) const noexcept;
  [[nodiscard]] bool has(std::string_view attribute) const noexcept {
    return find(attribute) != nullptr;
  }

  [[nodiscard]] std::int64_t integer(std::string_view attribute) const;
  [[nodiscard]] std::int64_t integer(std::string_view attribute, std::int64_t fallback) const;
  [[nodiscard]] bool flag(std::string_view attribute, bool fallback) const {
    return integer(attribute, fallback ? 1 : 0) != 0;
  }
  [[nodiscard]] float real(std::string_view attribute) const;
  [[nodiscard]] float real(std::string_view attribute, float fallback) const;
  [[nodiscard]] std::string text(std::string_view attribute) const;
  [[nodiscard]] std::string text(std::string_view attribute, std::string_view fallback) const;
  [[nodiscard]] const TensorData& tensor(std::string_view attribute) const;
  [[nodiscard]] const Graph& graph(std::string_view attribute) const;
  [[nodiscard]] const ValueType& type(std::string_view attribute) const;
  [[nodiscard]] ElementType element_type(std::string_view attribute, ElementType fallback) const;

  /// Nothing if the attribute is missing. References live as long as the node.
  [[nodiscard]] const std::vector<std::int64_t>* integers(std::string_view attribute) const;
  [[nodiscard]] std::vector<std::int64_t> integers(std::string_view attribute,
                                                   std::vector<std::int64_t> fallback) const;
  [[nodiscard]] const std::vector<float>* reals(std::string_view attribute) const;
  [[nodiscard]] const std::vector<std::string>* texts(std::string_view attribute) const;

  /// The operator as errors name it: "Conv", "com.microsoft.Gelu".
  [[nodiscard]] std::string operator_name() const;
  /// "node 'conv1' (Conv)"; a node without a name is identified by its first output: "the node of
  /// 'y' (Conv)". Text of the file is escaped.
  [[nodiscard]] std::string place() const;
};

}  // namespace stoker::onnx
