// A shader that is compiled when a GPU first asks for it.
//
// Threads: any. Its text does not change; its SPIR-V is written once, before the first plan that uses
// it: devices read it only after a plan was made, so nobody sees it half written.
#pragma once

#include <memory>
#include <mutex>

#include "stoker/kernels/fused/program.hpp"

namespace stoker::kernels::fused {

class RunTimeShader {
 public:
  /// One variant, without SPIR-V. `compile` may be empty: then compiled() says what is missing.
  RunTimeShader(Shader shader, ShaderCompiler compile)
      : shader_{std::make_shared<Shader>(std::move(shader))}, compile_{std::move(compile)} {}

  [[nodiscard]] std::shared_ptr<const Shader> shader() const { return shader_; }
  [[nodiscard]] const std::string& variant() const noexcept { return shader_->variants[0].name; }

  /// unsupported without a compiler; what the compiler says. `op` names the kernel.
  Result<void> compiled(std::string_view op);

 private:
  const std::shared_ptr<Shader> shader_;
  const ShaderCompiler compile_;
  std::mutex mutex_;
};

/// Whether a kernel made for inputs like `expected` is called with such: dtype_mismatch or
/// shape_mismatch, naming the first that is not.
[[nodiscard]] Result<void> check_inputs(std::string_view op, std::span<const TensorSpec> expected,
                                        const KernelCall& call);

}  // namespace stoker::kernels::fused
