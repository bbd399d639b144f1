#include "cpu_run.hpp"

#include <algorithm>
#include <stdexcept>

namespace stoker {
namespace {

constexpr std::size_t fence = 512;
constexpr std::byte untouched{0xA5};

}  // namespace

Block::Block(std::size_t size, const Bytes& bytes)
    : memory_{static_cast<std::byte*>(std::aligned_alloc(64, (size + fence + 63) / 64 * 64)),
              &std::free},
      end_{memory_.get() + size} {
  std::fill_n(end_, fence, untouched);
  std::copy(bytes.begin(), bytes.end(), memory_.get());
}

bool Block::is_intact() const {
  return std::all_of(end_, end_ + fence, [](std::byte one) { return one == untouched; });
}

std::vector<Bytes> run_plan(const CpuPlan& plan, std::span<const Bytes> inputs,
                            std::span<const TensorSpec> outputs) {
  std::vector<Block> memory;
  memory.reserve(inputs.size() + outputs.size());
  std::vector<const void*> in;
  std::vector<void*> out;
  for (const Bytes& bytes : inputs) in.push_back(memory.emplace_back(bytes.size(), bytes).get());
  for (const TensorSpec& spec : outputs) out.push_back(memory.emplace_back(spec.bytes()).get());
  const Block scratch{plan.scratch_bytes};
  const CpuArgs args{in.data(), out.data(), scratch.get()};
  for (const CpuStage& stage : plan.stages)
    for (std::uint32_t slice = stage.slices; slice-- > 0;) stage.run(args, slice);
  if (!scratch.is_intact() ||
      !std::all_of(memory.begin(), memory.end(), [](const Block& one) { return one.is_intact(); }))
    throw std::logic_error{"a plan wrote behind the end of its memory"};
  std::vector<Bytes> results;
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    const auto* bytes = static_cast<const std::byte*>(out[i]);
    results.emplace_back(bytes, bytes + outputs[i].bytes());
  }
  return results;
}

Result<std::vector<TensorSpec>> infer(std::string_view kernel,
                                      const std::vector<TensorSpec>& inputs, const Params& params) {
  STOKER_ASSIGN(const auto found, KernelRegistry::builtin().find(kernel));
  STOKER_ASSIGN(const auto set, ParamSet::resolve(kernel, found->params, params));
  return found->check(inputs, set);
}

KernelOutputs run_kernel(std::string_view kernel, const std::vector<TensorSpec>& specs,
                         std::span<const Bytes> inputs, const Params& params) {
  const auto found = KernelRegistry::builtin().find(kernel).value();
  const ParamSet set = ParamSet::resolve(kernel, found->params, params).value();
  KernelOutputs made{found->check(specs, set).value(), {}};
  const CpuPlan plan = (*cpu_table().find(kernel))(KernelCall{specs, set}, made.specs).value();
  made.bytes = run_plan(plan, inputs, made.specs);
  return made;
}

}  // namespace stoker
