// Values in files of their own, written and read again: the first byte says of which kind.
#include <array>

#include "onnx_parts.hpp"
#include "stoker/pipeline/onnx/reading/value_reader.hpp"
#include "stoker/pipeline/onnx/writing/value_writer.hpp"

namespace stoker::fuzz::onnx_value {
namespace {

using namespace stoker::onnx;

void check(const ValueData& value) {
  if (const auto* const tensor = std::get_if<TensorData>(&value.content)) check_tensor(*tensor);
  if (const auto* const list = std::get_if<SequenceValue>(&value.content))
    for (const ValueData& each : list->elements) check(each);
  if (const auto* const optional = std::get_if<OptionalValue>(&value.content)) {
    require(optional->element.size() < 2, "an optional has one value at most");
    for (const ValueData& each : optional->element) check(each);
  }
  if (const auto* const map = std::get_if<MapValue>(&value.content)) {
    require(map->keys.size() == map->values.size(), "a map has a value for each key");
    for (const ValueData& each : map->values) check(each);
  }
}

}  // namespace

void run(Bytes bytes) {
  static constexpr std::array kinds{ValueKind::tensor, ValueKind::sequence, ValueKind::optional,
                                    ValueKind::map};
  if (bytes.empty()) return;
  const ValueKind kind = kinds[std::to_integer<std::size_t>(bytes[0]) % kinds.size()];
  const ReadLimits limits{.items = 1U << 16U, .nesting = 16, .dense_bytes = 1U << 20U};
  const auto value =
      accepted([&] { return read_value(bytes.subspan(1), kind, {.limits = limits}).value(); });
  if (!value) return;
  check(*value);
  const std::string written = write_value(*value).written();
  const auto again = read_value(std::as_bytes(std::span{written}), kind, {.limits = limits});
  require(again && write_value(*again).written() == written, "what is written is read again");
}

}  // namespace stoker::fuzz::onnx_value
