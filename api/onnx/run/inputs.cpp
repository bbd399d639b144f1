#include "stoker/api/onnx/run/inputs.hpp"

#include <algorithm>

#include "stoker/api/tensor/views/manipulation.hpp"
#include "stoker/runtime/base/nearest_name.hpp"

namespace stoker::onnx {
namespace {

/// The extents of symbols, and the inputs that said so; and what errors name.
struct Symbols {
  std::string_view op;
  std::map<std::string, std::pair<std::int64_t, std::string>, std::less<>> known = {};
};

[[noreturn]] void refuse(const Symbols& symbols, const ValueInfo& input, ErrorCode code,
                         const std::string& came, const std::string& note = {}) {
  const std::string expected = input.type.to_string();
  throw Error{std::string{symbols.op},
              code,
              "input '" + input.name + "': expected " + expected + ", came " + came + note,
              {{"input", input.name}, {"expected", expected}, {"came", came}}};
}

void check_dims(const ValueInfo& input, const ValueType& type, const Value& value,
                Symbols& symbols) {
  if (!type.dims) return;
  const Shape& shape = value.shape();
  if (shape.rank() != type.dims->size())
    refuse(symbols, input, ErrorCode::shape_mismatch, value.to_string());
  bool fits = true;
  std::string others;
  for (std::size_t axis = 0; axis < shape.rank(); ++axis) {
    const Dimension& expected = (*type.dims)[axis];
    fits &= !expected.extent || *expected.extent == shape[axis];
    if (expected.symbol.empty()) continue;
    const auto [known, is_new] =
        symbols.known.try_emplace(expected.symbol, shape[axis], input.name);
    if (is_new || known->second.first == shape[axis]) continue;
    fits = false;
    others += "; " + expected.symbol + " was " + std::to_string(known->second.first) +
              " in input '" + known->second.second + "'";
  }
  if (!fits) refuse(symbols, input, ErrorCode::shape_mismatch, value.to_string(), others);
}

Value as_scalar(const Value& value) {
  if (value.shape().rank() == 0) return value;
  if (value.is_known()) return value.known().reshaped(Shape{});
  return {reshape(value.tensor(), Shape{}), value.type()};
}

/// Plans know texts and sequences that are there, so what another run is to give is waited for, in lists, too.
Value arrived(const Value& value) {
  if (value.is_texts()) return value.source() ? Value{value.texts()} : value;
  if (value.is_sequence()) {
    Values elements;
    elements.reserve(value.elements().size());
    for (const Value& one : value.elements()) elements.push_back(arrived(one));
    return Value::sequence(std::move(elements));
  }
  if (value.is_optional() && value.element()) return Value::optional(arrived(*value.element()));
  return value;
}

Value checked(const ValueInfo& input, const ValueType& type, const Value& value, Symbols& symbols) {
  switch (type.kind) {
    case ValueKind::tensor: {
      if (!value.is_tensor() && !value.is_texts())
        refuse(symbols, input, ErrorCode::invalid_argument, value.to_string());
      Value typed = value;
      // A tensor alone does not say that its u8 are truths, or halves of something.
      if (value.is_lazy() && type.element != ElementType::undefined &&
          value.type() != type.element && carrier_of(type.element) == value.tensor().dtype() &&
          value.type() == element_type_of(value.tensor().dtype()))
        typed = Value{value.tensor(), type.element};
      if (type.element != ElementType::undefined && typed.type() != type.element)
        refuse(symbols, input, ErrorCode::dtype_mismatch, value.to_string());
      // A number may come as a vector of one, as exporters' examples do.
      if (type.dims && type.dims->empty() && typed.is_tensor() && typed.shape().elements() == 1)
        return as_scalar(typed);
      check_dims(input, type, typed, symbols);
      return typed;
    }
    case ValueKind::sequence: {
      if (!value.is_sequence())
        refuse(symbols, input, ErrorCode::invalid_argument, value.to_string());
      Values elements;
      for (const Value& one : value.elements()) {
        Symbols own{symbols.op};  // elements may differ in what a symbol stands for
        elements.push_back(checked(input, type.inner.at(0), one, own));
      }
      return Value::sequence(std::move(elements));
    }
    case ValueKind::optional:
      if (!value.is_optional())
        return Value::optional(checked(input, type.inner.at(0), value, symbols));
      if (value.element() == nullptr) return value;
      return Value::optional(checked(input, type.inner.at(0), *value.element(), symbols));
    case ValueKind::map: {
      const ElementType of_values = type.inner.at(0).element;
      if (!value.is_map() || value.keys().is_texts() != (type.element == ElementType::string) ||
          (of_values != ElementType::undefined && of_values != value.values().type()))
        refuse(symbols, input, ErrorCode::invalid_argument, value.to_string());
      return value;
    }
    case ValueKind::unknown: return value;
    case ValueKind::sparse_tensor:
    case ValueKind::opaque: break;
  }
  throw Error{std::string{symbols.op},
              ErrorCode::unsupported,
              "input '" + input.name + "' is " + type.to_string() + ", which a run does not take",
              {{"input", input.name}}};
}

}  // namespace

Values checked_inputs(std::string_view op, std::span<const ValueInfo> inputs,
                      const std::function<bool(const ValueInfo&)>& may_lack,
                      const NamedValues& given) {
  std::size_t found_names = 0;
  for (const ValueInfo& input : inputs) found_names += given.contains(input.name);
  if (found_names < given.size()) {
    std::vector<std::string_view> known;
    for (const ValueInfo& input : inputs) known.push_back(input.name);
    for (const auto& [name, value] : given) {
      if (std::ranges::find(known, name) != known.end()) continue;
      throw Error{std::string{op},
                  ErrorCode::not_found,
                  "the model has no input '" + name + "'" + did_you_mean(name, known),
                  {{"input", name}}};
    }
  }
  Symbols symbols{op};
  Values values;
  values.reserve(inputs.size());
  for (const ValueInfo& input : inputs) {
    const auto found = given.find(input.name);
    if (found != given.end() && found->second.is_given()) {
      values.push_back(checked(input, input.type, arrived(found->second), symbols));
    } else if (may_lack(input)) {
      values.emplace_back();
    } else {
      throw Error{std::string{op},
                  ErrorCode::invalid_argument,
                  "input '" + input.name + "' (" + input.type.to_string() + ") is missing",
                  {{"input", input.name}, {"expected", input.type.to_string()}}};
    }
  }
  return values;
}

Values checked_inputs(const Prepared& model, const NamedValues& given) {
  return checked_inputs(
      "onnx.run", model.graph().inputs,
      [&](const ValueInfo& input) { return model.has_initializer(input.name); }, given);
}

}  // namespace stoker::onnx
