// The constants of a loaded graph, and what nodes make of nothing but constants: once, for all plans of all models that
// share the graph.
//
// Threads: any. Lifetime: tensors of the file are told apart by address, so the file outlives this.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <unordered_map>
#include <utility>
#include <vector>

#include "stoker/api/onnx/core/value.hpp"
#include "stoker/pipeline/onnx/graph/graph.hpp"

namespace stoker::onnx {

class Constants {
 public:
  /// The value of a tensor of the file; the same each time, so that it is copied to the device once. Graphs of the
  /// device of the DeviceScope that read the same bytes of a file share it.
  [[nodiscard]] Value of(const TensorData& data);
  /// What a node whose operands are all constant gave before.
  [[nodiscard]] std::optional<Values> folded(const Node& node);
  /// What is kept: the results, or those of another thread that was first.
  Values keep(const Node& node, Values results);
  /// What the node's rule makes of constant operands before it computes with them: made at the first call, and again
  /// after its device was lost. `part` tells apart what one node prepares.
  [[nodiscard]] Tensor prepared(const Node& node, std::size_t part,
                                const std::function<Tensor()>& make);
  /// Of all that lies on a device, each buffer once.
  [[nodiscard]] std::uint64_t device_bytes() const;

 private:
  mutable std::mutex mutex_;
  std::unordered_map<const TensorData*, Value> values_;  // guarded by mutex_, as is what follows
  std::vector<std::shared_ptr<const Known>> shared_;  ///< those in `values_`, as others find them
  std::unordered_map<const Node*, Values> folded_;
  std::map<std::pair<const Node*, std::size_t>, Value> prepared_;
};

}  // namespace stoker::onnx
