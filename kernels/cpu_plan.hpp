// How a kernel computes on the CPU: stages of independent slices.
//
// Stages run one after the other. The slices of a stage run in any order: at the same time, on threads of the
// compute pool and of callers that wait, or one after the other, on one caller's thread. A plan is made once for
// given shapes and parameters and then run many times and concurrently, so it is immutable: a run changes only
// its outputs and its `scratch`.
//
// Threads: planners, and the functions here, may be called by any thread; CpuTable::set() before others use it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "stoker/kernels/call.hpp"

namespace stoker {

/// The memory of one run. Pointers are aligned to 64 bytes; inputs may alias each other. An output
/// aliases no input, unless the kernel is `in_place`; the device client and the pipeline planner
/// make sure of this.
struct CpuArgs {
  const void* const* inputs;
  void* const* outputs;
  /// CpuPlan::scratch_bytes, uninitialised, shared by all slices of the run; null if there are none.
  std::byte* scratch;

  template <class T> [[nodiscard]] const T* in(std::size_t i) const noexcept {
    return static_cast<const T*>(inputs[i]);
  }
  template <class T> [[nodiscard]] T* out(std::size_t i = 0) const noexcept {
    return static_cast<T*>(outputs[i]);
  }
};

struct CpuStage {
  std::uint32_t slices = 1;
  /// Computes slice `index` of `slices`. An exception fails the command: an Error as it is, std::bad_alloc with
  /// out_of_memory, any other with handler_failed. Other slices may run meanwhile, or not at all.
  std::function<void(const CpuArgs&, std::uint32_t index)> run;
};

struct CpuPlan {
  std::vector<CpuStage> stages;
  std::size_t scratch_bytes = 0;
  /// An estimate of the whole run on one thread, in nanoseconds. The device uses it to decide which threads
  /// compute the plan: a caller's own, or those of the pool. 0: unknown, so only the pool computes it.
  double cost_ns = 0;
};

/// The number of slices for `elements` elements if a slice should have at least `grain` of them. At
/// least 1, and at most 4 per core, so that cores of different speed finish together.
[[nodiscard]] std::uint32_t slice_count(std::size_t elements, std::size_t grain) noexcept;

/// The half-open range of `elements` that slice `index` of `slices` covers, with its bounds rounded
/// to multiples of `align` elements (the last one excepted). It is empty where there are more slices than
/// multiples. Preconditions: index < slices, align ≥ 1.
struct SliceRange {
  std::size_t begin;
  std::size_t end;
};
[[nodiscard]] SliceRange slice_range(std::size_t elements, std::uint32_t slices,
                                     std::uint32_t index, std::size_t align = 64) noexcept;

using CpuPlanner =
    std::function<Result<CpuPlan>(const KernelCall& call, std::span<const TensorSpec> outputs)>;

/// The CPU versions of all kernels for one instruction set, by kernel name.
class CpuTable {
 public:
  void set(std::string_view kernel, CpuPlanner planner);
  /// Null if there is none. Valid as long as the table.
  [[nodiscard]] const CpuPlanner* find(std::string_view kernel) const noexcept;

 private:
  std::map<std::string, CpuPlanner, std::less<>> planners_;
};

}  // namespace stoker
