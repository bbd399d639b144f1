// The constants of a loaded model, and what nodes make of nothing but constants: once, for all its plans.
//
// Threads: any. Lifetime: tensors of the file are told apart by address, so the file outlives this.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <unordered_map>
#include <utility>

#include "stoker/api/onnx/core/value.hpp"
#include "stoker/pipeline/onnx/graph/graph.hpp"

namespace stoker::onnx {

class Constants {
 public:
  /// The value of a tensor of the file; the same each time, so that it is copied to the device once.
  [[nodiscard]] Value of(const TensorData& data);
  /// What a node whose operands are all constant gave before.
  [[nodiscard]] std::optional<Values> folded(const Node& node);
  void keep(const Node& node, Values results);
  /// What the node's rule makes of constant operands before it computes with them: made at the first call, and again
  /// after its device was lost. `part` tells apart what one node prepares.
  [[nodiscard]] Tensor prepared(const Node& node, std::size_t part,
                                const std::function<Tensor()>& make);
  /// Of all that lies on a device, each buffer once.
  [[nodiscard]] std::uint64_t device_bytes() const;

 private:
  mutable std::mutex mutex_;
  std::unordered_map<const TensorData*, Value> values_;            // guarded by mutex_
  std::unordered_map<const Node*, Values> folded_;                 // guarded by mutex_
  std::map<std::pair<const Node*, std::size_t>, Value> prepared_;  // guarded by mutex_
};

}  // namespace stoker::onnx
