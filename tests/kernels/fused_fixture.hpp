// Running fused programs in tests: values in and out as doubles, on the CPU or on any device.
#pragma once

#include <cstdlib>
#include <memory>
#include <string>
#include <vector>

#include "stoker/kernels/fused/program.hpp"

namespace stoker::fused_test {

using Bytes = std::vector<std::byte>;

inline const ScalarFunction* function(std::string_view name) {
  return find_scalar_function(name).value();
}

/// `values` as elements of `dtype`; integers wrap.
inline Bytes stored(DType dtype, const std::vector<double>& values) {
  Bytes bytes(values.size() * size_of(dtype));
  visit_dtype(dtype, [&]<class T>() {
    auto* out = reinterpret_cast<T*>(bytes.data());
    for (std::size_t i = 0; i < values.size(); ++i) {
      if constexpr (std::is_same_v<T, bool>)
        out[i] = values[i] != 0;
      else if constexpr (std::is_integral_v<T>)
        out[i] = static_cast<T>(static_cast<std::int64_t>(values[i]));
      else if constexpr (std::is_arithmetic_v<T>)
        out[i] = static_cast<T>(values[i]);
      else
        out[i] = T{static_cast<float>(values[i])};
    }
  });
  return bytes;
}

inline std::vector<double> doubles(DType dtype, const Bytes& bytes) {
  std::vector<double> values(bytes.size() / size_of(dtype));
  visit_dtype(dtype, [&]<class T>() {
    const auto* in = reinterpret_cast<const T*>(bytes.data());
    for (std::size_t i = 0; i < values.size(); ++i) {
      if constexpr (std::is_arithmetic_v<T>)
        values[i] = static_cast<double>(in[i]);
      else
        values[i] = static_cast<double>(static_cast<float>(in[i]));
    }
  });
  return values;
}

/// Memory as the shell gives it: aligned to 64 bytes.
class Block {
 public:
  explicit Block(std::size_t size, const Bytes& bytes = {})
      : memory_{static_cast<std::byte*>(std::aligned_alloc(64, (size + 127) / 64 * 64)),
                &std::free} {
    std::copy(bytes.begin(), bytes.end(), memory_.get());
  }
  [[nodiscard]] std::byte* get() const { return memory_.get(); }

 private:
  std::unique_ptr<std::byte, decltype(&std::free)> memory_;
};

/// The outputs of a program on the CPU. The slices run last to first: their order must not matter.
inline std::vector<Bytes> run(const FusedProgram& program, const std::vector<Bytes>& inputs) {
  const auto kernel = fused_kernel(program).value();
  const ParamSet params = ParamSet::resolve("fused", {}, {}).value();
  const std::vector<TensorSpec> specs = program.buffers();
  const auto outputs = kernel->check(specs, params).value();
  std::vector<Bytes> results;
  if (program.shape.empty()) return std::vector<Bytes>(outputs.size());
  const CpuPlan plan = kernel->cpu(KernelCall{specs, params}, outputs).value();
  std::vector<Block> memory;
  std::vector<const void*> in;
  std::vector<void*> out;
  memory.reserve(inputs.size() + outputs.size());
  for (const Bytes& bytes : inputs) in.push_back(memory.emplace_back(bytes.size(), bytes).get());
  for (const TensorSpec& spec : outputs) out.push_back(memory.emplace_back(spec.bytes()).get());
  const Block scratch{plan.scratch_bytes};
  for (const CpuStage& stage : plan.stages)
    for (std::uint32_t slice = stage.slices; slice-- > 0;)
      stage.run(CpuArgs{in.data(), out.data(), scratch.get()}, slice);
  for (std::size_t o = 0; o < outputs.size(); ++o) {
    const auto* bytes = static_cast<const std::byte*>(out[o]);
    results.emplace_back(bytes, bytes + outputs[o].bytes());
  }
  return results;
}

/// A dense input of the program's shape.
inline FusedProgram::Input dense(DType dtype, const Shape& shape) {
  return {.spec = {dtype, shape}, .offset = 0, .strides = shape.strides()};
}

/// One function over dense inputs of these dtypes.
inline FusedProgram single(const ScalarFunction& function, std::vector<DType> operands,
                           DType result, const Shape& shape) {
  FusedProgram program{.shape = shape, .inputs = {}, .constants = {}, .code = {}, .outputs = {}};
  FusedProgram::Instruction one{&function, result, {}};
  for (std::size_t k = 0; k < operands.size(); ++k) {
    program.inputs.push_back(dense(operands[k], shape));
    one.operands[k] = static_cast<FusedProgram::Value>(k);
  }
  program.code = {one};
  program.outputs = {static_cast<FusedProgram::Value>(operands.size())};
  return program;
}

}  // namespace stoker::fused_test
