#include "stoker/api/serve/row_layout.hpp"

#include <algorithm>

#include "stoker/api/onnx/run/inputs.hpp"

namespace stoker::serve {
namespace {

constexpr const char* op = "serving";

std::uint64_t bytes_of(const onnx::Value& value) {
  if (value.is_known()) return value.known().spec().bytes();
  if (value.is_lazy()) return value.tensor().bytes();
  std::uint64_t bytes = 0;
  if (value.is_texts())
    for (const std::string& text : value.texts().strings) bytes += text.size();
  if (value.is_sequence())
    for (const onnx::Value& one : value.elements()) bytes += bytes_of(one);
  if (value.is_optional() && value.element()) bytes += bytes_of(*value.element());
  if (value.is_map()) bytes += bytes_of(value.keys()) + bytes_of(value.values());
  return bytes;
}

bool is_free(const onnx::Dimension& dimension) { return !dimension.extent.has_value(); }

/// The rows' axis of an input, or why it has none.
Result<std::size_t> axis_in(const onnx::ValueInfo& input, const std::string& rows_symbol) {
  const auto none = [&](const std::string& why) {
    return Error{op, ErrorCode::unsupported, "input '" + input.name + "' " + why};
  };
  const onnx::ValueType& type = input.type;
  if (type.kind != onnx::ValueKind::tensor) return none("is no tensor");
  if (type.element == onnx::ElementType::string) return none("holds texts");
  if (type.element == onnx::ElementType::undefined) return none("may have any element type");
  if (!type.dims) return none("may have any rank");
  const std::vector<onnx::Dimension>& dims = *type.dims;
  if (!rows_symbol.empty()) {
    const auto found = std::ranges::find(dims, rows_symbol, &onnx::Dimension::symbol);
    if (std::ranges::count(dims, rows_symbol, &onnx::Dimension::symbol) > 1)
      return none("has dimension '" + rows_symbol + "' twice");
    if (found != dims.end()) return static_cast<std::size_t>(found - dims.begin());
    return none("has no dimension '" + rows_symbol + "'");
  }
  if (dims.empty() || !is_free(dims.front()) || !dims.front().symbol.empty())
    return none("has no free first dimension");
  return std::size_t{0};
}

}  // namespace

RowLayout RowLayout::of(std::span<const onnx::ValueInfo> inputs) {
  RowLayout layout;
  if (inputs.empty()) {
    layout.keep_apart("the model has no inputs");
    return layout;
  }
  const auto& first = inputs.front().type.dims;
  const bool has_rows = first && !first->empty() && is_free(first->front());
  const std::string symbol = has_rows ? first->front().symbol : std::string{};
  for (const onnx::ValueInfo& input : inputs) {
    const Result<std::size_t> axis = axis_in(input, symbol);
    if (!axis) {
      layout.keep_apart(std::string{axis.error().reason()});
      return layout;
    }
    layout.inputs_.push_back(*axis);
  }
  return layout;
}

bool RowLayout::joins(const onnx::Values& values) const {
  if (std::ranges::none_of(values, &onnx::Value::is_given)) return false;
  return joining_.empty() || std::ranges::any_of(joining_, [&](const std::vector<bool>& given) {
           return std::ranges::equal(given, values, {}, {}, &onnx::Value::is_given);
         });
}

CheckedRequest RowLayout::check(const AnyModel& model, const NamedValues& given) const {
  const std::vector<onnx::ValueInfo>& inputs = model.inputs();
  CheckedRequest request;
  request.values = onnx::checked_inputs(
      op, inputs, [&model](const onnx::ValueInfo& input) { return model.may_lack(input); }, given);
  for (const onnx::Value& value : request.values) request.bytes += bytes_of(value);
  request.signature.reserve(6 * request.values.size());
  if (!joins()) {
    request.apart = true;
    for (const onnx::Value& value : request.values) {
      request.signature.add(value.is_tensor() ? static_cast<std::int64_t>(value.type()) : -1);
      if (!value.is_tensor()) continue;
      request.signature.add(static_cast<std::int64_t>(value.shape().rank()));
      for (std::size_t axis = 0; axis < value.shape().rank(); ++axis)
        request.signature.add(value.shape()[axis]);
    }
    return request;
  }
  const onnx::ValueInfo* counted = nullptr;  // the input that says how many rows there are
  for (std::size_t i = 0; i < request.values.size(); ++i) {
    const onnx::Value& value = request.values[i];
    if (!value.is_given()) {
      request.signature.add(-1);
      continue;
    }
    const Shape& shape = value.shape();
    const std::int64_t rows = shape[inputs_[i]];
    if (counted == nullptr) {
      counted = &inputs[i];
      request.rows = rows;
    }
    if (rows != request.rows || rows == 0)
      throw Error{op,
                  ErrorCode::shape_mismatch,
                  "input '" + inputs[i].name + "' has " + std::to_string(rows) +
                      (rows == 0 ? " rows; at least one is needed"
                                 : " rows, and input '" + counted->name + "' has " +
                                       std::to_string(request.rows)),
                  {{"input", inputs[i].name}, {"came", value.to_string()}}};
    request.signature.add(static_cast<std::int64_t>(value.type()));
    request.signature.add(static_cast<std::int64_t>(shape.rank()));
    for (std::size_t axis = 0; axis < shape.rank(); ++axis)
      if (axis != inputs_[i]) request.signature.add(shape[axis]);
  }
  if (!joins(request.values)) {
    request.apart = true;
    request.signature.add(-2);  // beside no request that joins
    request.signature.add(request.rows);
    request.rows = 1;
  }
  return request;
}

}  // namespace stoker::serve
