// A checked graph made ready for one device: order, hazards, memory, executables. Runs many times
// and concurrently.
//
// A run binds a buffer to every external value. Internal values live in an arena that belongs to
// the run; an arena and the recording made for it are kept and replayed by the next run that binds
// the same buffers. A few idle ones are kept per pipeline; trim() drops them.
//
// Threads: any. Lifetime: shared; it keeps its device client.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <vector>

#include "stoker/actors/device_client.hpp"
#include "stoker/pipeline/graph.hpp"
#include "stoker/pipeline/memory_plan.hpp"

namespace stoker {

/// One stage in the order of execution.
struct PlannedStage {
  std::uint32_t stage = 0;  ///< index in the graph
  std::shared_ptr<const Prepared> prepared;
  std::vector<std::uint32_t> after;  ///< positions of earlier stages
  std::vector<std::uint32_t> scratch_items;
};

class CompiledPipeline final {
  struct Key {};  // only compile() makes one

 public:
  CompiledPipeline(Key, Graph graph, std::shared_ptr<DeviceClient> device);

  /// Checks the whole graph and prepares every kernel; nothing runs. Errors: those of check_graph()
  /// and whatever the device cannot do.
  [[nodiscard]] static Result<std::shared_ptr<CompiledPipeline>> compile(
      Graph graph, std::shared_ptr<DeviceClient> device);

  [[nodiscard]] const Graph& graph() const noexcept { return graph_; }
  [[nodiscard]] const std::shared_ptr<DeviceClient>& device() const noexcept { return device_; }
  /// Ids of the external values, in the order run() wants their buffers.
  [[nodiscard]] std::span<const ValueId> externals() const noexcept { return externals_; }
  [[nodiscard]] std::span<const PlannedStage> stages() const noexcept { return stages_; }
  /// Bytes of one run's internal values, and what they would take without sharing.
  [[nodiscard]] const ArenaPlan& arena() const noexcept { return arena_; }

  /// Starts a run. Refused at once, with nothing changed: wrong number of buffers, wrong spec
  /// (shape_mismatch, dtype_mismatch), wrong_device, released, and two values bound to one buffer
  /// that a stage writes (invalid_argument).
  [[nodiscard]] Result<CommandPtr> run(std::span<const DeviceBuffer> externals,
                                       const CommandOptions& options = {});

  /// Drops idle arenas and recordings; their number.
  std::size_t trim();
  [[nodiscard]] std::size_t idle_instances() const;

 private:
  /// An arena with the recording that uses it.
  struct Instance {
    std::vector<std::shared_ptr<BufferState>> bound;
    std::shared_ptr<MemoryLease> arena;
    std::shared_ptr<Replay> replay;
  };
  static constexpr std::size_t max_idle = 8;

  Result<void> plan(const std::vector<std::uint32_t>& order);
  [[nodiscard]] Result<void> check_binding(std::span<const DeviceBuffer> externals) const;
  [[nodiscard]] Result<Instance> make_instance(std::span<const DeviceBuffer> externals);
  void bind(Instance& instance, std::span<const DeviceBuffer> externals);

  Graph graph_;
  const std::shared_ptr<DeviceClient> device_;
  std::vector<ValueId> externals_;
  std::vector<bool> external_written_;
  std::vector<bool> external_read_first_;  ///< read before it is written, or never written
  std::vector<PlannedStage> stages_;
  std::vector<std::uint32_t> item_of_value_;  ///< arena item of an internal value
  ArenaPlan arena_;
  mutable std::mutex mutex_;
  std::vector<Instance> instances_;
};

}  // namespace stoker
