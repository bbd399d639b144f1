#include "stoker/api/onnx/types/type_set.hpp"

namespace stoker::onnx {

std::string TypeSet::to_string() const {
  std::string text;
  for (std::size_t i = 1; i < element_type_count; ++i) {
    const auto type = static_cast<ElementType>(i);
    if (!contains(type)) continue;
    if (!text.empty()) text += ", ";
    text += onnx::to_string(type);
  }
  return text;
}

}  // namespace stoker::onnx
