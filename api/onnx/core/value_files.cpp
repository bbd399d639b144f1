#include "stoker/api/onnx/core/value_files.hpp"

namespace stoker::onnx {

Value value_of(const ValueData& data) {
  if (const auto* tensor = std::get_if<TensorData>(&data.content)) {
    if (tensor->type == ElementType::string)
      return Value{Texts{Shape::make(tensor->dims, "onnx"), tensor->strings}};
    return Value{Known{*tensor}};
  }
  if (const auto* list = std::get_if<SequenceValue>(&data.content)) {
    Values elements;
    for (const ValueData& one : list->elements) elements.push_back(value_of(one));
    return Value::sequence(std::move(elements));
  }
  if (const auto* option = std::get_if<OptionalValue>(&data.content))
    return option->element.empty() ? Value::no_element()
                                   : Value::optional(value_of(option->element.front()));
  throw Error{
      "onnx", ErrorCode::unsupported, "maps are not values of a run", {{"name", data.name}}};
}

}  // namespace stoker::onnx
