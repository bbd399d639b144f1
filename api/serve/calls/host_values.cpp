#include "stoker/api/serve/calls/host_values.hpp"

#include <cstddef>
#include <utility>
#include <vector>

#include "stoker/actors/device/device_client.hpp"
#include "stoker/api/tensor/core/transfer.hpp"
#include "stoker/runtime/futures/when.hpp"

namespace stoker::serve {
namespace {

/// The value whose tensor must be read for `value`; null: none.
const onnx::Value* lazy_part(const onnx::Value& value) {
  const onnx::Value* const part = value.source() != nullptr ? value.source() : &value;
  return part->is_lazy() ? part : nullptr;
}

onnx::Value with_elements(const onnx::Value& value, std::vector<std::byte> bytes) {
  const onnx::Value& part = *lazy_part(value);
  onnx::Known known{part.type(), part.shape(), std::move(bytes)};
  return value.source() != nullptr ? value.made_of(known) : onnx::Value{std::move(known)};
}

}  // namespace

Future<NamedValues> on_host(const Device& device, const NamedValues& outputs) {
  std::vector<Future<std::vector<std::byte>>> reads;
  for (const auto& [name, value] : outputs)
    if (const onnx::Value* const part = lazy_part(value))
      reads.push_back(part->tensor().buffer().read_bytes());
  if (reads.empty()) return make_ready_future<NamedValues>(outputs);
  return when_all(std::move(reads))
      .then(device.client()->executor(),
            [outputs](
                const Result<std::vector<std::vector<std::byte>>>& bytes) -> Result<NamedValues> {
              if (!bytes) return bytes.error();
              auto next = bytes->begin();
              NamedValues known;
              for (const auto& [name, value] : outputs)
                known.emplace(name,
                              lazy_part(value) != nullptr ? with_elements(value, *next++) : value);
              return known;
            });
}

}  // namespace stoker::serve
