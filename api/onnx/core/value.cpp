#include "stoker/api/onnx/core/value.hpp"

#include "stoker/api/tensor/math/elementwise.hpp"

namespace stoker::onnx {

Value::Value(const Tensor& tensor) : Value{tensor, element_type_of(tensor.dtype())} {}

Value::Value(const Tensor& tensor, ElementType type)
    : held_{Lazy{std::make_shared<Cell>(
                     Cell{tensor.dtype() == DType::boolean ? as_type(tensor, DType::u8) : tensor}),
                 type}} {
  const bool is_boolean = type == ElementType::boolean && tensor.dtype() == DType::boolean;
  if (!is_boolean && carrier_of(type) != tensor.dtype())
    throw Error{
        "onnx",
        ErrorCode::dtype_mismatch,
        "elements of the type " + std::string{onnx::to_string(type)} + " do not lie in a tensor " +
            tensor.spec().to_string(),
        {{"type", std::string{onnx::to_string(type)}}, {"tensor", tensor.spec().to_string()}}};
}

Value Value::sequence(std::vector<Value> elements) {
  Value made;
  made.held_ = std::make_shared<const std::vector<Value>>(std::move(elements));
  return made;
}

Value Value::optional(Value element) {
  Value made;
  made.held_ = Option{std::make_shared<const Value>(std::move(element))};
  return made;
}

Value Value::no_element() {
  Value made;
  made.held_ = Option{};
  return made;
}

void Value::refuse(const char* expected) const {
  throw Error{"onnx",
              ErrorCode::invalid_argument,
              "expected " + std::string{expected} + ", got " + to_string(),
              {{"expected", expected}, {"got", to_string()}}};
}

ElementType Value::type() const {
  if (is_known()) return known().type();
  if (const auto* lazy = std::get_if<Lazy>(&held_)) return lazy->type;
  if (is_texts()) return ElementType::string;
  refuse("a tensor");
}

const Shape& Value::shape() const {
  if (is_known()) return known().shape();
  if (const auto* lazy = std::get_if<Lazy>(&held_)) return lazy->cell->tensor.shape();
  if (is_texts()) return texts().shape;
  refuse("a tensor");
}

Tensor Value::tensor() const {
  if (is_known()) return known().tensor();
  if (const auto* lazy = std::get_if<Lazy>(&held_)) return lazy->cell->tensor;
  refuse("a tensor");
}

const Known& Value::known() const {
  if (const auto* known = std::get_if<Known>(&held_)) return *known;
  refuse("a tensor that the host knows");
}

const Texts& Value::texts() const {
  if (const auto* texts = std::get_if<TextsPtr>(&held_)) return **texts;
  refuse("a tensor of strings");
}

const std::vector<Value>& Value::elements() const {
  if (const auto* list = std::get_if<ListPtr>(&held_)) return **list;
  refuse("a sequence");
}

const Value* Value::element() const {
  if (const auto* option = std::get_if<Option>(&held_)) return option->element.get();
  refuse("an optional");
}

std::string Value::to_string() const {
  if (is_tensor() || is_texts()) return std::string{onnx::to_string(type())} + shape().to_string();
  if (is_sequence()) return "a sequence of " + std::to_string(elements().size());
  if (is_optional())
    return element() ? "an optional " + element()->to_string() : "an optional without a value";
  return "nothing";
}

void Value::visit_cells(const std::function<void(const std::shared_ptr<Cell>&)>& visit) const {
  if (const auto* lazy = std::get_if<Lazy>(&held_)) visit(lazy->cell);
  if (is_sequence())
    for (const Value& one : elements()) one.visit_cells(visit);
  if (is_optional() && element()) element()->visit_cells(visit);
}

Value Value::with_tensors(const std::function<Tensor(const Cell&)>& replace) const {
  Value made = *this;
  if (const auto* lazy = std::get_if<Lazy>(&held_)) {
    if (const Tensor other = replace(*lazy->cell); other.has_value())
      made.held_ = Lazy{std::make_shared<Cell>(Cell{other}), lazy->type};
  } else if (is_sequence()) {
    std::vector<Value> list;
    list.reserve(elements().size());
    for (const Value& one : elements()) list.push_back(one.with_tensors(replace));
    made.held_ = std::make_shared<const std::vector<Value>>(std::move(list));
  } else if (is_optional() && element()) {
    made.held_ = Option{std::make_shared<const Value>(element()->with_tensors(replace))};
  }
  return made;
}

Value Value::as_constant(bool constant) const {
  Value made = *this;
  made.constant_ = constant;
  return made;
}

}  // namespace stoker::onnx
