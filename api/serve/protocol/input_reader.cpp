#include "stoker/api/serve/protocol/input_reader.hpp"

#include <algorithm>
#include <array>
#include <utility>
#include <vector>

#include "stoker/api/serve/protocol/binary_elements.hpp"
#include "stoker/api/serve/protocol/datatype.hpp"
#include "stoker/api/serve/protocol/tensor_memory.hpp"
#include "stoker/runtime/base/nearest_name.hpp"

namespace stoker::serve::protocol {
namespace {

std::string shown(const ExpectedTensor& tensor) {
  return std::string{datatype_of(tensor.type)} + " " + tensor.shape.to_string();
}

[[noreturn]] void refuse_input(ErrorCode code, std::string_view name, const std::string& why) {
  refuse(code, "input " + in_quotes(name) + ": " + why);
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

/// The shape that the model gets: where it declares a number or a text, a list of one is that one.
Shape as_declared(const std::vector<onnx::ValueInfo>& inputs, const ExpectedTensor& tensor) {
  const auto input = std::ranges::find(inputs, tensor.name, &onnx::ValueInfo::name);
  const onnx::ValueType* const declared = tensor_of(input->type);
  return declared->dims && declared->dims->empty() ? Shape{} : tensor.shape;
}

/// `bytes` that can be filled are those of the tensor's own memory.
template <class Fill>
onnx::Value made(const Device& device, const ExpectedTensor& tensor, Fill&& fill) {
  TensorMemory memory{device, {*onnx::carrier_of(tensor.type), tensor.shape}};
  fill(memory.bytes());
  return {std::move(memory).tensor(), tensor.type};
}

}  // namespace

InputReader::InputReader(JsonReader& reader, std::optional<std::span<const std::byte>> binary,
                         const AnyModel& model, std::uint64_t most_bytes) noexcept
    : reader_{reader},
      binary_{binary},
      model_{model},
      most_bytes_{most_bytes},
      bytes_left_{most_bytes} {}

void InputReader::read() {
  reader_.list([this] { read_entry(); });
}

NamedValues InputReader::finish() && {
  for (const onnx::ValueInfo& input : model_.inputs()) {
    if (inputs_.contains(input.name) || model_.may_lack(input)) continue;
    const onnx::ValueType* const tensor = tensor_of(input.type);
    const std::string expected = tensor ? declared_tensor(*tensor) : input.type.to_string();
    refuse(ErrorCode::invalid_argument,
           "input " + in_quotes(input.name) + " (" + expected + ") is missing");
  }
  if (binary_ && !binary_->empty())
    refuse(ErrorCode::invalid_argument,
           std::to_string(binary_->size()) + " bytes follow the last binary tensor; do " +
               json_bytes_header + " and each binary_data_size add up?");
  return std::move(inputs_);
}

void InputReader::read_entry() {
  static constexpr std::array<std::string_view, 5> known{"name", "shape", "datatype", "parameters",
                                                         "data"};
  Entry entry;
  std::uint32_t seen = 0;
  reader_.object([&](std::string_view key) {
    switch (reader_.place_of(key, known, seen)) {
      case 0: entry.name = reader_.string(); break;
      case 1: entry.shape = read_shape(); break;
      case 2: entry.type = read_datatype(); break;
      case 3: read_parameters(entry); break;
      case 4: read_data(entry); break;
      default: reader_.skip_value();
    }
  });
  const auto require = [&](bool is_there, const char* key) {
    if (is_there) return;
    refuse(ErrorCode::invalid_argument,
           (entry.name ? "input " + in_quotes(*entry.name) : "an input") + " has no '" + key + "'" +
               reader_.place(reader_.at()));
  };
  require(entry.name.has_value(), "name");
  require(entry.shape.has_value(), "shape");
  require(entry.type.has_value(), "datatype");
  require(entry.data != nullptr || entry.binary_size, "data");
  if (entry.data != nullptr && entry.binary_size)
    refuse_input(ErrorCode::invalid_argument, *entry.name,
                 "it has both 'data' and 'binary_data_size'");
  if (!entry.value.is_given()) fill(entry);
  inputs_.emplace(std::move(*entry.name), std::move(entry.value));
}

Shape InputReader::read_shape() {
  std::vector<std::int64_t> extents;
  extents.reserve(Shape::max_rank);
  reader_.list([&] {
    if (reader_.next() == '-')
      refuse(ErrorCode::invalid_argument,
             "a shape has a negative dimension" + reader_.place(reader_.at()));
    if (extents.size() == Shape::max_rank)
      refuse(ErrorCode::limit_exceeded, "a shape has more than " + std::to_string(Shape::max_rank) +
                                            " dimensions" + reader_.place(reader_.at()));
    constexpr std::uint64_t too_much = std::uint64_t{1} << 60U;  // for Shape
    extents.push_back(static_cast<std::int64_t>(std::min(reader_.unsigned_integer(), too_much)));
  });
  const Result<Shape> shape = Shape::try_make(extents);
  if (!shape)
    refuse(ErrorCode::invalid_argument,
           "the dimensions of a shape multiply to too many elements" + reader_.place(reader_.at()));
  return *shape;
}

onnx::ElementType InputReader::read_datatype() {
  const std::string_view name = reader_.string();
  const std::optional<onnx::ElementType> type = parse_datatype(name);
  if (!type)
    refuse(ErrorCode::dtype_mismatch,
           "the datatype " + unknown_datatype(name) + reader_.place(reader_.at()));
  return *type;
}

void InputReader::read_parameters(Entry& entry) {
  if (reader_.null()) return;
  static constexpr std::array<std::string_view, 2> known{"binary_data_size",
                                                         "shared_memory_region"};
  std::uint32_t seen = 0;
  reader_.object([&](std::string_view key) {
    switch (reader_.place_of(key, known, seen)) {
      case 0: entry.binary_size = reader_.unsigned_integer(); break;
      case 1: refuse(ErrorCode::unsupported, "inputs in shared memory are not supported");
      default: reader_.skip_value();
    }
  });
}

void InputReader::read_data(Entry& entry) {
  if (reader_.null()) return;
  static_cast<void>(reader_.next());
  entry.data = reader_.at();
  if (entry.name && entry.shape && entry.type && !entry.binary_size)
    fill(entry);
  else
    reader_.skip_value();
}

void InputReader::fill(Entry& entry) {
  const ExpectedTensor tensor{*entry.name, *entry.type, *entry.shape};
  check_declared(tensor);
  entry.value =
      entry.binary_size ? from_binary(tensor, *entry.binary_size) : from_json(tensor, entry.data);
}

void InputReader::check_declared(const ExpectedTensor& tensor) const {
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

onnx::Value InputReader::from_json(const ExpectedTensor& tensor, const char* data) {
  if (!has_json(tensor.type))
    refuse_input(ErrorCode::invalid_argument, tensor.name,
                 std::string{datatype_of(tensor.type)} +
                     " has no form in JSON; send it in binary, with binary_data_size");
  const char* const after = reader_.at();  // the data, if they were skipped
  reader_.move_to(data);
  check_text_for(reader_, tensor);
  onnx::Value value;
  if (tensor.type == onnx::ElementType::string) {
    const auto count = static_cast<std::uint64_t>(tensor.shape.elements());
    spend(count * sizeof(std::string));
    onnx::Texts texts{as_declared(model_.inputs(), tensor),
                      read_strings(reader_, tensor, bytes_left_)};
    for (const std::string& one : texts.strings) spend(one.size());
    value = onnx::Value{std::move(texts)};
  } else {
    spend(TensorSpec{*onnx::carrier_of(tensor.type), tensor.shape}.bytes());
    value = made(model_.device(), tensor,
                 [&](std::span<std::byte> into) { read_elements(reader_, tensor, into); });
  }
  reader_.move_to(std::max(after, reader_.at()));
  return value;
}

onnx::Value InputReader::from_binary(const ExpectedTensor& tensor, std::uint64_t size) {
  if (!binary_)
    refuse_input(
        ErrorCode::invalid_argument, tensor.name,
        "it has binary_data_size, and the request has no header " + std::string{json_bytes_header});
  if (size > binary_->size())
    refuse_input(ErrorCode::invalid_argument, tensor.name,
                 "binary_data_size is " + std::to_string(size) + ", and only " +
                     std::to_string(binary_->size()) +
                     " bytes are left behind the JSON and the tensors before it");
  const std::span<const std::byte> bytes = binary_->first(size);
  check_bytes_for(tensor, bytes);
  binary_ = binary_->subspan(size);
  spend(size);
  if (tensor.type != onnx::ElementType::string)
    return made(model_.device(), tensor,
                [&](std::span<std::byte> into) { read_binary(tensor, bytes, into); });
  spend(static_cast<std::uint64_t>(tensor.shape.elements()) * sizeof(std::string));
  return onnx::Value{
      onnx::Texts{as_declared(model_.inputs(), tensor), read_binary_strings(tensor, bytes)}};
}

void InputReader::spend(std::uint64_t bytes) {
  if (bytes > bytes_left_)
    refuse(ErrorCode::limit_exceeded,
           "the inputs of the request have more than " + std::to_string(most_bytes_) + " bytes");
  bytes_left_ -= bytes;
}

}  // namespace stoker::serve::protocol
