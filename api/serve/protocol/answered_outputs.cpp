#include "stoker/api/serve/protocol/answered_outputs.hpp"

#include <algorithm>
#include <utility>

#include "stoker/api/serve/protocol/datatype.hpp"
#include "stoker/api/serve/protocol/refusal.hpp"
#include "stoker/api/serve/protocol/requested_outputs.hpp"

namespace stoker::serve::protocol {
namespace {

/// Elements that the host reads, and what keeps their memory. It may be moved.
struct HostElements {
  TensorSpec spec = {};
  std::span<const std::byte> bytes = {};
  std::shared_ptr<const void> owner = {};
};

HostElements elements_of(const onnx::Value& value) {
  if (value.is_known()) {
    const auto known = std::make_shared<const onnx::Known>(value.known());
    return {known->spec(), known->bytes(), known};
  }
  const Buffer buffer = value.tensor().buffer();
  if (buffer.device().info().host_addressable) {
    HostView view = buffer.host_view();
    return {buffer.spec(), view.bytes, std::move(view.owner)};
  }
  const auto copied = std::make_shared<const std::vector<std::byte>>(buffer.read_bytes().get());
  return {buffer.spec(), *copied, copied};
}

/// The value of an output, or of an optional one that has a value; otherwise null.
const onnx::Value* value_in(const onnx::Value& output) {
  if (output.is_optional()) return output.element();
  return output.is_given() ? &output : nullptr;
}

bool is_expressible(const onnx::Value& value) {
  return value.is_texts() || (value.is_tensor() && !datatype_of(value.type()).empty());
}

AnsweredOutput strings_of(const RequestedOutput& output, bool binary, Shape shape,
                          std::span<const std::string> strings, std::shared_ptr<const void> owner) {
  return {.name = output.name,
          .type = onnx::ElementType::string,
          .shape = std::move(shape),
          .binary = binary,
          .strings = strings,
          .owner = std::move(owner)};
}

std::span<const std::string> labels_of(const std::string& output, const ClassLabels* labels) {
  if (labels == nullptr) return {};
  const auto found = labels->find(output);
  return found == labels->end() ? std::span<const std::string>{} : found->second;
}

AnsweredOutput answered(const InferRequest& request, const RequestedOutput& output,
                        const onnx::Value& value, const ClassLabels* labels) {
  const bool binary = request.is_binary(output);
  if (value.is_texts()) {
    check_form(request, output, onnx::ElementType::string);
    return strings_of(output, binary, value.texts().shape, value.texts().strings, {});
  }
  check_form(request, output, value.type());
  HostElements elements = elements_of(value);
  if (output.classification > 0) {
    const auto classes = std::make_shared<const Classes>(classes_of(
        elements.spec, elements.bytes, output.classification, labels_of(output.name, labels)));
    return strings_of(output, binary, classes->shape, classes->strings, classes);
  }
  return {.name = output.name,
          .type = value.type(),
          .shape = elements.spec.shape,
          .binary = binary,
          .elements = elements.bytes,
          .owner = std::move(elements.owner)};
}

/// An output that the client has named.
AnsweredOutput answered_by_name(const InferRequest& request, const RequestedOutput& output,
                                const NamedValues& outputs, const ClassLabels* labels) {
  const auto found = outputs.find(output.name);
  const onnx::Value* const value = found == outputs.end() ? nullptr : value_in(found->second);
  if (value == nullptr)
    refuse(ErrorCode::not_found, "the model has given no output " + in_quotes(output.name));
  if (!is_expressible(*value))
    refuse(ErrorCode::unsupported, "output " + in_quotes(output.name) + " is " +
                                       value->to_string() + ", which the protocol cannot express");
  return answered(request, output, *value, labels);
}

}  // namespace

std::vector<AnsweredOutput> answered_outputs(const InferRequest& request,
                                             const NamedValues& outputs,
                                             const ClassLabels* labels) {
  std::vector<AnsweredOutput> all;
  all.reserve(std::max(request.outputs.size(), outputs.size()));
  const auto add_if_expressible = [&](const RequestedOutput& output, const onnx::Value& held) {
    const onnx::Value* const value = value_in(held);
    if (value != nullptr && is_expressible(*value))
      all.push_back(answered(request, output, *value, labels));
  };
  if (request.outputs.empty())
    for (const auto& [name, value] : outputs) add_if_expressible({.name = name}, value);
  for (const RequestedOutput& output : request.outputs) {
    if (request.names_outputs) {
      all.push_back(answered_by_name(request, output, outputs, labels));
    } else if (const auto found = outputs.find(output.name); found != outputs.end()) {
      add_if_expressible(output, found->second);
    }
  }
  return all;
}

}  // namespace stoker::serve::protocol
