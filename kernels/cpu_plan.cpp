#include "stoker/kernels/cpu_plan.hpp"

#include <algorithm>
#include <atomic>

#include "stoker/runtime/base/cores.hpp"

namespace stoker {
namespace {

std::size_t core_count() noexcept {
  static constinit std::atomic<std::size_t> known{0};
  std::size_t cores = known.load(std::memory_order_relaxed);
  if (cores == 0) known.store(cores = usable_cores(), std::memory_order_relaxed);
  return cores;
}

}  // namespace

std::uint32_t slice_count(std::size_t elements, std::size_t grain) noexcept {
  const std::size_t worthwhile = elements / std::max<std::size_t>(grain, 1);
  return static_cast<std::uint32_t>(std::clamp<std::size_t>(worthwhile, 1, 4 * core_count()));
}

SliceRange slice_range(std::size_t elements, std::uint32_t slices, std::uint32_t index,
                       std::size_t align) noexcept {
  // Whole blocks of `align` are dealt out; the first `extra` slices get one more.
  const std::size_t blocks = (elements + align - 1) / align;
  const std::size_t each = blocks / slices;
  const std::size_t extra = blocks % slices;
  const auto bound = [&](std::size_t i) {
    return std::min(elements, (each * i + std::min(i, extra)) * align);
  };
  return {bound(index), bound(std::size_t{index} + 1)};
}

void CpuTable::set(std::string_view kernel, CpuPlanner planner) {
  planners_.insert_or_assign(std::string{kernel}, std::move(planner));
}

const CpuPlanner* CpuTable::find(std::string_view kernel) const noexcept {
  const auto found = planners_.find(kernel);
  return found == planners_.end() ? nullptr : &found->second;
}

}  // namespace stoker
