#include "stoker/pipeline/onnx/reading/copied_bytes.hpp"

namespace stoker::onnx {
namespace {

struct Content {
  std::uint64_t operator()(const std::string& text) const noexcept { return text.size(); }
  std::uint64_t operator()(const TensorData& tensor) const noexcept {
    return tensor.dims.size() * sizeof(std::int64_t) + (*this)(tensor.strings);
  }
  std::uint64_t operator()(const ValueType& type) const noexcept {
    std::uint64_t bytes = (*this)(type.inner);
    if (type.dims)
      for (const Dimension& dimension : *type.dims)
        bytes += sizeof dimension + dimension.symbol.size();
    return bytes;
  }
  std::uint64_t operator()(const ValueInfo& value) const noexcept {
    return value.name.size() + value.doc.size() + (*this)(value.type);
  }
  std::uint64_t operator()(const Initializer& constant) const noexcept {
    return constant.name.size() + (*this)(constant.tensor);
  }
  std::uint64_t operator()(const Attribute& attribute) const noexcept {
    return attribute.name.size() + attribute.reference.size() + copied_bytes(attribute.value);
  }
  template <class T> std::uint64_t operator()(const std::vector<T>& list) const noexcept {
    std::uint64_t bytes = list.size() * sizeof(T);
    if constexpr (!std::is_trivially_copyable_v<T>)
      for (const T& each : list) bytes += (*this)(each);
    return bytes;
  }
  /// Numbers, and graphs, which are shared.
  template <class T> std::uint64_t operator()(const T&) const noexcept { return 0; }
};

}  // namespace

std::uint64_t copied_bytes(const AttributeValue& value) noexcept {
  return std::visit(Content{}, value);
}

std::uint64_t copied_bytes(const Node& node) noexcept {
  constexpr Content content;
  return sizeof node + node.name.size() + node.doc.size() + content(node.inputs) +
         content(node.outputs) + content(node.attributes);
}

std::uint64_t copied_bytes(const Graph& graph) noexcept {
  constexpr Content content;
  return sizeof graph + graph.doc.size() + content(graph.inputs) + content(graph.outputs) +
         content(graph.initializers) + content(graph.values);
}

std::uint64_t copied_bytes(const Function& function) noexcept {
  constexpr Content content;
  constexpr std::uint64_t entry = 96;  // of the table of what its inputs are called
  return sizeof function + function.inputs.size() * entry + content(function.inputs) +
         content(function.outputs) + content(function.defaults);
}

}  // namespace stoker::onnx
