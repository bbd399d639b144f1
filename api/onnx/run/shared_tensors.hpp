// The constants of a device whose bytes are in files: one value, and so one copy on the device, for all models that
// read the same bytes.
//
// Ownership: models keep the values alive; the table does not. So the memory is freed with the last model.
// Threads: any. Made by a device's DeviceExtensions.
#pragma once

#include <memory>
#include <mutex>
#include <string>
#include <unordered_map>

#include "stoker/api/onnx/core/known.hpp"

namespace stoker::onnx {

class SharedTensors {
 public:
  /// The existing value if the bytes are at the same place of the same unchanged file and are read as the same type
  /// and shape; otherwise a new one. Values of less than 4 KiB and those in memory are always new. Throws the errors
  /// of Known.
  [[nodiscard]] std::shared_ptr<const Known> of(const TensorData& data);

 private:
  std::mutex mutex_;
  std::unordered_map<std::string, std::weak_ptr<const Known>> known_;  // guarded by mutex_
  /// The size at which expired entries are removed next.
  std::size_t most_ = 256;
};

}  // namespace stoker::onnx
