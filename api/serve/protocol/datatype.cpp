#include "stoker/api/serve/protocol/datatype.hpp"

#include <algorithm>
#include <array>
#include <ranges>
#include <utility>
#include <vector>

#include "stoker/api/serve/protocol/refusal.hpp"
#include "stoker/runtime/base/nearest_name.hpp"

namespace stoker::serve::protocol {
namespace {

using onnx::ElementType;

constexpr std::array datatypes{
    std::pair{ElementType::boolean, std::string_view{"BOOL"}},
    std::pair{ElementType::u8, std::string_view{"UINT8"}},
    std::pair{ElementType::u16, std::string_view{"UINT16"}},
    std::pair{ElementType::u32, std::string_view{"UINT32"}},
    std::pair{ElementType::u64, std::string_view{"UINT64"}},
    std::pair{ElementType::s8, std::string_view{"INT8"}},
    std::pair{ElementType::s16, std::string_view{"INT16"}},
    std::pair{ElementType::s32, std::string_view{"INT32"}},
    std::pair{ElementType::s64, std::string_view{"INT64"}},
    std::pair{ElementType::f16, std::string_view{"FP16"}},
    std::pair{ElementType::f32, std::string_view{"FP32"}},
    std::pair{ElementType::f64, std::string_view{"FP64"}},
    std::pair{ElementType::bf16, std::string_view{"BF16"}},
    std::pair{ElementType::string, std::string_view{"BYTES"}},
};

}  // namespace

std::string_view datatype_of(ElementType type) noexcept {
  for (const auto& [element, name] : datatypes)
    if (element == type) return name;
  return {};
}

std::optional<ElementType> parse_datatype(std::string_view name) noexcept {
  for (const auto& [element, known] : datatypes)
    if (known == name) return element;
  return {};
}

std::string unknown_datatype(std::string_view name) {
  std::vector<std::string_view> known;
  known.reserve(datatypes.size());
  std::string text = in_quotes(name) + " is none of ";
  for (const auto& [element, one] : datatypes) {
    if (!known.empty()) text += ", ";
    text += one;
    known.push_back(one);
  }
  return text + did_you_mean(name, known);
}

const onnx::ValueType* tensor_of(const onnx::ValueType& declared) noexcept {
  const onnx::ValueType* type = &declared;
  if (type->kind == onnx::ValueKind::optional) type = &type->inner.at(0);
  const bool may_be =
      type->kind == onnx::ValueKind::tensor || type->kind == onnx::ValueKind::unknown;
  return may_be ? type : nullptr;
}

std::string declared_shape(const onnx::ValueType& tensor) {
  if (!tensor.dims) return "[-1]";
  std::string text = "[";
  for (const onnx::Dimension& dimension : *tensor.dims) {
    if (text.size() > 1) text += ',';
    text += std::to_string(dimension.extent.value_or(-1));
  }
  return text + "]";
}

std::string declared_tensor(const onnx::ValueType& tensor) {
  const std::string_view name = datatype_of(tensor.element);
  return (name.empty() ? "any datatype " : std::string{name} + " ") + declared_shape(tensor);
}

}  // namespace stoker::serve::protocol
