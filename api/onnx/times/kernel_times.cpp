#include "stoker/api/onnx/times/kernel_times.hpp"

#include <algorithm>

#include "stoker/api/onnx/times/node_marks.hpp"

namespace stoker::onnx {

void KernelTimes::add(std::vector<CommandPtr> commands,
                      std::shared_ptr<const PlannedKernels> kernels) {
  const std::scoped_lock lock{mutex_};
  settle();
  for (std::size_t step = 0; step < std::min(commands.size(), kernels->size()); ++step)
    if (commands[step]) pending_.push_back({std::move(commands[step]), kernels, step});
}

std::vector<KernelTime> KernelTimes::list() {
  const std::scoped_lock lock{mutex_};
  settle();
  std::vector<KernelTime> all;
  all.reserve(sums_.size() + 1);
  for (const auto& [key, sum] : sums_)
    all.push_back({key.first, places_of(key.second), sum.runs,
                   std::chrono::nanoseconds{static_cast<std::int64_t>(sum.total_ns)}});
  if (others_.runs > 0)
    all.push_back({{},
                   {},
                   others_.runs,
                   std::chrono::nanoseconds{static_cast<std::int64_t>(others_.total_ns)}});
  std::ranges::stable_sort(all, std::ranges::greater{}, &KernelTime::total);
  return all;
}

void KernelTimes::settle() {
  std::erase_if(pending_, [&](const Pending& one) {
    if (!one.command->ready()) return false;
    sum(one);
    return true;
  });
}

void KernelTimes::sum(const Pending& ended) {
  const std::vector<PlannedKernel>& kernels = (*ended.kernels)[ended.step];
  const std::vector<StepTiming> times = ended.command->step_timings();
  if (times.size() != kernels.size()) return;  // it failed, or nobody timed it
  for (std::size_t i = 0; i < kernels.size(); ++i) {
    auto key = std::pair{kernels[i].name, kernels[i].nodes};
    const bool has_room = sums_.size() < most_ || sums_.contains(key);
    Sum& sum = has_room ? sums_[std::move(key)] : others_;
    ++sum.runs;
    sum.total_ns += times[i].end_ns - times[i].begin_ns;
  }
}

}  // namespace stoker::onnx
