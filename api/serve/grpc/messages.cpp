#include "stoker/api/serve/grpc/messages.hpp"

#include <cstdint>
#include <utility>
#include <vector>

#include "stoker/api/serve/protocol/answered_outputs.hpp"
#include "stoker/api/serve/protocol/binary_elements.hpp"
#include "stoker/api/serve/protocol/datatype.hpp"
#include "stoker/pipeline/protobuf/wire_writer.hpp"

namespace stoker::serve::grpc {
namespace {

using protobuf::WireWriter;

/// TensorMetadata of each that the protocol can express.
void append_tensors(WireWriter& message, std::uint64_t field,
                    const std::vector<onnx::ValueInfo>& values) {
  for (const onnx::ValueInfo& value : values) {
    const onnx::ValueType* const tensor = protocol::tensor_of(value.type);
    if (tensor == nullptr || protocol::datatype_of(tensor->element).empty()) continue;
    std::vector<std::int64_t> shape;
    if (tensor->dims) {
      shape.reserve(tensor->dims->size());
      for (const onnx::Dimension& one : *tensor->dims) shape.push_back(one.extent.value_or(-1));
    } else {
      shape.push_back(-1);
    }
    WireWriter entry;
    entry.bytes(1, value.name).bytes(2, protocol::datatype_of(tensor->element)).packed(3, shape);
    message.message(field, entry);
  }
}

/// An InferOutputTensor without its elements.
WireWriter output_tensor(const protocol::AnsweredOutput& output) {
  WireWriter entry;
  entry.bytes(1, output.name)
      .bytes(2, protocol::datatype_of(output.type))
      .packed(3, output.shape.extents());
  return entry;
}

}  // namespace

std::string truth_message(bool truth) {
  WireWriter message;
  if (truth) message.integer(1, 1);
  return std::move(message).written();
}

std::string server_metadata(std::string_view name, std::string_view version,
                            std::span<const std::string_view> extensions) {
  WireWriter message;
  message.bytes(1, name).bytes(2, version);
  for (const std::string_view extension : extensions) message.bytes(3, extension);
  return std::move(message).written();
}

std::string model_metadata(std::string_view name, std::span<const std::string> versions,
                           std::string_view platform, const AnyModel& model) {
  WireWriter message;
  message.bytes(1, name);
  for (const std::string& version : versions) message.bytes(2, version);
  message.bytes(3, platform);
  append_tensors(message, 4, model.inputs());
  append_tensors(message, 5, model.outputs());
  return std::move(message).written();
}

std::string infer_response(const protocol::InferRequest& request, const protocol::ModelLabel& label,
                           const NamedValues& outputs, const protocol::ClassLabels* labels) {
  const std::vector<protocol::AnsweredOutput> answered =
      protocol::answered_outputs(request, outputs, labels);
  WireWriter message;
  message.bytes(1, label.name).bytes(2, label.version);
  if (!request.id.empty()) message.bytes(3, request.id);
  for (const protocol::AnsweredOutput& output : answered) message.message(5, output_tensor(output));
  for (const protocol::AnsweredOutput& output : answered) {
    if (output.type != onnx::ElementType::string) {
      message.bytes(6, output.elements);
      continue;
    }
    std::string strings;
    protocol::append_binary_strings(strings, output.strings);
    message.bytes(6, strings);
  }
  return std::move(message).written();
}

std::string stream_response(std::string_view infer_response) {
  WireWriter message;
  message.bytes(2, infer_response);
  return std::move(message).written();
}

std::string stream_error(std::string_view text) {
  WireWriter message;
  message.bytes(1, text);
  return std::move(message).written();
}

}  // namespace stoker::serve::grpc
