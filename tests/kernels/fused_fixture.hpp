// Running fused programs in tests: values in and out as doubles, on the CPU or on any device.
#pragma once

#include <cmath>
#include <string>
#include <vector>

#include "cpu_run.hpp"
#include "stoker/kernels/fused/program.hpp"

namespace stoker::fused_test {

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

/// The outputs of a program on the CPU.
inline std::vector<Bytes> run(const FusedProgram& program, const std::vector<Bytes>& inputs) {
  const auto kernel = fused_kernel(program).value();
  const ParamSet params = ParamSet::resolve("fused", {}, {}).value();
  const std::vector<TensorSpec> specs = program.buffers();
  const auto outputs = kernel->check(specs, params).value();
  if (program.shape.empty()) return std::vector<Bytes>(outputs.size());
  return run_plan(kernel->cpu(KernelCall{specs, params}, outputs).value(), inputs, outputs);
}

/// Whether `got` is as near to `want` as the relative bound, or nearer than what counts as nothing. A result
/// too large for its dtype is infinite, and so may be one within the bound of that.
inline bool near(double got, double want, double bound, double nothing, DType dtype) {
  if (got == want || (std::isnan(got) && std::isnan(want))) return true;
  if (std::isinf(want)) std::swap(got, want);
  if (std::isinf(got)) {
    const double largest = dtype == DType::f16    ? 65504
                           : dtype == DType::bf16 ? 0x1.fep127
                           : dtype == DType::f32  ? 0x1.fffffep127
                                                  : 0x1.fffffffffffffp1023;
    return std::signbit(got) == std::signbit(want) && std::abs(want) >= (1 - bound) * largest;
  }
  return std::abs(got - want) <= bound * std::abs(want) + nothing;
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
