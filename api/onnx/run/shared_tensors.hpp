// The constants of a device whose bytes lie in files: one value, and so one copy on the device, for all models that
// read the same bytes there.
//
// Ownership: models keep the values. The table forgets what none keeps, so memory comes back with the last model.
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
  /// The value that others have, if the bytes lie at the same place of the same file, unchanged, and are read as the
  /// same type and shape; else a new one. Small ones and those in memory are always new. Throws what Known does.
  [[nodiscard]] std::shared_ptr<const Known> of(const TensorData& data);

 private:
  std::mutex mutex_;
  std::unordered_map<std::string, std::weak_ptr<const Known>> known_;  // guarded by mutex_
  std::size_t most_ = 256;                                             ///< when it is cleaned next
};

}  // namespace stoker::onnx
