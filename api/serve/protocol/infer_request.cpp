#include "stoker/api/serve/protocol/infer_request.hpp"

#include <algorithm>
#include <array>
#include <limits>
#include <utility>

#include "stoker/api/serve/protocol/datatype.hpp"
#include "stoker/api/serve/protocol/input_reader.hpp"
#include "stoker/runtime/base/nearest_name.hpp"

namespace stoker::serve::protocol {
namespace {

void read_id(JsonReader& reader, std::size_t most_bytes, std::string& id) {
  if (reader.null()) return;
  reader.string(id);
  if (id.size() > most_bytes)
    refuse(ErrorCode::limit_exceeded,
           "the id has more than " + std::to_string(most_bytes) + " bytes");
}

void read_timeout(JsonReader& reader, InferRequest& request) {
  // Longer than anybody waits, and short enough to be counted in nanoseconds.
  constexpr std::uint64_t longest = std::uint64_t{1} << 52U;
  const std::uint64_t given = reader.unsigned_integer();
  if (given > 0) request.timeout = std::chrono::microseconds{std::min(given, longest)};
}

/// 0, "" and false say that there is none.
void refuse_sequence(JsonReader& reader, std::string_view parameter) {
  const char first = reader.next();
  const bool is_none = first == 't' || first == 'f' ? !reader.boolean()
                       : first == '"'               ? reader.string().empty()
                                                    : reader.unsigned_integer() == 0;
  if (!is_none)
    refuse(ErrorCode::unsupported, "sequences are not supported: " + in_quotes(parameter));
}

void read_parameters(JsonReader& reader, InferRequest& request) {
  if (reader.null()) return;
  static constexpr std::array<std::string_view, 6> known{
      "binary_data_output", "timeout", "priority", "sequence_id", "sequence_start", "sequence_end"};
  std::uint32_t seen = 0;
  reader.object([&](std::string_view key) {
    const std::size_t place = reader.place_of(key, known, seen);
    if (place == 0) {
      request.binary_outputs = reader.boolean();
    } else if (place == 1) {
      read_timeout(reader, request);
    } else if (place == 2) {
      if (const std::uint64_t level = reader.unsigned_integer(); level > 0)
        request.priority = level;
    } else if (place < known.size()) {
      refuse_sequence(reader, known[place]);
    } else {
      reader.skip_value();
    }
  });
}

void read_output_parameters(JsonReader& reader, RequestedOutput& output) {
  if (reader.null()) return;
  static constexpr std::array<std::string_view, 3> known{"binary_data", "classification",
                                                         "shared_memory_region"};
  std::uint32_t seen = 0;
  reader.object([&](std::string_view key) {
    switch (reader.place_of(key, known, seen)) {
      case 0: output.binary = reader.boolean(); break;
      case 1:
        output.classification = static_cast<std::uint32_t>(std::min<std::uint64_t>(
            reader.unsigned_integer(), std::numeric_limits<std::uint32_t>::max()));
        break;
      case 2: refuse(ErrorCode::unsupported, "outputs in shared memory are not supported");
      default: reader.skip_value();
    }
  });
}

void read_output_entry(JsonReader& reader, const AnyModel& model, InferRequest& request) {
  static constexpr std::array<std::string_view, 2> known{"name", "parameters"};
  RequestedOutput output;
  std::uint32_t seen = 0;
  reader.object([&](std::string_view key) {
    switch (reader.place_of(key, known, seen)) {
      case 0: output.name = reader.string(); break;
      case 1: read_output_parameters(reader, output); break;
      default: reader.skip_value();
    }
  });
  if ((seen & 1U) == 0)
    refuse(ErrorCode::invalid_argument, "an output has no 'name'" + reader.place(reader.at()));
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

void read_outputs(JsonReader& reader, const AnyModel& model, InferRequest& request) {
  if (reader.null()) return;
  reader.list([&] { read_output_entry(reader, model, request); });
}

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

}  // namespace

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

InferRequest read_infer_request(std::span<const std::byte> body,
                                std::optional<std::uint64_t> json_bytes, const AnyModel& model,
                                const BodyLimits& limits) {
  if (json_bytes && *json_bytes > body.size())
    refuse(ErrorCode::invalid_argument, std::string{json_bytes_header} + " is " +
                                            std::to_string(*json_bytes) + ", the body has " +
                                            std::to_string(body.size()) + " bytes");
  const std::size_t split = json_bytes.value_or(body.size());
  std::optional<std::span<const std::byte>> binary;
  if (json_bytes) binary = body.subspan(split);
  const std::string_view json{reinterpret_cast<const char*>(body.data()), split};
  JsonReader reader{
      json, limits.nesting,
      json_bytes ? "; " + std::string{json_bytes_header} + " is " + std::to_string(split) : ""};

  static constexpr std::array<std::string_view, 4> known{"id", "parameters", "inputs", "outputs"};
  InferRequest request;
  InputReader inputs{reader, binary, model, limits.tensor_bytes};
  std::uint32_t seen = 0;
  reader.object([&](std::string_view key) {
    switch (reader.place_of(key, known, seen)) {
      case 0: read_id(reader, limits.id_bytes, request.id); break;
      case 1: read_parameters(reader, request); break;
      case 2: inputs.read(); break;
      case 3: read_outputs(reader, model, request); break;
      default: reader.skip_value();
    }
  });
  reader.finish();
  if ((seen & 4U) == 0) refuse(ErrorCode::invalid_argument, "the request has no 'inputs'");
  request.inputs = std::move(inputs).finish();
  finish_outputs(model, request);
  return request;
}

}  // namespace stoker::serve::protocol
