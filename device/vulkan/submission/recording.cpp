#include "stoker/device/vulkan/submission/recording.hpp"

#include <algorithm>

namespace stoker::device::vulkan {

Result<const CommandList*> VulkanRecording::list(QueueKind queue, std::uint32_t family,
                                                 Encoder& encoder) {
  std::unique_ptr<CommandList>& kept = lists_[static_cast<std::size_t>(queue)];
  if (!kept) {
    auto made = std::make_unique<CommandList>(device_, family, true);
    Encoder::Options options;
    options.transfer_only = queue == QueueKind::transfer;
    STOKER_TRY(encoder.encode(steps_, *made, options));
    kept = std::move(made);
  }
  return kept.get();
}

bool all_measured(std::span<const Step> steps) noexcept {
  return std::ranges::all_of(steps, [](const Step& step) {
    if (step.kind != StepKind::dispatch) return true;
    const auto& executable = static_cast<const VulkanExecutable&>(*step.executable);
    return executable.passes.empty() || executable.estimate_ns() != 0;
  });
}

}  // namespace stoker::device::vulkan
