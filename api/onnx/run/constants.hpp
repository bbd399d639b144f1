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
#include <unordered_set>
#include <utility>
#include <vector>

#include "stoker/api/onnx/core/value.hpp"
#include "stoker/pipeline/onnx/graph/graph.hpp"
#include "stoker/runtime/futures/future.hpp"

namespace stoker {
class DeviceClient;
}  // namespace stoker

namespace stoker::onnx {

class Constants {
 public:
  /// The value of a tensor of the file; the same each time, so that it is copied to the device once. Graphs of the
  /// device of the DeviceScope that read the same bytes of a file share it, also when the device was opened again.
  [[nodiscard]] Value of(const TensorData& data);
  /// What a node whose operands are all constant gave before; nothing if it was lost with its device, or failed.
  [[nodiscard]] std::optional<Values> folded(const Node& node);
  /// What is kept: the results, or those of another thread that was first.
  Values keep(const Node& node, Values results);
  /// What the node's rule makes of constant operands before it computes with them: made at the first call, and again
  /// after its device was lost or it has failed. `part` tells apart what one node prepares.
  [[nodiscard]] Tensor prepared(const Node& node, std::size_t part,
                                const std::function<Tensor()>& make);
  /// Buffers that were counted.
  using Counted = std::unordered_set<const void*>;
  /// Of all that lies on a device and was not counted yet.
  [[nodiscard]] std::uint64_t device_bytes(Counted& counted) const;

 private:
  /// What was computed once.
  struct Kept {
    Values values;
    std::vector<Future<>> written;  ///< of what lies on the device

    explicit Kept(Values results);
    /// Whether it may be used: it did not fail, as far as is known now, and its device is there.
    [[nodiscard]] bool is_sound() const;
  };

  mutable std::mutex mutex_;
  std::weak_ptr<DeviceClient> client_;                   ///< of `values_`; guarded by mutex_
  std::unordered_map<const TensorData*, Value> values_;  // guarded by mutex_, as is what follows
  std::vector<std::shared_ptr<const Known>> shared_;  ///< those in `values_`, as others find them
  std::unordered_map<const Node*, Kept> folded_;
  std::map<std::pair<const Node*, std::size_t>, Kept> prepared_;
};

}  // namespace stoker::onnx
