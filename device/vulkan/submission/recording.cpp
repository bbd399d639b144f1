#include "stoker/device/vulkan/submission/recording.hpp"

#include <algorithm>
#include <utility>

namespace stoker::device::vulkan {
namespace {

template <class Visit> void for_each_view(const Step& step, Visit&& visit) {
  for (const MemoryView& view : step.inputs) visit(view);
  for (const MemoryView& view : step.outputs) visit(view);
  for (const MemoryView& view : step.scratch) visit(view);
}

bool all_are_dispatches(std::span<const Step> steps) noexcept {
  return std::ranges::all_of(steps,
                             [](const Step& step) { return step.kind == StepKind::dispatch; });
}

}  // namespace

VulkanRecording::VulkanRecording(std::shared_ptr<DeviceHandle> device, std::span<const Step> steps)
    : device_{std::move(device)}, steps_{steps.begin(), steps.end()} {
  for (const Step& step : steps)
    for_each_view(step, [&](const MemoryView& view) { addresses_.push_back(view.address()); });
}

Result<const CommandList*> VulkanRecording::list(QueueKind queue, std::uint32_t family,
                                                 Encoder& encoder) {
  Encoded& kept = lists_[index_of(queue)];
  if (!kept.list) {
    Encoded made;
    made.list = std::make_unique<CommandList>(device_, family, true);
    Encoder::Options options;
    options.transfer_only = queue == QueueKind::transfer;
    if (moves_) options.tables = &made.tables;
    STOKER_TRY(encoder.encode(steps_, *made.list, options));
    made.shows_to_host = std::ranges::any_of(steps_, shows_to_host);
    kept = std::move(made);
  }
  return kept.list.get();
}

bool VulkanRecording::is_encoded() const noexcept {
  return std::ranges::any_of(lists_, [](const Encoded& kept) { return kept.list != nullptr; });
}

void VulkanRecording::expect_moves() noexcept {
  if (!is_encoded() && all_are_dispatches(steps_)) moves_ = true;
}

bool VulkanRecording::rebind(std::span<const Step> steps) noexcept {
  if (!all_are_dispatches(steps)) return false;
  bool moved = false;
  std::uint64_t* known = addresses_.data();
  for (std::size_t i = 0; i < steps_.size(); ++i) {
    std::ranges::copy(steps[i].inputs, steps_[i].inputs.begin());
    std::ranges::copy(steps[i].outputs, steps_[i].outputs.begin());
    std::ranges::copy(steps[i].scratch, steps_[i].scratch.begin());
    for_each_view(steps_[i], [&](const MemoryView& view) {
      moved = std::exchange(*known++, view.address()) != view.address() || moved;
    });
  }
  if (!moved) return true;
  const bool shown = std::ranges::any_of(steps_, shows_to_host);
  for (Encoded& kept : lists_) {
    if (!moves_ || (shown && !kept.shows_to_host)) kept = {};
    for (const AddressTable& table : kept.tables) {
      const Step& step = steps_[table.step];
      const auto& executable = static_cast<const VulkanExecutable&>(*step.executable);
      write_addresses(step, executable.passes[table.pass], table.host);
    }
  }
  moves_ = true;
  return true;
}

bool all_measured(std::span<const Step> steps) noexcept {
  return std::ranges::all_of(steps, [](const Step& step) {
    if (step.kind != StepKind::dispatch) return true;
    const auto& executable = static_cast<const VulkanExecutable&>(*step.executable);
    return executable.passes.empty() || executable.estimate_ns() != 0;
  });
}

}  // namespace stoker::device::vulkan
