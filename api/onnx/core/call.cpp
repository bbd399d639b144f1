#include "stoker/api/onnx/core/call.hpp"

#include "stoker/api/tensor/math/elementwise.hpp"

namespace stoker::onnx {

const Value& Call::input(std::size_t i) const {
  if (!has(i)) refuse(ErrorCode::arity_mismatch, "operand " + std::to_string(i) + " is not given");
  return inputs_[i];
}

std::vector<Tensor> Call::tensors() const {
  std::vector<Tensor> all;
  for (const Value& input : inputs_)
    if (input.is_given()) all.push_back(input.tensor());
  return all;
}

std::int64_t Call::integer(std::size_t i) const {
  const Axes all = integers(i);
  if (all.size() != 1)
    refuse(ErrorCode::shape_mismatch,
           "operand " + std::to_string(i) + " must be one number, got " + input(i).to_string());
  return all[0];
}

double Call::real(std::size_t i) const {
  const std::vector<double> all = known(i).to_reals();
  if (all.size() != 1)
    refuse(ErrorCode::shape_mismatch,
           "operand " + std::to_string(i) + " must be one number, got " + input(i).to_string());
  return all[0];
}

std::optional<Axes> Call::integers(std::size_t i, std::string_view attribute) const {
  if (has(i)) return integers(i);
  if (const auto* given = node_.integers(attribute)) return *given;
  return {};
}

Value Call::like(const Tensor& tensor, std::size_t i) const {
  const ElementType wanted = type(i);
  return {as_type(tensor, carrier_of(wanted).value()), wanted};
}

Value Call::condition(const Tensor& tensor) {
  return {as_type(tensor, DType::u8), ElementType::boolean};
}

void Call::refuse(ErrorCode code, std::string reason) const {
  throw Error{node_.operator_name(), code, std::move(reason)};
}

std::int64_t axis_in(std::int64_t axis, std::int64_t rank) {
  const std::int64_t found = axis < 0 ? axis + rank : axis;
  if (found < 0 || found >= rank)
    throw Error{"onnx", ErrorCode::invalid_parameter,
                "axis " + std::to_string(axis) + " of " + std::to_string(rank) + " axes"};
  return found;
}

Axes axes_in(const Axes& axes, std::int64_t rank) {
  Axes found;
  found.reserve(axes.size());
  for (const std::int64_t axis : axes) found.push_back(axis_in(axis, rank));
  return found;
}

Shape shape_of(std::span<const std::int64_t> extents) { return Shape::make(extents, "onnx"); }

Axes extents_of(const Shape& shape) { return {shape.begin(), shape.end()}; }

}  // namespace stoker::onnx
