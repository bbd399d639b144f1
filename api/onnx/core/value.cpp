#include "stoker/api/onnx/core/value.hpp"

#include <mutex>

#include "stoker/api/tensor/math/elementwise.hpp"

namespace stoker::onnx {

struct Value::Entries {
  Value keys, values;
};

struct Value::ToCome {
  bool is_texts = false;  ///< else a sequence
  Value source;           ///< a lazy tensor
  std::function<Value(const Known&)> make;
  mutable std::mutex mutex;
  mutable Value made;  // guarded by mutex until it is given, constant from then on
};

namespace {

bool is_vector(const Value& value) {
  return (value.is_known() || value.is_texts()) && value.source() == nullptr &&
         value.shape().rank() == 1;
}

}  // namespace

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

Value Value::map(Value keys, Value values) {
  if (!is_vector(keys) || !(keys.is_texts() || keys.known().holds_integers()))
    keys.refuse("keys of a map, a vector of integers or texts that the host knows");
  if (!is_vector(values) || values.shape() != keys.shape())
    values.refuse("values of a map, a vector that the host knows, of as many elements as keys");
  Value made;
  made.held_ = std::make_shared<const Entries>(Entries{std::move(keys), std::move(values)});
  return made;
}

Value Value::to_come(bool is_texts, const Value& source, std::function<Value(const Known&)> make) {
  if (source.is_known()) return make(source.known());
  auto held = std::make_shared<ToCome>();
  held->is_texts = is_texts;
  held->source = source;
  held->make = std::move(make);
  Value made;
  made.held_ = ToComePtr{std::move(held)};
  return made;
}

Value Value::chosen_texts(std::vector<std::string> all, const Value& places) {
  return to_come(true, places, [all = std::move(all)](const Known& elements) {
    Texts made{.shape = elements.shape(), .strings = {}};
    for (const std::int64_t place : elements.to_integers())
      made.strings.push_back(all.at(static_cast<std::size_t>(place)));
    return Value{std::move(made)};
  });
}

Value Value::maps_of_rows(const Value& keys, const Value& rows) {
  if (!rows.is_tensor() || rows.shape().rank() != 2 || !is_vector(keys) ||
      keys.shape()[0] != rows.shape()[1])
    rows.refuse("rows with an element for each key");
  return to_come(false, rows, [keys](const Known& elements) {
    const std::int64_t count = keys.shape()[0];
    std::vector<Value> maps;
    for (std::int64_t row = 0; row < elements.shape()[0]; ++row) {
      const std::size_t bytes = size_of(elements.spec().dtype) * static_cast<std::size_t>(count);
      const auto of_row = elements.bytes().subspan(static_cast<std::size_t>(row) * bytes, bytes);
      maps.push_back(
          map(keys, Known{elements.type(), Shape{count}, {of_row.begin(), of_row.end()}}));
    }
    return sequence(std::move(maps));
  });
}

bool Value::is_texts() const noexcept {
  const auto* const later = std::get_if<ToComePtr>(&held_);
  return later ? (*later)->is_texts : std::holds_alternative<TextsPtr>(held_);
}

bool Value::is_sequence() const noexcept {
  const auto* const later = std::get_if<ToComePtr>(&held_);
  return later ? !(*later)->is_texts : std::holds_alternative<ListPtr>(held_);
}

const Value* Value::source() const noexcept {
  const auto* const later = std::get_if<ToComePtr>(&held_);
  return later ? &(*later)->source : nullptr;
}

Value Value::made_of(const Known& elements) const {
  return std::get<ToComePtr>(held_)->make(elements).as_constant(constant_);
}

const Value& Value::arrived() const {
  const auto* const later = std::get_if<ToComePtr>(&held_);
  if (later == nullptr) return *this;
  const ToCome& held = **later;
  const std::scoped_lock lock{held.mutex};
  if (!held.made.is_given()) {
    const Tensor tensor = held.source.tensor();
    held.made = held.make(Known{held.source.type(), tensor.shape(), tensor.to_bytes()});
  }
  return held.made;
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
  if (const Value* const tensor = source(); tensor && is_texts()) return tensor->shape();
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
  if (const auto* texts = std::get_if<TextsPtr>(&arrived().held_)) return **texts;
  refuse("a tensor of strings");
}

const std::vector<Value>& Value::elements() const {
  if (const auto* list = std::get_if<ListPtr>(&arrived().held_)) return **list;
  refuse("a sequence");
}

const Value* Value::element() const {
  if (const auto* option = std::get_if<Option>(&held_)) return option->element.get();
  refuse("an optional");
}

const Value& Value::keys() const {
  if (const auto* map = std::get_if<MapPtr>(&held_)) return (*map)->keys;
  refuse("a map");
}

const Value& Value::values() const {
  if (const auto* map = std::get_if<MapPtr>(&held_)) return (*map)->values;
  refuse("a map");
}

std::string Value::to_string() const {
  if (is_tensor() || is_texts()) return std::string{onnx::to_string(type())} + shape().to_string();
  if (const Value* const rows = source())
    return "a sequence of " + std::to_string(rows->shape()[0]);
  if (is_sequence()) return "a sequence of " + std::to_string(elements().size());
  if (is_map()) return "a map of " + std::to_string(keys().shape()[0]);
  if (is_optional())
    return element() ? "an optional " + element()->to_string() : "an optional without a value";
  return "nothing";
}

void Value::visit_cells(const std::function<void(const std::shared_ptr<Cell>&)>& visit) const {
  if (const auto* lazy = std::get_if<Lazy>(&held_)) visit(lazy->cell);
  if (const Value* const tensor = source())
    tensor->visit_cells(visit);
  else if (is_sequence())
    for (const Value& one : elements()) one.visit_cells(visit);
  if (is_optional() && element()) element()->visit_cells(visit);
}

Value Value::with_tensors(const std::function<Tensor(const Cell&)>& replace) const {
  Value made = *this;
  if (const auto* lazy = std::get_if<Lazy>(&held_)) {
    if (const Tensor other = replace(*lazy->cell); other.has_value())
      made.held_ = Lazy{std::make_shared<Cell>(Cell{other}), lazy->type};
  } else if (const auto* const later = std::get_if<ToComePtr>(&held_)) {
    // With tensors of its own it comes anew.
    made = to_come((*later)->is_texts, (*later)->source.with_tensors(replace), (*later)->make)
               .as_constant(constant_);
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
