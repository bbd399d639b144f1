#include "stoker/device/vulkan/submission/bulk_moves.hpp"

#include <algorithm>
#include <array>
#include <cstring>

#include "stoker/device/vulkan/pipelines/executable.hpp"
#include "stoker/device/vulkan/submission/fill_plan.hpp"

namespace stoker::device::vulkan {
namespace {

// Below, a dispatch saves less than a microsecond.
constexpr std::uint64_t bulk_bytes = std::uint64_t{1} << 20;
// Of one dispatch: kernels count elements in 31 bits.
constexpr std::uint64_t piece_bytes = std::uint64_t{1} << 30;
// What the kernels' widest accesses are aligned to.
constexpr std::uint64_t wide = 16;

MemoryView part(const MemoryView& view, std::uint64_t offset, std::uint64_t bytes) noexcept {
  return {view.block, view.offset + offset, bytes};
}

Result<std::shared_ptr<const Executable>> prepare(const DeviceHandle& device, Pipelines& pipelines,
                                                  const char* name,
                                                  std::span<const TensorSpec> inputs,
                                                  const TensorSpec& output, const Params& given) {
  STOKER_ASSIGN(const auto kernel, KernelRegistry::builtin().find(name));
  STOKER_ASSIGN(const ParamSet params, ParamSet::resolve(name, kernel->params, given));
  return VulkanExecutable::prepare(device, pipelines, *kernel, {inputs, params}, {&output, 1});
}

}  // namespace

BulkMoves::BulkMoves(const DeviceHandle& device, Pipelines& pipelines) noexcept
    : device_{device},
      pipelines_{pipelines},
      // A software device copies with the host's own memcpy, which no shader of its can match.
      least_bytes_{device.info().type == DeviceType::software_gpu ? ~std::uint64_t{0} : bulk_bytes},
      moves_bytes_{std::ranges::find(device.info().dtypes, DType::u8) !=
                   device.info().dtypes.end()} {}

bool BulkMoves::takes(const Step& step) const noexcept {
  if (step.kind == StepKind::dispatch) return false;
  const MemoryView& to = step.outputs[0];
  if (to.bytes < least_bytes_ || to.block->kind != MemoryKind::device) return false;
  if (!moves_bytes_ && (to.address() | to.bytes) % 4 != 0) return false;
  if (step.kind == StepKind::fill) return true;
  const MemoryView& from = step.inputs[0];
  return from.block->kind == MemoryKind::device && from.address() % wide == to.address() % wide;
}

Result<std::span<const Step>> BulkMoves::dispatches(const Step& step, CommandList& list) {
  parts_.clear();
  const MemoryView& to = step.outputs[0];
  for (std::uint64_t done = 0, bytes = 0; done < to.bytes; done += bytes) {
    const std::uint64_t left = to.bytes - done;
    const std::uint64_t misaligned = (to.address() + done) % wide;
    bytes = std::min(left, misaligned ? wide - misaligned : piece_bytes);
    if (step.kind == StepKind::copy) {
      STOKER_TRY(add_copy(part(step.inputs[0], done, bytes), part(to, done, bytes)));
      continue;
    }
    const std::span<const std::byte> pattern{step.pattern.data(), step.pattern_bytes};
    std::array<std::byte, 8> element{};
    repeat_pattern(pattern, done, element);
    if (!misaligned && bytes >= element.size()) {
      bytes -= bytes % element.size();
      STOKER_TRY(add_fill(element, part(to, done, bytes)));
      continue;
    }
    STOKER_ASSIGN(const MemoryView constant, list.constants(bytes));
    repeat_pattern(element, 0, {constant.host(), bytes});
    STOKER_TRY(add_copy(constant, part(to, done, bytes)));
  }
  return std::span<const Step>{parts_};
}

Result<void> BulkMoves::add_copy(const MemoryView& from, const MemoryView& to) {
  const DType dtype = (to.address() | to.bytes) % 4 == 0 ? DType::u32 : DType::u8;
  const TensorSpec spec{dtype, Shape{static_cast<std::int64_t>(to.bytes / size_of(dtype))}};
  Step& made = parts_.emplace_back();
  made.inputs = {from};
  made.outputs = {to};
  STOKER_ASSIGN(made.executable, prepare(device_, pipelines_, "copy", {&spec, 1}, spec, {}));
  return {};
}

Result<void> BulkMoves::add_fill(std::span<const std::byte, 8> element, const MemoryView& to) {
  std::int64_t value = 0;
  std::memcpy(&value, element.data(), sizeof value);
  const auto count = static_cast<std::int64_t>(to.bytes / sizeof value);
  Step& made = parts_.emplace_back();
  made.outputs = {to};
  const Params params{
      {"value_int", value}, {"shape", std::vector<std::int64_t>{count}}, {"dtype", "s64"}};
  STOKER_ASSIGN(made.executable,
                prepare(device_, pipelines_, "fill", {}, {DType::s64, Shape{count}}, params));
  return {};
}

}  // namespace stoker::device::vulkan
