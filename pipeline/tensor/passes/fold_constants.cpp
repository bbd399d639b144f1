#include <algorithm>
#include <array>
#include <cstring>

#include "stoker/kernels/fused/program.hpp"
#include "stoker/pipeline/tensor/passes/passes.hpp"

namespace stoker::expr {
namespace {

bool is_constant(const Program& program, Ref ref) {
  return program.code[ref.instruction].op->kind == OpKind::constant;
}

Attributes constant_attributes(const TensorSpec& spec, std::int64_t bits) {
  return {{"dtype", std::string{to_string(spec.dtype)}},
          {"shape", as_list(spec.shape.extents())},
          {"bits", bits}};
}

/// What the device would compute of these numbers, by the same kernel.
Result<std::int64_t> computed(const Program& program, const Instruction& one) {
  FusedProgram fused;
  FusedProgram::Instruction code;
  STOKER_ASSIGN(code.function, find_scalar_function(one.op->name));
  code.result = one.specs[0].dtype;
  for (std::size_t i = 0; i < one.inputs.size(); ++i) {
    const Instruction& leaf = program.code[one.inputs[i].instruction];
    code.operands[i] = static_cast<FusedProgram::Value>(i);
    fused.constants.push_back(
        {leaf.specs[0].dtype, static_cast<std::uint64_t>(leaf.attributes.integer("bits"))});
  }
  fused.outputs = {static_cast<FusedProgram::Value>(fused.constants.size())};
  fused.code.push_back(code);
  STOKER_ASSIGN(const std::shared_ptr<const Kernel> kernel, fused_kernel(std::move(fused)));
  const TensorSpec output{one.specs[0].dtype, Shape{}};
  const ParamSet none;
  STOKER_ASSIGN(const CpuPlan plan, kernel->cpu({{}, none}, {&output, 1}));
  std::vector<std::byte> scratch(plan.scratch_bytes + 64);
  alignas(64) std::array<std::byte, 64> result{};
  void* outputs = result.data();
  for (const CpuStage& stage : plan.stages)
    for (std::uint32_t slice = 0; slice < stage.slices; ++slice)
      stage.run({nullptr, &outputs, scratch.data()}, slice);
  std::int64_t bits = 0;
  std::memcpy(&bits, result.data(), size_of(output.dtype));
  return bits;
}

}  // namespace

void fold_constants(Program& program) {
  static constinit NamedOp constant{"constant"};
  for (Instruction& one : program.code) {
    if (one.inputs.empty()) continue;
    const bool all =
        std::ranges::all_of(one.inputs, [&](Ref ref) { return is_constant(program, ref); });
    if (!all || is_complex(one.specs[0].dtype)) continue;
    std::int64_t bits = 0;
    if (one.op->kind == OpKind::view || one.op->kind == OpKind::reshape) {
      bits = program.code[one.inputs[0].instruction].attributes.integer("bits");
    } else if (one.op->kind == OpKind::scalar) {
      const auto number = computed(program, one);
      if (!number) continue;
      bits = *number;
    } else {
      continue;
    }
    one.attributes = constant_attributes(one.specs[0], bits);
    one.op = &constant.get();
    one.inputs.clear();
  }
  program.drop_dead();
}

}  // namespace stoker::expr
