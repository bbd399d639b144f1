#include "stoker/pipeline/onnx/graph/same_graph.hpp"

#include <algorithm>
#include <bit>
#include <cstdint>

#include "stoker/pipeline/onnx/graph/file_bytes.hpp"

namespace stoker::onnx {
namespace {

/// Two views of a file that did not change between them are not read: weights may be large.
bool lie_at_one_place(const SharedBytes& a, const SharedBytes& b) {
  if (a.view.data() == b.view.data()) return true;
  const files::ByteSource *const file = file_of(a), *const other = file_of(b);
  if (file == nullptr || other == nullptr) return false;
  return a.view.data() - file->view().data() == b.view.data() - other->view().data() &&
         !file->identity().empty() && file->identity() == other->identity();
}

template <class T> bool same(const T& a, const T& b) { return a == b; }
template <class T> bool same(const std::vector<T>& a, const std::vector<T>& b);

// A NaN is itself.
bool same(float a, float b) {
  return std::bit_cast<std::uint32_t>(a) == std::bit_cast<std::uint32_t>(b);
}
bool same(const SharedBytes& a, const SharedBytes& b) {
  return a.view.size() == b.view.size() &&
         (lie_at_one_place(a, b) || std::ranges::equal(a.view, b.view));
}
bool same(const TensorData& a, const TensorData& b) {
  return a.type == b.type && a.dims == b.dims && a.strings == b.strings && same(a.bytes, b.bytes);
}
bool same(const GraphPtr& a, const GraphPtr& b) { return a == b || (a && b && is_same(*a, *b)); }
bool same(const Initializer& a, const Initializer& b) {
  return a.name == b.name && same(a.tensor, b.tensor);
}
bool same(const ValueInfo& a, const ValueInfo& b) {
  return a.name == b.name && a.type == b.type && a.doc == b.doc;
}
bool same(const Attribute& a, const Attribute& b) {
  if (a.name != b.name || a.reference != b.reference || a.value.index() != b.value.index())
    return false;
  return std::visit([&]<class T>(const T& value) { return same(value, *std::get_if<T>(&b.value)); },
                    a.value);
}
bool same(const Node& a, const Node& b) {
  return a.op == b.op && a.domain == b.domain && a.overload == b.overload && a.name == b.name &&
         a.doc == b.doc && a.opset == b.opset && a.inputs == b.inputs && a.outputs == b.outputs &&
         same(a.attributes, b.attributes);
}

template <class T> bool same(const std::vector<T>& a, const std::vector<T>& b) {
  return std::ranges::equal(a, b, [](const T& one, const T& other) { return same(one, other); });
}

}  // namespace

bool is_same(const Graph& a, const Graph& b) {
  return a.name == b.name && a.doc == b.doc && same(a.nodes, b.nodes) && same(a.inputs, b.inputs) &&
         same(a.outputs, b.outputs) && same(a.initializers, b.initializers) &&
         same(a.values, b.values);
}

}  // namespace stoker::onnx
