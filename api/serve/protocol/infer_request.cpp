#include "stoker/api/serve/protocol/infer_request.hpp"

#include <algorithm>
#include <array>
#include <limits>
#include <utility>

#include "stoker/api/serve/protocol/input_reader.hpp"
#include "stoker/api/serve/protocol/requested_outputs.hpp"

namespace stoker::serve::protocol {
namespace {

void read_id(JsonReader& reader, std::size_t most_bytes, std::string& id) {
  if (reader.null()) return;
  reader.string(id);
  if (id.size() > most_bytes)
    refuse(ErrorCode::limit_exceeded,
           "the id has more than " + std::to_string(most_bytes) + " bytes");
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
      request.set_timeout(reader.unsigned_integer());
    } else if (place == 2) {
      request.set_priority(reader.unsigned_integer());
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
  request_output(model, std::move(output), request);
}

void read_outputs(JsonReader& reader, const AnyModel& model, InferRequest& request) {
  if (reader.null()) return;
  reader.list([&] { read_output_entry(reader, model, request); });
}

}  // namespace

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
