#include "stoker/api/serve/row_memory.hpp"

#include <algorithm>
#include <cstring>
#include <memory>

#include "stoker/actors/device/device_client.hpp"
#include "stoker/device/commands/command_scheduler.hpp"

namespace stoker::serve {
namespace {

/// How rows lie in memory: in each of `blocks` blocks one behind the other.
struct Layout {
  Layout(const TensorSpec& spec, std::size_t axis) : rows{spec.shape[axis]} {
    for (std::size_t i = 0; i < axis; ++i) blocks *= static_cast<std::size_t>(spec.shape[i]);
    row_bytes = size_of(spec.dtype);
    for (std::size_t i = axis + 1; i < spec.shape.rank(); ++i)
      row_bytes *= static_cast<std::size_t>(spec.shape[i]);
  }
  /// Where a row of a block begins.
  [[nodiscard]] std::size_t at(std::size_t block, std::int64_t row) const noexcept {
    return (block * static_cast<std::size_t>(rows) + static_cast<std::size_t>(row)) * row_bytes;
  }
  [[nodiscard]] std::size_t bytes(std::int64_t count) const noexcept {
    return static_cast<std::size_t>(count) * row_bytes;
  }

  std::size_t blocks = 1;
  std::int64_t rows;
  std::size_t row_bytes = 0;
};

TensorSpec spec_of(const onnx::Value& value) {
  return value.is_known() ? value.known().spec() : value.tensor().spec();
}

/// Whether the host can read the rows now, without a command.
bool is_at_hand(const RowsOf& part, std::size_t axis) {
  if (part.value->is_known()) return true;
  const Tensor tensor = part.value->tensor();
  if (!tensor.evaluated()) return false;
  const Buffer buffer = tensor.buffer();
  const auto& client = buffer.handle().device();
  return client->info().host_addressable &&
         Layout{tensor.spec(), axis}.bytes(part.rows) <= CommandScheduler::small_copy &&
         client->is_written(buffer.handle(), {});
}

using Staging = std::shared_ptr<std::vector<std::byte>>;

/// False if a part turned out not to be at hand.
bool copy_here(const Staging& all, const Layout& to, std::int64_t at, const RowsOf& part,
               std::size_t axis) {
  const Layout from{spec_of(*part.value), axis};
  const std::size_t bytes = to.bytes(part.rows);
  for (std::size_t block = 0; block < to.blocks; ++block) {
    const std::span<std::byte> target{all->data() + to.at(block, at), bytes};
    if (part.value->is_known()) {
      std::memcpy(target.data(), part.value->known().bytes().data() + from.at(block, part.first),
                  bytes);
      continue;
    }
    const Command read =
        part.value->tensor().buffer().read_bytes_into(target, all, from.at(block, part.first));
    const Result<void>* const outcome = read.future().poll();
    if (outcome == nullptr || outcome->has_error()) return false;
  }
  return true;
}

/// The bytes of all parts and of the padding; null if one of them is not at hand.
Staging gathered(const TensorSpec& spec, std::size_t axis, std::span<const RowsOf> parts) {
  for (const RowsOf& part : parts)
    if (!is_at_hand(part, axis)) return nullptr;
  const Layout to{spec, axis};
  const auto all = std::make_shared<std::vector<std::byte>>(spec.bytes());
  std::int64_t row = 0;
  for (const RowsOf& part : parts) {
    if (!copy_here(all, to, row, part, axis)) return nullptr;
    row += part.rows;
  }
  for (const std::int64_t last = row - 1; row < to.rows; ++row)
    for (std::size_t block = 0; block < to.blocks; ++block)
      std::memcpy(all->data() + to.at(block, row), all->data() + to.at(block, last), to.row_bytes);
  return all;
}

/// The device copies the rows.
Tensor copied(const Device& device, const TensorSpec& spec, std::size_t axis,
              std::span<const RowsOf> parts) {
  const Layout to{spec, axis};
  const Buffer all = device.buffer(spec);
  std::int64_t row = 0;
  const auto put = [&](const RowsOf& part) {
    const Tensor tensor = part.value->tensor();
    const Layout from{tensor.spec(), axis};
    const Buffer source = tensor.buffer();
    for (std::size_t block = 0; block < to.blocks; ++block)
      source.copy_to(all, from.at(block, part.first), to.at(block, row), to.bytes(part.rows));
    row += part.rows;
  };
  std::ranges::for_each(parts, put);
  const RowsOf& last = parts.back();
  while (row < to.rows) put({last.value, last.first + last.rows - 1, 1});
  return Tensor{all};
}

}  // namespace

Tensor joined_rows(const Device& device, const TensorSpec& spec, std::size_t axis,
                   std::span<const RowsOf> parts) {
  if (spec.bytes() == 0) return Tensor{device.buffer(spec)};
  if (const Staging all = gathered(spec, axis, parts)) return Tensor{device.buffer(spec, *all)};
  return copied(device, spec, axis, parts);
}

std::vector<Tensor> cut_rows(const Device& device, const TensorSpec& spec, std::size_t axis,
                             std::span<const std::byte> bytes, std::span<const std::int64_t> rows) {
  const Layout from{spec, axis};
  std::vector<Tensor> all;
  all.reserve(rows.size());
  std::vector<std::byte> part;
  std::int64_t first = 0;
  for (const std::int64_t count : rows) {
    const std::size_t size = from.bytes(count);
    std::span<const std::byte> own = bytes.subspan(from.at(0, first), size);
    if (from.blocks != 1) {
      part.resize(from.blocks * size);
      for (std::size_t block = 0; block < from.blocks && size != 0; ++block)
        std::memcpy(part.data() + block * size, bytes.data() + from.at(block, first), size);
      own = part;
    }
    all.emplace_back(device.buffer({spec.dtype, spec.shape.with(axis, count)}, own));
    first += count;
  }
  return all;
}

}  // namespace stoker::serve
