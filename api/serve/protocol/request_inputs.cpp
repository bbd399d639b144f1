#include "stoker/api/serve/protocol/request_inputs.hpp"

#include <algorithm>
#include <utility>
#include <vector>

#include "stoker/api/serve/protocol/binary_elements.hpp"
#include "stoker/api/serve/protocol/datatype.hpp"
#include "stoker/api/serve/protocol/refusal.hpp"
#include "stoker/api/serve/protocol/tensor_memory.hpp"
#include "stoker/runtime/base/nearest_name.hpp"

namespace stoker::serve::protocol {
namespace {

std::string shown(const ExpectedTensor& tensor) {
  return std::string{datatype_of(tensor.type)} + " " + tensor.shape.to_string();
}

bool fits(const onnx::ValueType& declared, const Shape& shape) {
  if (!declared.dims) return true;
  // A number or a text may come as a list of one.
  if (declared.dims->empty()) return shape.elements() == 1;
  return std::ranges::equal(*declared.dims, shape,
                            [](const onnx::Dimension& dimension, std::int64_t extent) {
                              return dimension.extent.value_or(extent) == extent;
                            });
}

}  // namespace

void refuse_input(ErrorCode code, std::string_view name, const std::string& why) {
  refuse(code, "input " + in_quotes(name) + ": " + why);
}

void RequestInputs::check(const ExpectedTensor& tensor) const {
  const std::vector<onnx::ValueInfo>& inputs = model_.inputs();
  const auto found = std::ranges::find(inputs, tensor.name, &onnx::ValueInfo::name);
  if (found == inputs.end()) {
    std::vector<std::string_view> known;
    known.reserve(inputs.size());
    for (const onnx::ValueInfo& input : inputs) known.emplace_back(input.name);
    refuse(ErrorCode::not_found,
           "the model has no input " + in_quotes(tensor.name) + did_you_mean(tensor.name, known));
  }
  if (inputs_.contains(tensor.name))
    refuse_input(ErrorCode::invalid_argument, tensor.name, "it occurs twice");
  const onnx::ValueType* const declared = tensor_of(found->type);
  const bool has_any_type = declared && declared->element == onnx::ElementType::undefined;
  if (!declared || (!has_any_type && datatype_of(declared->element).empty()))
    refuse_input(ErrorCode::unsupported, tensor.name,
                 "it is " + found->type.to_string() + ", which the protocol cannot express");
  const std::string expected = "expected " + declared_tensor(*declared) + ", came " + shown(tensor);
  if (!has_any_type && declared->element != tensor.type)
    refuse_input(ErrorCode::dtype_mismatch, tensor.name, expected);
  if (!fits(*declared, tensor.shape))
    refuse_input(ErrorCode::shape_mismatch, tensor.name, expected);
}

void RequestInputs::spend(std::uint64_t bytes) {
  if (bytes > bytes_left_)
    refuse(ErrorCode::limit_exceeded,
           "the inputs of the request have more than " + std::to_string(most_bytes_) + " bytes");
  bytes_left_ -= bytes;
}

onnx::Value RequestInputs::made(const ExpectedTensor& tensor,
                                const std::function<void(std::span<std::byte>)>& fill) {
  const TensorSpec spec{*onnx::carrier_of(tensor.type), tensor.shape};
  spend(spec.bytes());
  TensorMemory memory{model_.device(), spec};
  fill(memory.bytes());
  return {std::move(memory).tensor(), tensor.type};
}

onnx::Value RequestInputs::from_binary(const ExpectedTensor& tensor,
                                       std::span<const std::byte> bytes) {
  check_bytes_for(tensor, bytes);
  if (tensor.type != onnx::ElementType::string)
    return made(tensor, [&](std::span<std::byte> into) { read_binary(tensor, bytes, into); });
  spend(bytes.size());
  spend(static_cast<std::uint64_t>(tensor.shape.elements()) * sizeof(std::string));
  return texts(tensor, read_binary_strings(tensor, bytes));
}

onnx::Value RequestInputs::texts(const ExpectedTensor& tensor,
                                 std::vector<std::string> strings) const {
  const auto input = std::ranges::find(model_.inputs(), tensor.name, &onnx::ValueInfo::name);
  const onnx::ValueType* const declared = tensor_of(input->type);
  const bool is_one = declared->dims && declared->dims->empty();
  return onnx::Value{onnx::Texts{is_one ? Shape{} : tensor.shape, std::move(strings)}};
}

void RequestInputs::add(std::string name, onnx::Value value) {
  inputs_.emplace(std::move(name), std::move(value));
}

NamedValues RequestInputs::finish() && {
  for (const onnx::ValueInfo& input : model_.inputs()) {
    if (inputs_.contains(input.name) || model_.may_lack(input)) continue;
    const onnx::ValueType* const tensor = tensor_of(input.type);
    const std::string expected = tensor ? declared_tensor(*tensor) : input.type.to_string();
    refuse(ErrorCode::invalid_argument,
           "input " + in_quotes(input.name) + " (" + expected + ") is missing");
  }
  return std::move(inputs_);
}

}  // namespace stoker::serve::protocol
