#include "stoker/device/vulkan/submission/encoder.hpp"

#include <algorithm>
#include <array>
#include <cstring>

#include "stoker/device/vulkan/submission/fill_plan.hpp"
#include "stoker/kernels/shader/preamble.hpp"

namespace stoker::device::vulkan {
namespace {

// What copies and fills are taken for when work is cut: the pace of a slow bus.
constexpr std::uint64_t copy_bytes_per_ns = 8;
// What an unmeasured dispatch is taken for: so many fit one segment.
constexpr std::uint64_t unmeasured_per_segment = 8;

}  // namespace

bool shows_to_host(const Step& step) noexcept {
  const auto mapped = [](const MemoryView& view) { return view.block->host != nullptr; };
  return std::ranges::any_of(step.outputs, mapped) || std::ranges::any_of(step.scratch, mapped);
}

Result<void> Encoder::encode(std::span<const Step> steps, CommandList& list,
                             const Options& options) {
  schedule_.plan(steps);
  choose_stages(steps, options.transfer_only);
  hazards_.reset();
  bound_ = VK_NULL_HANDLE;
  position_ = 0;
  tables_ = options.tables;
  const Stage everything =
      options.transfer_only ? Stage::transfer : Stage::compute | Stage::transfer;
  VkQueryPool queries = VK_NULL_HANDLE;
  if (options.timed) {
    STOKER_ASSIGN(queries, list.timestamps(2 * static_cast<std::uint32_t>(steps.size())));
  }
  STOKER_ASSIGN(commands_, list.begin());
  if (options.starts_with_barrier) place_barrier(everything, everything);

  std::uint64_t segment_ns = 0;
  Stage used = Stage::none;
  bool shown_to_host = false;
  for (const std::uint32_t index : schedule_.order()) {
    const Step& step = steps[index];
    index_ = index;
    const Stage stage = stages_[index];
    const std::uint64_t cost = cost_ns(step);
    if (segment_ns > 0 && segment_ns + cost > target_ns_) {
      STOKER_TRY(list.end(position_));
      STOKER_ASSIGN(commands_, list.begin());
      bound_ = VK_NULL_HANDLE;
      segment_ns = 0;
    }
    segment_ns += cost;
    // Barriers reach over the ends of command buffers: order within a queue is order of submission.
    if (const Stage from = hazards_.needed(stages_, schedule_, stage, step.after);
        from != Stage::none)
      place_barrier(from, stage);
    if (queries) write_timestamp(device_, commands_, Stage::none, queries, 2 * index);
    STOKER_TRY(encode_step(step, stage, list));
    if (queries) write_timestamp(device_, commands_, stage, queries, 2 * index + 1);
    used = used | stage;
    shown_to_host = shown_to_host || shows_to_host(step);
    ++position_;
  }
  if (shown_to_host) barrier(device_, commands_, used, Stage::host);
  return list.end(position_);
}

void Encoder::choose_stages(std::span<const Step> steps, bool transfer_only) {
  stages_.clear();
  for (const Step& step : steps)
    stages_.push_back(step.kind == StepKind::dispatch || (!transfer_only && bulk_.takes(step))
                          ? Stage::compute
                          : Stage::transfer);
}

Result<void> Encoder::encode_step(const Step& step, Stage stage, CommandList& list) {
  if (stage == Stage::compute && step.kind != StepKind::dispatch) {
    STOKER_ASSIGN(const std::span<const Step> parts, bulk_.dispatches(step, list));
    for (const Step& part : parts) STOKER_TRY(encode_dispatch(part, list));
    return {};
  }
  switch (step.kind) {
    case StepKind::dispatch: return encode_dispatch(step, list);
    case StepKind::copy: encode_copy(step); return {};
    case StepKind::fill: break;
  }
  return encode_fill(step, list);
}

Result<void> Encoder::encode_dispatch(const Step& step, CommandList& list) {
  const VulkanApi& api = device_.api();
  const auto& passes = static_cast<const VulkanExecutable&>(*step.executable).passes;
  for (std::uint32_t i = 0; i < passes.size(); ++i) {
    const Pass& pass = passes[i];
    if (pass.after_barrier) place_barrier(Stage::compute, Stage::compute);
    if (bound_ != pass.pipeline->handle()) {
      bound_ = pass.pipeline->handle();
      api.vkCmdBindPipeline(commands_, VK_PIPELINE_BIND_POINT_COMPUTE, bound_);
    }
    STOKER_ASSIGN(std::byte* const table, push(step, pass, list));
    if (table) tables_->push_back({index_, i, table});
    api.vkCmdDispatch(commands_, pass.groups[0], pass.groups[1], pass.groups[2]);
  }
  return {};
}

Result<std::byte*> Encoder::push(const Step& step, const Pass& pass, CommandList& list) {
  parameters_ = pass.parameters;
  write_addresses(step, pass, parameters_.data());
  std::byte* table = nullptr;
  const bool has_table = tables_ && !pass.bindings.empty();
  if (pass.in_memory || has_table) {
    const std::size_t bytes = pass.in_memory ? parameters_.size() : 8 * pass.bindings.size();
    STOKER_ASSIGN(const MemoryView memory, list.constants(bytes));
    std::memcpy(memory.host(), parameters_.data(), bytes);
    const std::uint64_t address = memory.address() ^ (pass.in_memory ? 0 : table_bit);
    std::memcpy(parameters_.data(), &address, sizeof address);
    if (pass.in_memory) parameters_.resize(sizeof address);
    if (has_table) table = memory.host();
  }
  if (!parameters_.empty())
    device_.api().vkCmdPushConstants(commands_, layout_, VK_SHADER_STAGE_COMPUTE_BIT, 0,
                                     static_cast<std::uint32_t>(parameters_.size()),
                                     parameters_.data());
  return table;
}

void Encoder::encode_copy(const Step& step) {
  const MemoryView& from = step.inputs[0];
  const MemoryView& to = step.outputs[0];
  if (to.bytes == 0) return;
  const VkBufferCopy region{from.offset, to.offset, to.bytes};
  device_.api().vkCmdCopyBuffer(commands_, buffer_of(from), buffer_of(to), 1, &region);
}

Result<void> Encoder::encode_fill(const Step& step, CommandList& list) {
  const VulkanApi& api = device_.api();
  const MemoryView& to = step.outputs[0];
  if (to.bytes == 0) return {};
  const std::span<const std::byte> pattern{step.pattern.data(), step.pattern_bytes};
  const FillPlan plan = plan_fill(pattern, to.offset, to.bytes);
  const auto copy_constant = [&](std::uint64_t phase, std::uint64_t bytes) -> Result<void> {
    if (bytes == 0) return {};
    STOKER_ASSIGN(const MemoryView constant, list.constants(bytes));
    repeat_pattern(pattern, phase, {constant.host(), bytes});
    const VkBufferCopy region{constant.offset, to.offset + phase, bytes};
    api.vkCmdCopyBuffer(commands_, buffer_of(constant), buffer_of(to), 1, &region);
    return {};
  };
  if (!plan.by_doubling) {
    STOKER_TRY(copy_constant(0, plan.head));
    if (plan.words)
      api.vkCmdFillBuffer(commands_, buffer_of(to), to.offset + plan.head, plan.words, plan.word);
    return copy_constant(plan.head + plan.words, plan.tail);
  }
  std::uint64_t done = std::min(fill_seed_bytes, to.bytes);
  STOKER_TRY(copy_constant(0, done));
  while (done < to.bytes) {
    place_barrier(Stage::transfer, Stage::transfer);
    // While pieces double, one copy of all that is there; then many copies of one large piece.
    const std::uint64_t piece = std::min(done, fill_piece_bytes);
    const std::uint64_t end =
        piece < fill_piece_bytes ? std::min(to.bytes, done + piece) : to.bytes;
    std::array<VkBufferCopy, 64> regions;
    while (done < end) {
      std::uint32_t count = 0;
      for (; done < end && count < regions.size(); ++count) {
        const std::uint64_t bytes = std::min(piece, end - done);
        regions[count] = {to.offset, to.offset + done, bytes};
        done += bytes;
      }
      api.vkCmdCopyBuffer(commands_, buffer_of(to), buffer_of(to), count, regions.data());
    }
  }
  return {};
}

void Encoder::place_barrier(Stage from, Stage to) {
  barrier(device_, commands_, from, to);
  hazards_.placed(from, to, position_);
  device_.counters.barriers.fetch_add(1, std::memory_order_relaxed);
}

std::uint64_t Encoder::cost_ns(const Step& step) const noexcept {
  if (step.kind != StepKind::dispatch) return step.outputs[0].bytes / copy_bytes_per_ns + 1;
  const auto& executable = static_cast<const VulkanExecutable&>(*step.executable);
  if (executable.passes.empty()) return 0;
  const std::uint64_t estimate = executable.estimate_ns();
  return estimate ? estimate : std::max<std::uint64_t>(1, target_ns_ / unmeasured_per_segment);
}

}  // namespace stoker::device::vulkan
