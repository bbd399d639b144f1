// A shader that is compiled when a GPU first asks for it, shared by all kernels with the same text.
//
// So kernels that differ in what is pushed only are one shader, and devices, which know shaders by
// address, make one pipeline for them. It goes with the last kernel that uses it.
//
// Threads: any. Its text does not change; its SPIR-V is written once, before the first plan that uses
// it: devices read it only after a plan was made, so nobody sees it half written.
#pragma once

#include <memory>
#include <mutex>
#include <utility>

#include "stoker/kernels/fused/program.hpp"

namespace stoker::kernels::fused {

class RunTimeShader {
 public:
  /// One variant, without SPIR-V. `compile` may be empty: then compiled() says what is missing.
  RunTimeShader(Shader shader, ShaderCompiler compile);

  /// The same object for the same text while anybody has it.
  [[nodiscard]] std::shared_ptr<const Shader> shader() const { return {shared_, &shared_->shader}; }
  [[nodiscard]] const std::string& variant() const noexcept {
    return shared_->shader.variants[0].name;
  }

  /// unsupported without a compiler; what the compiler says. `op` names the kernel.
  Result<void> compiled(std::string_view op);

 private:
  struct Shared {
    explicit Shared(Shader its_shader) : shader{std::move(its_shader)} {}

    Shader shader;
    std::mutex compiling;
  };
  class Known;
  static const bool made_in_time_;

  const std::shared_ptr<Shared> shared_;
  const ShaderCompiler compile_;
};

/// Whether a kernel made for inputs like `expected` is called with such: dtype_mismatch or
/// shape_mismatch, naming the first that is not.
[[nodiscard]] Result<void> check_inputs(std::string_view op, std::span<const TensorSpec> expected,
                                        const KernelCall& call);

}  // namespace stoker::kernels::fused
