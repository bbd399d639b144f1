#include "onnx_shapes.hpp"

#include <algorithm>
#include <map>
#include <span>

#include "stoker/api/command_line/predict/input_value.hpp"
#include "stoker/api/tensor/core/creation.hpp"
#include "stoker/runtime/base/nearest_name.hpp"

namespace stoker::command_line {
namespace {

constexpr const char* op = "onnx.inputs";

/// No declared extent of texts fills the host's memory.
constexpr std::int64_t most_texts = std::int64_t{1} << 20;

using Input = onnx::Description::Input;
using Symbols = std::map<std::string, std::int64_t, std::less<>>;

[[noreturn]] void refuse(ErrorCode code, std::string reason) {
  throw Error{op, code, std::move(reason)};
}

const onnx::ValueInfo& input_of(const std::vector<Input>& inputs, const std::string& name) {
  std::vector<std::string_view> known;
  known.reserve(inputs.size());
  for (const Input& input : inputs) {
    if (input.value.name == name) return input.value;
    known.emplace_back(input.value.name);
  }
  refuse(ErrorCode::not_found, "the model has no input '" + name + "'" + did_you_mean(name, known));
}

void add_symbols(const onnx::ValueInfo& value, std::span<const std::int64_t> extents,
                 Symbols& symbols) {
  if (!value.type.dims) return;
  const std::vector<onnx::Dimension>& dims = *value.type.dims;
  for (std::size_t axis = 0; axis < std::min(dims.size(), extents.size()); ++axis)
    if (!dims[axis].symbol.empty()) symbols.try_emplace(dims[axis].symbol, extents[axis]);
}

std::vector<std::int64_t> extents_of(const onnx::ValueInfo& value, const Symbols& symbols) {
  std::vector<std::int64_t> extents;
  if (!value.type.dims) throw unknown_extents(value);
  for (const onnx::Dimension& one : *value.type.dims) {
    const auto known = symbols.find(one.symbol);
    if (one.extent)
      extents.push_back(*one.extent);
    else if (!one.symbol.empty() && known != symbols.end())
      extents.push_back(known->second);
    else
      throw unknown_extents(value);
  }
  return extents;
}

onnx::Value filled(const onnx::ValueInfo& value, const std::vector<std::int64_t>& extents,
                   const Fill& fill) {
  const Shape shape = Shape::make(extents, op);
  const onnx::ElementType element = value.type.element;
  if (element == onnx::ElementType::string && shape.elements() > most_texts)
    refuse(ErrorCode::limit_exceeded, "input '" + value.name + "' would have more than " +
                                          std::to_string(most_texts) + " texts");
  if (element == onnx::ElementType::string)
    return onnx::Texts{
        .shape = shape,
        .strings = std::vector<std::string>(static_cast<std::size_t>(shape.elements()))};
  return fill(onnx::carrier_of(element) ? element : onnx::ElementType::f32, shape);
}

}  // namespace

Error unknown_extents(const onnx::ValueInfo& value) {
  return {op, ErrorCode::invalid_argument,
          "the extents of input '" + value.name + "' (" + value.type.to_string() +
              ") are not known: give --shape " + value.name + "=…"};
}

onnx::NamedValues values_for(const std::vector<Input>& inputs, const InputWords& words) {
  onnx::NamedValues values;
  for (const auto& [name, word] : words)
    values.emplace(name, value_for(input_of(inputs, name), word));
  return values;
}

onnx::NamedValues with_zeros(const std::vector<Input>& inputs,
                             const std::vector<NamedShape>& shapes,
                             const onnx::NamedValues& given) {
  return with_values(inputs, shapes, given, [](onnx::ElementType element, const Shape& shape) {
    return onnx::Value{zeros(shape, onnx::carrier_of(element).value()), element};
  });
}

onnx::NamedValues with_values(const std::vector<Input>& inputs,
                              const std::vector<NamedShape>& shapes, const onnx::NamedValues& given,
                              const Fill& fill) {
  onnx::NamedValues values = given;
  Symbols symbols;
  std::map<std::string, std::vector<std::int64_t>, std::less<>> extents;
  for (const auto& [name, value] : given)
    if (value.is_tensor()) {
      const Shape& shape = value.shape();
      add_symbols(input_of(inputs, name), std::vector(shape.begin(), shape.end()), symbols);
    }
  for (const auto& [name, shape] : shapes) {
    add_symbols(input_of(inputs, name), shape, symbols);
    if (given.contains(name))
      refuse(ErrorCode::invalid_argument, "input '" + name + "' has a value, and so its shape");
    extents.insert_or_assign(name, shape);
  }
  for (const auto& [value, has_default] : inputs) {
    const auto found = extents.find(value.name);
    if (values.contains(value.name) || (found == extents.end() && has_default)) continue;
    if (value.type.kind != onnx::ValueKind::tensor && value.type.kind != onnx::ValueKind::unknown)
      refuse(ErrorCode::unsupported, "input '" + value.name + "' is " + value.type.to_string() +
                                         ": a plan is made for tensors only");
    values.emplace(
        value.name,
        filled(value, found != extents.end() ? found->second : extents_of(value, symbols), fill));
  }
  return values;
}

}  // namespace stoker::command_line
