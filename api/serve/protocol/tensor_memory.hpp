// Memory of a tensor that is filled element by element.
//
//     TensorMemory memory{device, spec};
//     read(memory.bytes());
//     const Tensor tensor = std::move(memory).tensor();
//
// On devices whose memory the host addresses this is the tensor's own memory; to others it is copied in the end.
//
// Threads: as a value. Errors are thrown: out_of_memory, and those of the device.
#pragma once

#include <cstddef>
#include <memory>
#include <span>

#include "stoker/api/device.hpp"
#include "stoker/api/tensor/core/tensor.hpp"

namespace stoker::serve::protocol {

class TensorMemory {
 public:
  TensorMemory(Device device, const TensorSpec& spec);

  /// The contents are undefined at first.
  [[nodiscard]] std::span<std::byte> bytes() const noexcept;
  [[nodiscard]] Tensor tensor() &&;

 private:
  struct alignas(64) Block {
    std::byte bytes[64];
  };

  Device device_;
  TensorSpec spec_;
  std::shared_ptr<Block[]> blocks_;
};

}  // namespace stoker::serve::protocol
