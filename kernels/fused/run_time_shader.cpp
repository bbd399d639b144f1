#include "stoker/kernels/fused/run_time_shader.hpp"

namespace stoker::kernels::fused {

Result<void> RunTimeShader::compiled(std::string_view op) {
  if (!compile_)
    return Error{std::string{op},
                 ErrorCode::unsupported,
                 "it was made without a compiler of shaders; the CPU device computes this",
                 {{"feature", "GLSL compiler"}}};
  const std::scoped_lock lock{mutex_};
  ShaderVariant& variant = shader_->variants[0];
  if (!variant.spirv.empty()) return {};
  STOKER_ASSIGN(variant.spirv, compile_(*shader_, variant));
  return {};
}

Result<void> check_inputs(std::string_view op, std::span<const TensorSpec> expected,
                          const KernelCall& call) {
  for (std::size_t i = 0; i < expected.size(); ++i)
    if (call.inputs[i] != expected[i])
      return Error{std::string{op},
                   call.dtype(i) != expected[i].dtype ? ErrorCode::dtype_mismatch
                                                      : ErrorCode::shape_mismatch,
                   "input " + std::to_string(i) + " is " + call.inputs[i].to_string() +
                       ", the program was made for " + expected[i].to_string(),
                   {{"expected", expected[i].to_string()}, {"got", call.inputs[i].to_string()}}};
  return {};
}

}  // namespace stoker::kernels::fused
