// The constants of a loaded graph, and the results of nodes whose operands are all constant. Each is made once, for all
// plans of all models that share the graph.
//
// Threads: any. Lifetime: tensors of the file are identified by address, so the file must outlive
// this.
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
  /// The kept results of a node whose operands are all constant; nothing if there are none, if they were lost
  /// with their device, or if they failed.
  [[nodiscard]] std::optional<Values> folded(const Node& node);
  /// Keeps the results, and returns them or those of another thread that was first.
  Values keep(const Node& node, Values results);
  /// A tensor that the node's rule prepares from constant operands. `make` is called at the first call, and again
  /// after the device was lost or the tensor failed. `part` distinguishes several such tensors of one node.
  [[nodiscard]] Tensor prepared(const Node& node, std::size_t part,
                                const std::function<Tensor()>& make);
  /// Computes a tensor that stands on constants and belongs to one plan. The device does not keep its program: programs
  /// of plans that are gone would fill the memory of those that others run again.
  static void compute_for_plan(const Tensor& tensor);
  /// Buffers that are counted already.
  using Counted = std::unordered_set<const void*>;
  /// The bytes of all tensors on a device that are not in `counted` yet, to which they are added.
  [[nodiscard]] std::uint64_t device_bytes(Counted& counted) const;

 private:
  /// Results that were computed once.
  struct Kept {
    Values values;
    std::vector<Future<>> written;  ///< of the tensors on the device

    explicit Kept(Values results);
    /// Whether the results may be used: they have not failed as far as known, and their device is
    /// open.
    [[nodiscard]] bool is_sound() const;
  };

  mutable std::mutex mutex_;
  std::weak_ptr<DeviceClient> client_;                   ///< of `values_`; guarded by mutex_
  std::unordered_map<const TensorData*, Value> values_;  // guarded by mutex_, like the members
                                                         // below
  /// Those in `values_`, which other graphs find.
  std::vector<std::shared_ptr<const Known>> shared_;
  std::unordered_map<const Node*, Kept> folded_;
  std::map<std::pair<const Node*, std::size_t>, Kept> prepared_;
};

}  // namespace stoker::onnx
