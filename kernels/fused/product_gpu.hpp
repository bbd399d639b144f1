// The GPU's versions of products around a fused program.
#pragma once

#include "stoker/kernels/fused/run_time_shader.hpp"
#include "stoker/kernels/fused/shader.hpp"

namespace stoker::kernels::fused {

/// What is decided when the kernel is made. Immutable, shared.
struct ProductParts {
  std::string name;  ///< of the kernel
  FusedProgram program;
  ParamSet of_product;  ///< the parameters of matmul or conv
  std::vector<TensorSpec> inputs;
  TensorSpec product;
  std::vector<TensorSpec> outputs;
};

/// One way for each device. Threads: any; shaders are compiled when a plan first needs them.
class ProductOnGpu {
 public:
  virtual ~ProductOnGpu() = default;
  [[nodiscard]] virtual std::vector<std::shared_ptr<const Shader>> shaders() const = 0;
  [[nodiscard]] virtual Result<GpuPlan> plan(const KernelCall& call,
                                             std::span<const TensorSpec> outputs,
                                             const GpuTraits& traits) = 0;
};

/// Both fail as make_stores() does.
[[nodiscard]] Result<std::shared_ptr<ProductOnGpu>> matmul_on_gpu(const ProductParts& parts,
                                                                  const ShaderCompiler& compile);
[[nodiscard]] Result<std::shared_ptr<ProductOnGpu>> conv_on_gpu(const ProductParts& parts,
                                                                const ShaderCompiler& compile);

/// Binds the program's inputs but for the product, then its outputs, behind what a pass has bound, and
/// pushes the program's words behind what it has pushed.
void bind_program(const FusedShader& made, std::size_t outputs, GpuPass& pass);

}  // namespace stoker::kernels::fused
