#include "stoker/api/serve/protocol/requested_outputs.hpp"

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "stoker/api/serve/protocol/datatype.hpp"
#include "stoker/api/serve/protocol/refusal.hpp"
#include "stoker/runtime/base/nearest_name.hpp"

namespace stoker::serve::protocol {
namespace {

/// Whether the protocol has a form for it, as far as the declaration says.
bool is_expressible(const onnx::ValueInfo& output) {
  const onnx::ValueType* const tensor = tensor_of(output.type);
  return tensor &&
         (tensor->element == onnx::ElementType::undefined || !datatype_of(tensor->element).empty());
}

/// Refuses what cannot be answered before anything is computed.
void check_output(const InferRequest& request, const RequestedOutput& output,
                  const onnx::ValueInfo& declared) {
  const std::string which = "output " + in_quotes(output.name);
  if (!is_expressible(declared))
    refuse(ErrorCode::unsupported,
           which + " is " + declared.type.to_string() + ", which the protocol cannot express");
  check_form(request, output, tensor_of(declared.type)->element);
}

}  // namespace

void request_output(const AnyModel& model, RequestedOutput output, InferRequest& request) {
  const std::vector<onnx::ValueInfo>& outputs = model.outputs();
  if (std::ranges::find(outputs, output.name, &onnx::ValueInfo::name) == outputs.end()) {
    std::vector<std::string_view> names;
    names.reserve(outputs.size());
    for (const onnx::ValueInfo& one : outputs) names.emplace_back(one.name);
    refuse(ErrorCode::not_found,
           "the model has no output " + in_quotes(output.name) + did_you_mean(output.name, names));
  }
  if (std::ranges::find(request.outputs, output.name, &RequestedOutput::name) !=
      request.outputs.end())
    refuse(ErrorCode::invalid_argument, "output " + in_quotes(output.name) + " occurs twice");
  request.outputs.push_back(std::move(output));
}

void finish_outputs(const AnyModel& model, InferRequest& request) {
  request.names_outputs = !request.outputs.empty();
  if (!request.names_outputs) {
    request.outputs.reserve(model.outputs().size());
    for (const onnx::ValueInfo& output : model.outputs())
      if (is_expressible(output)) request.outputs.push_back({.name = output.name});
  }
  for (const RequestedOutput& output : request.outputs)
    check_output(request, output,
                 *std::ranges::find(model.outputs(), output.name, &onnx::ValueInfo::name));
}

void check_form(const InferRequest& request, const RequestedOutput& output,
                onnx::ElementType type) {
  const std::string which =
      "output " + in_quotes(output.name) + " is " + std::string{datatype_of(type)};
  const bool has_classes = type != onnx::ElementType::string && type != onnx::ElementType::boolean;
  if (output.classification > 0 && !has_classes)
    refuse(ErrorCode::invalid_argument, which + ", which has no classes");
  if (output.classification == 0 && !has_json(type) && !request.is_binary(output))
    refuse(ErrorCode::invalid_argument,
           which + ", which has no form in JSON; ask for it with binary_data");
}

}  // namespace stoker::serve::protocol
