#include "stoker/api/serve/grpc/request_message.hpp"

#include <algorithm>
#include <limits>
#include <optional>
#include <utility>
#include <vector>

#include "stoker/api/serve/grpc/tensor_contents.hpp"
#include "stoker/api/serve/protocol/datatype.hpp"
#include "stoker/api/serve/protocol/refusal.hpp"
#include "stoker/api/serve/protocol/request_inputs.hpp"
#include "stoker/api/serve/protocol/requested_outputs.hpp"

namespace stoker::serve::grpc {
namespace {

using protobuf::Progress;
using protobuf::Wire;
using protocol::ExpectedTensor;
using protocol::in_quotes;
using protocol::refuse;
using Bytes = std::span<const std::byte>;

Progress progress_of(Bytes message) { return Progress{message, "message", "infer"}; }

void refuse_damage(const Progress& progress) {
  if (!progress.stopped()) return;
  refuse(ErrorCode::invalid_argument,
         "the message is no protobuf message: " + std::string{progress.why()->reason()} +
             " (byte " + std::string{progress.why()->detail("byte")} + ")");
}

/// An InferParameter.
struct Parameter {
  std::string_view name = {};
  std::optional<std::int64_t> number = {};
  std::optional<bool> truth = {};
  std::optional<std::string_view> text = {};

  /// As a count; 0 if it is none. Refuses negative numbers and other types.
  [[nodiscard]] std::uint64_t count() const {
    if (!number || *number < 0)
      refuse(ErrorCode::invalid_argument,
             "the parameter " + in_quotes(name) + " is no number of 0 or more");
    return static_cast<std::uint64_t>(*number);
  }
  /// 0, "" and false, which say that there is none.
  [[nodiscard]] bool is_none() const {
    return number.value_or(0) == 0 && !truth.value_or(false) && text.value_or("").empty();
  }
};

/// An entry of a map of parameters.
Parameter read_parameter(Bytes entry, Progress& progress) {
  Parameter parameter;
  Wire wire{entry, progress};
  Bytes content;
  while (wire.next()) {
    if (wire.number() == 1) parameter.name = wire.text();
    if (wire.number() == 2) content = wire.bytes();
  }
  Wire value{content, progress};
  while (value.next()) {
    switch (value.number()) {
      case 1: parameter.truth = value.varint() != 0; break;
      case 2:
      case 5:  // int64_param and uint64_param: more than an int64 has is no timeout nor level
        parameter.number = value.integer();
        break;
      case 3: parameter.text = value.text(); break;
      default: break;
    }
  }
  return parameter;
}

void apply(const Parameter& parameter, protocol::InferRequest& request) {
  if (parameter.name == "timeout") {
    request.set_timeout(parameter.count());
  } else if (parameter.name == "priority") {
    request.set_priority(parameter.count());
  } else if (parameter.name == "sequence_id" || parameter.name == "sequence_start" ||
             parameter.name == "sequence_end") {
    if (!parameter.is_none())
      refuse(ErrorCode::unsupported, "sequences are not supported: " + in_quotes(parameter.name));
  }
}

/// An InferInputTensor, its elements where they lie.
struct Input {
  std::string_view name = {};
  std::string_view datatype = {};
  std::vector<std::int64_t> shape = {};
  Bytes contents = {};
};

Input read_input(Bytes message, Progress& progress) {
  Input input;
  input.shape.reserve(Shape::max_rank);
  Wire wire{message, progress};
  while (wire.next()) {
    switch (wire.number()) {
      case 1: input.name = wire.text(); break;
      case 2: input.datatype = wire.text(); break;
      case 3:
        if (input.shape.size() + wire.count_integers() > Shape::max_rank)
          refuse(ErrorCode::limit_exceeded,
                 "a shape has more than " + std::to_string(Shape::max_rank) + " dimensions");
        wire.integers(input.shape);
        break;
      case 4:
        if (read_parameter(wire.bytes(), progress).name == "shared_memory_region")
          refuse(ErrorCode::unsupported, "inputs in shared memory are not supported");
        break;
      case 5: input.contents = wire.bytes(); break;
      default: break;
    }
  }
  return input;
}

ExpectedTensor tensor_of(const Input& input) {
  const std::optional<onnx::ElementType> type = protocol::parse_datatype(input.datatype);
  if (!type)
    protocol::refuse_input(ErrorCode::dtype_mismatch, input.name,
                           "the datatype " + protocol::unknown_datatype(input.datatype));
  if (std::ranges::any_of(input.shape, [](std::int64_t extent) { return extent < 0; }))
    protocol::refuse_input(ErrorCode::invalid_argument, input.name,
                           "its shape has a negative dimension");
  const Result<Shape> shape = Shape::try_make(input.shape);
  if (!shape)
    protocol::refuse_input(ErrorCode::invalid_argument, input.name,
                           "the dimensions of its shape multiply to too many elements");
  return {input.name, *type, *shape};
}

protocol::RequestedOutput read_output(Bytes message, Progress& progress) {
  protocol::RequestedOutput output;
  Wire wire{message, progress};
  while (wire.next()) {
    if (wire.number() == 1) output.name = wire.text();
    if (wire.number() != 2) continue;
    const Parameter parameter = read_parameter(wire.bytes(), progress);
    if (parameter.name == "classification")
      output.classification = static_cast<std::uint32_t>(
          std::min<std::uint64_t>(parameter.count(), std::numeric_limits<std::uint32_t>::max()));
    if (parameter.name == "shared_memory_region")
      refuse(ErrorCode::unsupported, "outputs in shared memory are not supported");
  }
  return output;
}

class RequestReader {
 public:
  RequestReader(Bytes message, const AnyModel& model, const protocol::BodyLimits& limits)
      : message_{message},
        model_{model},
        limits_{limits},
        progress_{progress_of(message)},
        inputs_{model, limits.tensor_bytes} {
    inputs_that_came_.reserve(model.inputs().size());
    raw_.reserve(model.inputs().size());
  }

  [[nodiscard]] protocol::InferRequest read() && {
    request_.binary_outputs = true;
    Wire wire{message_, progress_};
    while (wire.next()) read_field(wire);
    refuse_damage(progress_);
    if (!raw_.empty() && raw_.size() != inputs_that_came_.size())
      refuse(ErrorCode::invalid_argument, "raw_input_contents has " + std::to_string(raw_.size()) +
                                              " elements for " +
                                              std::to_string(inputs_that_came_.size()) + " inputs");
    for (std::size_t i = 0; i < inputs_that_came_.size(); ++i) fill(i);
    refuse_damage(progress_);
    request_.inputs = std::move(inputs_).finish();
    protocol::finish_outputs(model_, request_);
    return std::move(request_);
  }

 private:
  void read_field(Wire& wire) {
    switch (wire.number()) {
      case 3:
        request_.id = wire.text();
        if (request_.id.size() > limits_.id_bytes)
          refuse(ErrorCode::limit_exceeded,
                 "the id has more than " + std::to_string(limits_.id_bytes) + " bytes");
        break;
      case 4: apply(read_parameter(wire.bytes(), progress_), request_); break;
      case 5: add_within(inputs_that_came_, wire.bytes()); break;
      case 6:
        protocol::request_output(model_, read_output(wire.bytes(), progress_), request_);
        break;
      case 7: add_within(raw_, wire.bytes()); break;
      default: break;
    }
  }

  /// A message of many empty inputs must not need memory for each.
  void add_within(std::vector<Bytes>& list, Bytes one) const {
    if (list.size() == model_.inputs().size())
      refuse(ErrorCode::invalid_argument, "the request has more inputs than the model, which has " +
                                              std::to_string(model_.inputs().size()));
    list.push_back(one);
  }

  void fill(std::size_t place) {
    const Input input = read_input(inputs_that_came_[place], progress_);
    refuse_damage(progress_);
    const ExpectedTensor tensor = tensor_of(input);
    inputs_.check(tensor);
    if (raw_.empty())
      return inputs_.add(std::string{input.name},
                         read_contents(input.contents, progress_, tensor, inputs_));
    if (!has_no_elements(Wire{input.contents, progress_}))
      protocol::refuse_input(ErrorCode::invalid_argument, input.name,
                             "it has contents, and the request has raw_input_contents");
    inputs_.add(std::string{input.name}, inputs_.from_binary(tensor, raw_[place]));
  }

  const Bytes message_;
  const AnyModel& model_;
  const protocol::BodyLimits& limits_;
  Progress progress_;
  protocol::RequestInputs inputs_;
  std::vector<Bytes> inputs_that_came_;
  std::vector<Bytes> raw_;
  protocol::InferRequest request_;
};

}  // namespace

ModelAddress read_address(Bytes message) {
  Progress progress = progress_of(message);
  ModelAddress address;
  Wire wire{message, progress};
  while (wire.next()) {
    if (wire.number() == 1) address.name = wire.text();
    if (wire.number() == 2) address.version = wire.text();
  }
  refuse_damage(progress);
  return address;
}

protocol::InferRequest read_request(Bytes message, const AnyModel& model,
                                    const protocol::BodyLimits& limits) {
  return RequestReader{message, model, limits}.read();
}

}  // namespace stoker::serve::grpc
