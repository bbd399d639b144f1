#include "stoker/api/serve/protocol/tensor_memory.hpp"

#include <new>
#include <utility>

namespace stoker::serve::protocol {

TensorMemory::TensorMemory(Device device, const TensorSpec& spec)
    : device_{std::move(device)}, spec_{spec} {
  if (spec.bytes() == 0) return;
  try {
    blocks_ = std::make_unique_for_overwrite<Block[]>((spec.bytes() - 1) / sizeof(Block) + 1);
  } catch (const std::bad_alloc&) {
    throw out_of_memory_error();
  }
}

std::span<std::byte> TensorMemory::bytes() const noexcept {
  return {reinterpret_cast<std::byte*>(blocks_.get()), spec_.bytes()};
}

Tensor TensorMemory::tensor() && {
  const std::span<std::byte> filled = bytes();
  if (filled.empty()) return Tensor{device_.buffer(spec_)};
  if (device_.info().host_addressable)
    return Tensor{device_.adopt(spec_, filled, std::move(blocks_))};
  return Tensor{device_.buffer(spec_, filled)};
}

}  // namespace stoker::serve::protocol
