// What a checked graph comes to on one device: order, hazards, memory, executables.
//
// Value data, immutable once made, so any thread may read it.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "stoker/actors/device/device_buffer.hpp"
#include "stoker/pipeline/kernel_graph/kernel_graph.hpp"
#include "stoker/pipeline/kernel_graph/memory_plan.hpp"

namespace stoker {

struct Prepared;    // device/executable_cache.hpp
struct ReplayPlan;  // device/commands/command_work.hpp

/// One stage in the order of execution.
struct PlannedStage {
  std::uint32_t stage = 0;  ///< index in the graph
  std::shared_ptr<const Prepared> prepared;
  std::vector<std::uint32_t> after;  ///< positions of earlier stages
  std::vector<std::uint32_t> scratch_items;
};

struct PipelinePlan {
  static constexpr std::uint32_t no_item = ~std::uint32_t{0};

  KernelGraph graph;
  std::vector<ValueId> externals;  ///< in the order in which a run binds buffers to them
  std::vector<bool> written;       ///< of each value: a stage writes it
  std::vector<bool> read_first;    ///< of each value: read before it is written
  std::vector<PlannedStage> stages;
  std::vector<std::uint32_t> item_of_value;  ///< arena item of an internal value, or no_item
  ArenaPlan arena;                           ///< memory of one run's internal values and scratch
  /// Guesses of a run, in nanoseconds: on one thread of the host, and how much less all of them together take. Infinite
  /// and nothing if a kernel makes none.
  double cost_ns = 0;
  double gain_ns = 0;
  /// What a run replays: buffers are the externals in their order, then the arena if there is one.
  std::shared_ptr<const ReplayPlan> replay;

  /// Checks the whole graph and prepares every kernel. Errors: those of check_graph() and whatever
  /// the device cannot do.
  [[nodiscard]] static Result<std::shared_ptr<const PipelinePlan>> make(KernelGraph checked,
                                                                        DeviceClient& device);
  /// Whether a run may bind these buffers to the externals. Errors: arity_mismatch, shape_mismatch,
  /// dtype_mismatch, wrong_device, released, and invalid_argument for an empty handle or one buffer
  /// bound twice where a stage writes it.
  [[nodiscard]] Result<void> check_binding(std::span<const DeviceBuffer* const> buffers,
                                           const DeviceClient& device) const;
  /// The part of it that may change afterwards: `released`.
  [[nodiscard]] Result<void> check_released(
      std::span<const std::shared_ptr<BufferState>> binding) const;

 private:
  [[nodiscard]] Error released(std::size_t external) const;
  Result<void> place(const std::vector<std::uint32_t>& order, DeviceClient& device);
  [[nodiscard]] ReplayPlan make_replay() const;
};

}  // namespace stoker
