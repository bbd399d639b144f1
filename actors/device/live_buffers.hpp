// Which buffers of a device somebody holds.
//
// Ownership: a list of cells that take themselves out when they end; it keeps none of them.
// Threads: any.
#pragma once

#include <cstddef>
#include <memory>
#include <mutex>
#include <vector>

namespace stoker {

class BufferCell;

/// The buffers of a device that somebody can still reach, so that they end with it.
class LiveBuffers {
 public:
  void add(BufferCell& buffer) noexcept;
  void remove(BufferCell& buffer) noexcept;
  [[nodiscard]] std::vector<std::shared_ptr<BufferCell>> list() const;
  [[nodiscard]] std::size_t size() const noexcept;

 private:
  mutable std::mutex mutex_;
  BufferCell* first_ = nullptr;
  std::size_t size_ = 0;
};

}  // namespace stoker
