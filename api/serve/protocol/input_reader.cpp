#include "stoker/api/serve/protocol/input_reader.hpp"

#include <algorithm>
#include <array>
#include <utility>
#include <vector>

#include "stoker/api/serve/protocol/datatype.hpp"
#include "stoker/api/serve/protocol/refusal.hpp"

namespace stoker::serve::protocol {

InputReader::InputReader(JsonReader& reader, std::optional<std::span<const std::byte>> binary,
                         const AnyModel& model, std::uint64_t most_bytes) noexcept
    : reader_{reader}, binary_{binary}, inputs_{model, most_bytes} {}

void InputReader::read() {
  reader_.list([this] { read_entry(); });
}

NamedValues InputReader::finish() && {
  NamedValues inputs = std::move(inputs_).finish();
  if (binary_ && !binary_->empty())
    refuse(ErrorCode::invalid_argument,
           std::to_string(binary_->size()) + " bytes follow the last binary tensor; do " +
               json_bytes_header + " and each binary_data_size add up?");
  return inputs;
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
  inputs_.add(std::move(*entry.name), std::move(entry.value));
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
  inputs_.check(tensor);
  entry.value =
      entry.binary_size ? from_binary(tensor, *entry.binary_size) : from_json(tensor, entry.data);
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
    inputs_.spend(count * sizeof(std::string));
    std::vector<std::string> strings = read_strings(reader_, tensor, inputs_.bytes_left());
    for (const std::string& one : strings) inputs_.spend(one.size());
    value = inputs_.texts(tensor, std::move(strings));
  } else {
    value = inputs_.made(tensor,
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
  onnx::Value value = inputs_.from_binary(tensor, bytes);
  binary_ = binary_->subspan(size);
  return value;
}

}  // namespace stoker::serve::protocol
