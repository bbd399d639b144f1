// A handle to a buffer of a device, for the layers above. Code that declares one needs neither the
// device client nor actors.
//
// Ownership: shares the buffer's actor, which keeps its device's client and its state. After the
//            last handle is gone, the memory is freed as soon as the device is done with it.
// Threads: any. Errors: none. For an empty handle only assignment, destruction, comparison and
//            operator bool are allowed.
#pragma once

#include <memory>
#include <utility>

#include "stoker/runtime/base/shape.hpp"

namespace stoker {

template <class A> class ActorRef;
class BufferActor;
class BufferCell;
class DeviceClient;
struct BufferState;

/// A buffer: its actor, which knows its device. Copying it costs one counter.
class DeviceBuffer {
 public:
  DeviceBuffer() = default;
  explicit DeviceBuffer(std::shared_ptr<BufferCell> cell) noexcept : cell_{std::move(cell)} {}

  [[nodiscard]] const std::shared_ptr<DeviceClient>& device() const noexcept;
  [[nodiscard]] const std::shared_ptr<BufferState>& state() const noexcept;
  [[nodiscard]] const TensorSpec& spec() const noexcept;
  /// For Stoker's own layers; callers need the definition of BufferActor.
  [[nodiscard]] ActorRef<BufferActor> actor() const;
  [[nodiscard]] const std::shared_ptr<BufferCell>& cell() const noexcept { return cell_; }
  [[nodiscard]] explicit operator bool() const noexcept { return cell_ != nullptr; }
  /// Whether both refer to the same buffer.
  friend bool operator==(const DeviceBuffer&, const DeviceBuffer&) noexcept = default;

 private:
  std::shared_ptr<BufferCell> cell_;
};

}  // namespace stoker
